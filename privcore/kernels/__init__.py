"""Compiled loops, at the ground: they import nothing of the rooms above."""
