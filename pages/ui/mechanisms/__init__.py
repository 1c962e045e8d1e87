"""Panels of the pages Mechanisms and Lessons."""
