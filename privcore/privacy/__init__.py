"""Mechanisms that make a run private, and the accounting of their cost."""
