"""How good a graph is, against a named reference."""

from privcore.evaluation.comparison import CLASSES, Comparison, PairComparison, compare
from privcore.evaluation.metrics import (
    Metrics,
    cpdag_metrics,
    evaluate,
    ordered_pair_f1,
    skeleton_metrics,
)
from privcore.evaluation.stability import Frequency, Stability, judge

__all__ = [
    "CLASSES",
    "Comparison",
    "Frequency",
    "Metrics",
    "PairComparison",
    "Stability",
    "compare",
    "cpdag_metrics",
    "evaluate",
    "judge",
    "ordered_pair_f1",
    "skeleton_metrics",
]
