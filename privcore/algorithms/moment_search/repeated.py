"""Columns that repeat each other in released numbers; finding them is post-processing."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from privcore.algorithms.moment_search.evidence import LineEvidence
from privcore.algorithms.moment_search.released import ReleasedNumbers
from privcore.algorithms.search.result import Edge
from privcore.independence.repeats import repeated_numbers, repeated_tables


def repeated_pairs(statistics: ReleasedNumbers) -> tuple[Edge, ...]:
    """The pairs (i < j) of columns that repeat each other: in their tables, or in second moments.

    What the release does not show is not looked at: levels that are coded by a few numbers repeat
    each other if these numbers do.
    """
    if statistics.form in ("table", "sums", "distances"):
        moments = statistics.moments
        pairs = filter(moments.covers, combinations(range(len(moments.levels)), 2))
        return tuple(repeated_tables(moments.table, pairs, moments.cell_variance))
    evidence = LineEvidence(statistics, penalty=0.0)
    ends = np.cumsum([0, *statistics.coordinates])
    noise = statistics.noise**2 * (1 + (evidence.squares - 1) * np.eye(len(ends) - 1))
    return tuple(repeated_numbers(evidence.covariance, ends, noise, statistics.n))
