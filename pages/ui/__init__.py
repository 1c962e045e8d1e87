"""Shared parts of the pages: the frame, the theme and graph drawing; no statistics."""
