"""Utilities of neighbours and separating sets for EM-PC's selections.

Proven: the margin of the most independent test of each neighbour, divided by the test's
sensitivity, so that one replaced record changes every utility by at most 1. Published: the greedy
distance score (Xu, Yuan & Wu 2017, Equations 5–8), which one record can change by more. See
docs/proofs/em_pc.md.
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
    """A neighbour that may be removed, with its utility and the conditioning sets of its tests.

    best: the conditioning set of the most independent test. This set depends on the exact data, so
    it may be released only through a private selection.
    """

    node: int
    utility: float
    sets: tuple[Columns, ...]
    best: Columns


class ProvenUtilities:
    """Utilities of the proven form: margins of tests divided by the sensitivity of the score."""

    def __init__(self, measure: Measure, source: CountSource) -> None:
        self._measure = measure
        self._source = source
        self._sensitivity = measure.sensitivity(source.n)

    @property
    def limit(self) -> float:
        """The utility of an exactly independent pair, which `count_utilities` takes as its public
        limit.
        """
        return self._measure.threshold(0, 1) / self._sensitivity

    def of_set(self, x: int, y: int, conditioning_set: Columns) -> float:
        """Margin by which x and y test as independent given a set, scaled to sensitivity 1."""
        value = self._measure.value(self._source, x, y, conditioning_set)
        return margin(self._measure, value, x, y) / self._sensitivity

    def of_sets(self, x: int, y: int, sets: Sequence[Columns]) -> Vector:
        """The value of `of_set` for each set, shape (sets,)."""
        return np.array([self.of_set(x, y, conditioning_set) for conditioning_set in sets])

    def fits(self, node: int, other: int, conditioning_set: Columns) -> bool:
        """Whether a test is possible, judged by the levels and the number of rows alone."""
        return self._measure.fits(self._source, node, other, conditioning_set)

    def candidate(self, node: int, other: int, sets: tuple[Columns, ...]) -> Candidate:
        """The candidate `other` for removal from the neighbours of `node`.

        Its utility is the maximum over the sets, which has sensitivity 1 like each set's utility.
        """
        utilities = self.of_sets(node, other, sets)
        position = int(np.argmax(utilities))
        return Candidate(other, float(utilities[position]), sets, sets[position])

    def counts(self, candidates: Sequence[Candidate]) -> Vector:
        """Utilities of removing 0, 1, … candidates, shape (candidates + 1,); sensitivity 1."""
        return count_utilities(np.array([c.utility for c in candidates]), self.limit)


class PublishedUtilities:
    """Utilities of the published form: greedy distances of G² tests."""

    def __init__(self, source: CountSource, level: float) -> None:
        self._source = source
        self._level = level

    def fits(self, node: int, other: int, conditioning_set: Columns) -> bool:
        """Whether the table of a test is small enough, judged by the levels alone."""
        return cells_of_test(self._source, node, other, conditioning_set) <= MAX_CELLS

    def candidate(self, node: int, other: int, sets: tuple[Columns, ...]) -> Candidate:
        """The candidate `other` for removal from the neighbours of `node`.

        Its utility is the distance of the test with the largest p-value (Algorithm 3, lines 4–6).
        """
        values = [self._p_value(node, other, conditioning_set) for conditioning_set in sets]
        best = sets[int(np.argmax(values))]
        return Candidate(other, self._distance(node, other, best), sets, best)

    def counts(self, candidates: Sequence[Candidate]) -> Vector:
        """Utilities of removing 0, 1, … candidates by Equations 6 to 8, shape (candidates + 1,)."""
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
    """q₂ of Xu, Yuan & Wu 2017: utilities of removing 0 to a of the candidates, shape (a + 1,).

    distances: the candidates' distance scores in decreasing order, shape (a,); positive for
    independent pairs.
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
