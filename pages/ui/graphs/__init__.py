"""Drawings of graphs, and of how sure their edges are."""
