"""Parts of the page Discover."""
