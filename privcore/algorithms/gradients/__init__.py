"""Graphs as continuous optimisation: least squares under a smooth acyclicity constraint."""

from privcore.algorithms.gradients.augmented_lagrangian import (
    Iteration,
    Penalty,
    Settings,
    Solution,
    solve,
)

__all__ = ["Iteration", "Penalty", "Settings", "Solution", "solve"]
