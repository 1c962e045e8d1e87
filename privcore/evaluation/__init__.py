"""How good a graph is, against a named reference."""

from privcore.evaluation.comparison import CLASSES, Comparison, PairComparison, compare
from privcore.evaluation.metrics import (
    Metrics,
    cpdag_metrics,
    evaluate,
    ordered_pair_f1,
    skeleton_metrics,
)

__all__ = [
    "CLASSES",
    "Comparison",
    "Metrics",
    "PairComparison",
    "compare",
    "cpdag_metrics",
    "evaluate",
    "ordered_pair_f1",
    "skeleton_metrics",
]
