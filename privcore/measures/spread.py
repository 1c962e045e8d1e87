"""The mean accuracy of several runs, and its spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from privcore.graphs import PDAG
from privcore.measures.metrics import skeleton_metrics


class Spread(NamedTuple):
    """Skeleton F1 over several runs: the mean, and the 5th and 95th percentiles."""

    mean: float
    low: float
    high: float
    runs: int


def spread(graphs: Sequence[PDAG], reference: PDAG) -> Spread:
    """The mean and the percentiles of skeleton F1 for one or more graphs against a reference."""
    values = np.array([skeleton_metrics(graph, reference).f1 for graph in graphs])
    low, high = np.quantile(values, (0.05, 0.95))
    return Spread(float(values.mean()), float(low), float(high), len(values))
