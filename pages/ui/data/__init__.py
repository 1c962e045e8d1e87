"""Parts of the page Data."""
