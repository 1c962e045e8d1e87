"""Redirect a former URL to the lessons of the Learn page."""

from pages.ui.frame import redirect

redirect("pages/learn.py")
