"""Sweeps, advice before spending, and what their runs have in common."""
