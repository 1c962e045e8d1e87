"""Parts of the page Cause and effect."""
