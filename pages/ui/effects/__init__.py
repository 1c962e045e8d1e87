"""Parts of the Effects page."""
