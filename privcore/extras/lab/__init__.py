"""Sweeps, and advice before any budget is spent."""
