"""Redirect a former URL to the Direction page."""

from pages.ui.frame import redirect

redirect("pages/direction.py")
