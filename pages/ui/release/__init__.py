"""Parts of the page Release."""
