"""CURATE: one budget for each order of the search."""
