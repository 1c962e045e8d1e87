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
