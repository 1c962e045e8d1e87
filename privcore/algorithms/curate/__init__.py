"""CURATE: a separate budget for each order of the search."""
