"""Parts of the page Audit."""
