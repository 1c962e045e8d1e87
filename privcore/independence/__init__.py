"""Conditional-independence scores, and the measures built on them for private decisions."""

from privcore.independence.measures import (
    Measure,
    MedianMeasure,
    ScoreMeasure,
    VoteMeasure,
    margin,
    value_at,
)
from privcore.independence.registry import SCORES, get_score
from privcore.independence.score import EffectSize, Score, ScoreValue, z_threshold

__all__ = [
    "SCORES",
    "EffectSize",
    "Measure",
    "MedianMeasure",
    "Score",
    "ScoreMeasure",
    "ScoreValue",
    "VoteMeasure",
    "get_score",
    "margin",
    "value_at",
    "z_threshold",
]
