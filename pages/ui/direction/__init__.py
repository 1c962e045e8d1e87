"""Parts of the page Direction."""
