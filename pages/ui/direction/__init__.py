"""Parts of the Direction page."""
