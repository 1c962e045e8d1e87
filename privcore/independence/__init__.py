"""Conditional-independence scores, and the measures built on them for private decisions."""

from privcore.independence.block_measures import MedianMeasure, VoteMeasure
from privcore.independence.measure import Measure, margin, value_at
from privcore.independence.registry import SCORES, get_score
from privcore.independence.score import EffectSize, Score, ScoreValue, z_threshold
from privcore.independence.score_measure import ScoreMeasure

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
