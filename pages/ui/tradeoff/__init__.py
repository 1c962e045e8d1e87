"""Parts of the page Trade-off."""
