"""Sweeps: many runs over a grid of settings, stored as they finish."""
