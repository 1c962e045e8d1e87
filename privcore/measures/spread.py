"""How good several runs are, and how much they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from privcore.graphs import PDAG
from privcore.measures.metrics import skeleton_metrics


class Spread(NamedTuple):
    """Skeleton F1 of several runs: its mean, and the ends of the middle nine tenths."""

    mean: float
    low: float
    high: float
    runs: int


def spread(graphs: Sequence[PDAG], reference: PDAG) -> Spread:
    """How good graphs are against a reference; there must be at least one."""
    values = np.array([skeleton_metrics(graph, reference).f1 for graph in graphs])
    low, high = np.quantile(values, (0.05, 0.95))
    return Spread(float(values.mean()), float(low), float(high), len(values))
