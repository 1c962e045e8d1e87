"""Tests and scores of columns measured in few numbers each, from noisy second moments of these.

Each column is a block of coordinates, and a dependence of two is one of their blocks (a degenerate
Gaussian: Andrews, Ramsey & Cooper 2019).  Tests know the noise (`linear_tests`).
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from privcore import kernels
from privcore.algorithms.moment_search.likelihood.family_evidence import FamilyEvidence
from privcore.algorithms.moment_search.likelihood.statistic import Statistic, Statistics
from privcore.algorithms.moment_search.search import DIGITS
from privcore.arrays import Columns, Integers, Matrix, Vector
from privcore.independence.fisher import covariance
from privcore.privacy.mechanisms.second_moments import positive, upper_triangle

# Part of a column's variance that another explains, at most.
_MOST = 1 - 1e-9
# Where a test says nothing a family is worth so much less.
_HUGE = 1e12


class KeptMoments(Protocol):
    """What `LineEvidence` asks of a release.

    noisy: means over rows, times mean_share, and products, as the upper triangle of
    (d + 1, d + 1) without (0, 0), each with normal noise of deviation sigma, squares with `squares`
    times its variance.
    """

    @property
    def n(self) -> int: ...

    @property
    def noisy(self) -> Vector: ...

    @property
    def sigma(self) -> float: ...

    @property
    def squares(self) -> float: ...

    @property
    def mean_share(self) -> float: ...

    @property
    def coordinates(self) -> tuple[int, ...]:
        """How many each column has."""


class LineEvidence(FamilyEvidence):
    """penalty: what a score subtracts for each coordinate of a parent in one of the column."""

    def __init__(self, kept: KeptMoments, penalty: float) -> None:
        self.n, self._penalty = kept.n, penalty
        self._columns = len(kept.coordinates)
        starts = 1 + np.cumsum([0, *kept.coordinates])
        rows, columns = upper_triangle(int(starts[-1]) - 1, centred=True)
        moments = np.eye(int(starts[-1]))
        moments[rows, columns] = moments[columns, rows] = kept.noisy
        self.means = moments[0, 1:] / kept.mean_share
        moments[0, 1:] = self.means
        self.covariance = positive(covariance(moments), kept.sigma)
        moments[0, 1:] = moments[1:, 0] = self.means
        moments[1:, 1:] = self.covariance + np.outer(self.means, self.means)
        # In counts, as the tests take them.
        noise = np.full((self._columns + 1,) * 2, (self.n * kept.sigma) ** 2)
        noise[0] = noise[:, 0] = noise[1, 1] / kept.mean_share**2
        diagonal = np.arange(1, self._columns + 1)
        noise[diagonal, diagonal] *= kept.squares
        noise[0, 0] = 0.0
        self._known = moments, starts, noise, float(self.n)
        self._every = np.arange(self._columns)
        self._rows: dict[tuple[int, Columns], Statistics] = {}
        self._tests: dict[tuple[int, int, Columns], Statistic] = {}
        self._gains: dict[tuple[int, Columns], Vector] = {}
        self._scores: dict[tuple[int, Columns], float] = {}

    def row(self, column: int, parents: Columns) -> Statistics:
        key = (column, parents)
        if key not in self._rows:
            row = Statistics(*self._tested(self._every, column, parents).T)
            for other in parents:
                others = tuple(c for c in parents if c != other)
                row.put(other, self.test(other, column, others))
            self._rows[key] = row
        return self._rows[key]

    def test(self, x: int, y: int, conditioning_set: Columns = ()) -> Statistic:
        key = (min(x, y), max(x, y), tuple(sorted(conditioning_set)))
        if key not in self._tests:
            (test,) = self._tested(self._every[key[0] : key[0] + 1], *key[1:]).tolist()
            self._tests[key] = Statistic(*test)
        return self._tests[key]

    def _tested(self, xs: Integers, y: int, conditioning_set: Columns) -> Matrix:
        """Tests of y and each of xs (rows); of y itself and of those given nothing."""
        others = np.array(conditioning_set, np.int64)
        return np.asarray(kernels.moment_tests.linear_tests(*self._known, xs, y, others))

    def gains(self, column: int, parents: frozenset[int]) -> Vector:
        """What each column would add to the score as a further cause, shape (p,)."""
        key = column, tuple(sorted(parents))
        if key not in self._gains:
            gains = [self._gain(*test) for test in self._tested(self._every, *key).tolist()]
            self._gains[key] = np.array(gains)
        return self._gains[key]

    def score(self, column: int, parents: frozenset[int]) -> float:
        if not parents:
            return 0.0
        key = column, tuple(sorted(parents))
        if key not in self._scores:
            *before, last = key[1]
            (test,) = self._tested(self._every[last : last + 1], column, tuple(before)).tolist()
            gain = max(self._gain(*test), -_HUGE)
            self._scores[key] = self.score(column, frozenset(before)) + gain
        return self._scores[key]

    def _gain(self, value: float, first: float, second: float, left: float) -> float:
        """The deviance of normal columns, n log 1/(1 − r²), less the penalty, both with the noise.

        The test has the fields of `Statistic`; −∞ where it says nothing.
        """
        if second <= 0:
            return -math.inf
        scale = second / first
        shared = min(value / (scale * scale * self.n), _MOST)
        gain = -self.n * math.log1p(-shared) - self._penalty * first / (scale * scale)
        return round(gain, DIGITS)

    def first(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        return self.test(x, y, conditioning_set)

    def information(self, x: int, y: int, statistic: Statistic) -> float:
        """Noncentrality of a test for a correlation of 1, as n r²: a little low for large r."""
        return self.n * statistic.scale if statistic.second else 0.0

    def asked(self, dof: float) -> float:
        return self._penalty * dof
