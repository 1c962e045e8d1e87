"""Conditional-independence scores, each with its p-value and its sensitivity."""

from privcore.independence.registry import SCORES, get_score
from privcore.independence.score import Score, ScoreValue, z_threshold

__all__ = ["SCORES", "Score", "ScoreValue", "get_score", "z_threshold"]
