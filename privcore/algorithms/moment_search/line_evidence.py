"""Tests and scores from noisy second moments of columns that are coded by a few numbers each."""

from __future__ import annotations

import numpy as np

from privcore.algorithms.moment_search.evidence import Evidence
from privcore.algorithms.moment_search.linear_tests import LinearTests
from privcore.algorithms.moment_search.released import ReleasedRows
from privcore.algorithms.moment_search.statistic import Statistic, Statistics
from privcore.arrays import Columns
from privcore.independence.linear_scores import covariance
from privcore.privacy.mechanisms.moments import positive, upper_triangle

# Penalty of a family whose test has no information.
_HUGE = 1e12


class LineEvidence(LinearTests, Evidence):
    """Evidence from noisy second moments.

    penalty: amount subtracted from a score for each pair of a coordinate of a parent and a
    coordinate of the column.
    """

    def __init__(self, statistics: ReleasedRows, penalty: float) -> None:
        d, columns = sum(statistics.coordinates), len(statistics.coordinates)
        moments = np.eye(d + 1)
        places = upper_triangle(d, centred=True)
        moments[places] = moments[places[::-1]] = statistics.noisy
        self.means = moments[0, 1:] / statistics.mean_share
        moments[0, 1:] = self.means
        self.covariance = positive(covariance(moments), statistics.sigma)
        moments[0, 1:] = moments[1:, 0] = self.means
        moments[1:, 1:] = self.covariance + np.outer(self.means, self.means)
        # In units of counts, as the tests expect.
        noise = np.full((columns + 1,) * 2, (statistics.n * statistics.sigma) ** 2)
        noise[0] = noise[:, 0] = noise[1, 1] / statistics.mean_share**2
        diagonal = np.arange(1, columns + 1)
        noise[diagonal, diagonal] *= statistics.squares
        noise[0, 0] = 0.0
        super().__init__(moments, statistics.coordinates, noise, statistics.n, penalty)
        self._scores: dict[tuple[int, Columns], float] = {}

    def row(self, column: int, parents: Columns) -> Statistics:
        row = self.tests_of(column, parents).copy()
        for other in parents:
            row.put(other, self.test(other, column, tuple(c for c in parents if c != other)))
        return row

    def score(self, column: int, parents: frozenset[int]) -> float:
        if not parents:
            return 0.0
        key = column, tuple(sorted(parents))
        if key not in self._scores:
            *before, last = key[1]
            known = frozenset(before)
            gain = max(float(self.gains(column, known)[last]), -_HUGE)
            self._scores[key] = self.score(column, known) + gain
        return self._scores[key]

    def first(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        return self.test(x, y, conditioning_set)

    def information(self, x: int, y: int, statistic: Statistic) -> float:
        """Noncentrality of a test for a correlation of r = 1.

        The noncentrality is computed as n r², which is slightly too low for large r.
        """
        return self.n * statistic.scale if statistic.second else 0.0
