"""Graphs as continuous optimisation: least squares under a smooth acyclicity constraint."""

from privcore.score_based.augmented_lagrangian import Iteration, Penalty, Settings, Solution, solve

__all__ = ["Iteration", "Penalty", "Settings", "Solution", "solve"]
