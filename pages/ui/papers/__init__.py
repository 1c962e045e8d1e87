"""Parts of the Papers page."""
