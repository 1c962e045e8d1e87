"""Drawings of graphs and of the certainty of their edges."""
