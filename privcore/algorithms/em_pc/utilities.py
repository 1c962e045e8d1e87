"""Utilities of neighbours and separating sets for EM-PC's selections.

Proven: the margin of the most independent test of each neighbour, in units of its sensitivity, so
that one replaced record changes every utility by at most 1. Published: the greedy distance score
(Xu, Yuan & Wu 2017, Equations 5–8), which one record can change by more. docs/proofs/em_pc.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from privcore.arrays import Columns, Vector
from privcore.counts import MAX_CELLS, CountSource, cells_of_test
from privcore.independence import Measure, margin
from privcore.independence.greedy_distance import greedy_distance, p_value
from privcore.privacy.mechanisms.selection import count_utilities


class Candidate(NamedTuple):
    """A neighbour: its utility, and the conditioning sets that it was tested with.

    best: the set with the most independent test; it must not be released without a selection.
    """

    node: int
    utility: float
    sets: tuple[Columns, ...]
    best: Columns


class ProvenUtilities:
    """Margins divided by their sensitivity."""

    def __init__(self, measure: Measure, source: CountSource) -> None:
        self._measure = measure
        self._source = source
        self._sensitivity = measure.sensitivity(source.n)

    @property
    def limit(self) -> float:
        """The utility of an exactly independent pair: the public scale of the first and last
        counts.
        """
        return self._measure.threshold(0, 1) / self._sensitivity

    def of_set(self, x: int, y: int, conditioning_set: Columns) -> float:
        """How far the test of x and y given a set lies on the independent side; sensitivity 1."""
        value = self._measure.value(self._source, x, y, conditioning_set)
        return margin(self._measure, value, x, y) / self._sensitivity

    def of_sets(self, x: int, y: int, sets: Sequence[Columns]) -> Vector:
        """`of_set` for each set."""
        return np.array([self.of_set(x, y, conditioning_set) for conditioning_set in sets])

    def fits(self, node: int, other: int, conditioning_set: Columns) -> bool:
        """Whether a test is possible, by the levels and the number of rows alone."""
        return self._measure.fits(self._source, node, other, conditioning_set)

    def candidate(self, node: int, other: int, sets: tuple[Columns, ...]) -> Candidate:
        """Utility of removing `other` from the neighbours of `node`: the largest over the sets.

        A maximum of utilities with sensitivity 1 has sensitivity 1.
        """
        utilities = self.of_sets(node, other, sets)
        position = int(np.argmax(utilities))
        return Candidate(other, float(utilities[position]), sets, sets[position])

    def counts(self, candidates: Sequence[Candidate]) -> Vector:
        """Utility of removing 0, 1, … candidates; sensitivity 1."""
        return count_utilities(np.array([c.utility for c in candidates]), self.limit)


class PublishedUtilities:
    """Greedy distances of G² tests."""

    def __init__(self, source: CountSource, level: float) -> None:
        self._source = source
        self._level = level

    def fits(self, node: int, other: int, conditioning_set: Columns) -> bool:
        """See `ProvenUtilities`."""
        return cells_of_test(self._source, node, other, conditioning_set) <= MAX_CELLS

    def candidate(self, node: int, other: int, sets: tuple[Columns, ...]) -> Candidate:
        """The distance for the test with the largest p-value (Algorithm 3, lines 4–6)."""
        values = [self._p_value(node, other, conditioning_set) for conditioning_set in sets]
        best = sets[int(np.argmax(values))]
        return Candidate(other, self._distance(node, other, best), sets, best)

    def counts(self, candidates: Sequence[Candidate]) -> Vector:
        """Equations 6, 7 and 8, with their jumps at the boundary."""
        return published_counts(np.sort([c.utility for c in candidates])[::-1])

    def _p_value(self, x: int, y: int, conditioning_set: Columns) -> float:
        x, y = (x, y) if x < y else (y, x)
        return self._source.remember(
            ("g2 p", x, y, conditioning_set),
            lambda: p_value(self._source.conditional_tables(x, y, conditioning_set)),
        )

    def _distance(self, x: int, y: int, conditioning_set: Columns) -> float:
        x, y = (x, y) if x < y else (y, x)
        return self._source.remember(
            ("greedy distance", self._level, x, y, conditioning_set),
            lambda: float(
                greedy_distance(
                    self._source.conditional_tables(x, y, conditioning_set), self._level
                )
            ),
        )


def published_counts(distances: Vector) -> Vector:
    """q₂ of Xu, Yuan & Wu 2017 for distances in decreasing order, shape (a,), to (a + 1,).

    Positive distances are independent pairs.
    """
    a = distances.size
    quality = np.empty(a + 1)
    for t in range(a + 1):
        here = distances[t - 1] if t > 0 else np.inf
        below = distances[t] if t < a else -np.inf
        if here > 0 and not below > 0:
            quality[t] = min(here, -below) - 1
        else:
            quality[t] = -below if here > 0 else here
    return quality
