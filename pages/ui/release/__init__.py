"""Parts of the Release page."""
