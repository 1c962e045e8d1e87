"""Panels of the page Learn."""
