"""Parts of the Discover page."""
