"""Panels of the Learn page."""
