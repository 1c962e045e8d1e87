"""Redirect a former URL to the playground of the Learn page."""

from pages.ui.frame import redirect

redirect("pages/learn.py", panel="noise")
