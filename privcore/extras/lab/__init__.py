"""Sweeps of many runs, and advice before any budget is spent."""
