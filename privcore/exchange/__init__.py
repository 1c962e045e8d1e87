"""Graphs, and what is known or asked of them, in the formats of other programs."""
