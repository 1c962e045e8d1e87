"""Sweeps, and advice before spending a budget."""
