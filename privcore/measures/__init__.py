"""The accuracy of a graph against a named reference."""

from privcore.measures.comparison import (
    CLASSES,
    Comparison,
    Metrics,
    PairComparison,
    compare,
    cpdag_metrics,
    evaluate,
    ordered_pair_f1,
    skeleton_metrics,
)
from privcore.measures.stability import Frequency, Stability, judge

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
