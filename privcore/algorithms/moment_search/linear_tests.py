"""Linear tests of independence on noisy second moments.

A test of x and y given S uses only first and second moments, so it detects only the linear part of
a dependence. A column is a block of coordinates, and two columns are dependent if their blocks are
dependent (the degenerate Gaussian model of Andrews, Ramsey & Cooper 2019).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from privcore import kernels
from privcore.algorithms.moment_search.features import sum_zero_basis
from privcore.algorithms.moment_search.moments import Moments
from privcore.algorithms.moment_search.search import DIGITS
from privcore.algorithms.moment_search.statistic import Statistic, Statistics
from privcore.arrays import Columns, Integers, Matrix, Vector

# Maximum share of a column's variance that another explains.
_MOST = 1 - 1e-9


class LinearTests:
    """Linear tests on noisy moments.

    moments: means over rows of (1, u)(1, u)ᵀ, where u holds the coordinates of all columns.
    coordinates: number of coordinates of each column. variances: noise variances of the sums of
    products; index 0 stands for the constant 1, the other indices for the columns. n: number of
    rows. penalty: amount subtracted from a gain for each pair of a coordinate of the parent and a
    coordinate of the column. together: the columns that `tests_of` tests; None for all columns.
    """

    def __init__(
        self,
        moments: Matrix,
        coordinates: Sequence[int],
        variances: Matrix,
        n: int,
        penalty: float,
        together: Integers | None = None,
    ) -> None:
        self.n, self.columns, self.penalty = n, len(coordinates), penalty
        starts = 1 + np.cumsum([0, *coordinates])
        self._known = moments, starts, variances, float(n)
        self._every = np.arange(self.columns)
        self.together = self._every if together is None else together
        self._together = set(self.together.tolist())
        self._tests: dict[tuple[int, int, Columns], Statistic] = {}
        self._rows: dict[tuple[int, Columns], Statistics] = {}
        self._gains: dict[tuple[int, Columns], Vector] = {}

    def test(self, x: int, y: int, conditioning_set: Columns = ()) -> Statistic:
        """The test of x and y after linear regression on the conditioning set."""
        key = (min(x, y), max(x, y), tuple(sorted(conditioning_set)))
        if (row := self._rows.get(key[1:])) is not None and key[0] in self._together:
            return row.one(key[0])
        if key not in self._tests:
            (test,) = self._made(self._every[key[0] : key[0] + 1], *key[1:]).tolist()
            self._tests[key] = Statistic(*test)
        return self._tests[key]

    def tests_of(self, y: int, conditioning_set: Columns) -> Statistics:
        """The tests of y with each column in `together`, given the conditioning set.

        Tests with other columns, or with columns in the conditioning set, have no information.
        """
        key = (y, tuple(sorted(conditioning_set)))
        if key not in self._rows:
            tests = np.zeros((self.columns, 4))
            tests[self.together] = self._made(self.together, *key)
            self._rows[key] = Statistics(*tests.T)
        return self._rows[key]

    def tests(self, tests: Sequence[tuple[int, int, Columns]]) -> Statistics:
        """The tests for several (x, y, conditioning set); all sets must have the same size."""
        xs, ys = (np.array([test[k] for test in tests], np.int64) for k in range(2))
        others = np.array([test[2] for test in tests], np.int64).reshape(len(tests), -1)
        return Statistics(*kernels.moment_tests.linear_tests(*self._known, xs, ys, others).T)

    def gains(self, column: int, parents: frozenset[int]) -> Vector:
        """Gain from adding each column as a parent, shape (p,); −∞ if a test has no information.

        The gain is the deviance under normality, n log 1/(1 − r²), minus the penalty. Both the
        deviance and the penalty are corrected for noise.
        """
        key = column, tuple(sorted(parents))
        if key not in self._gains:
            self._gains[key] = self._gained(self.tests_of(*key))
        return self._gains[key]

    def _gained(self, tests: Statistics) -> Vector:
        informative = tests.second > 0
        value, first, second = (np.where(informative, f, 1.0) for f in tests[:3])
        scale = second / first
        shared = np.minimum(value / (scale * scale * self.n), _MOST)
        gains = -self.n * np.log1p(-shared) - self.penalty * first / (scale * scale)
        return np.where(informative, np.round(gains, DIGITS), -np.inf)

    def _made(self, xs: Integers, y: int, conditioning_set: Columns) -> Matrix:
        """Tests of y with each column in `xs`, one test per row.

        Tests with y or with columns in the conditioning set have no information.
        """
        ys, others = np.array([y]), np.array([conditioning_set], np.int64)
        return np.asarray(kernels.moment_tests.linear_tests(*self._known, xs, ys, others))


# Maximum number of levels of a column whose tests with all others are made together.
_FEW_LEVELS = 32


class LevelTests(LinearTests):
    """Linear tests on columns with levels, which are coded by contrasts without interactions."""

    def __init__(self, moments: Moments, penalty: float = 0.0) -> None:
        self._released, self.levels = moments, moments.levels
        self._shares = [self._cleaned(c) for c in range(len(self.levels))]
        few = np.flatnonzero(np.array(self.levels) <= _FEW_LEVELS)
        coordinates = [r - 1 for r in self.levels]
        means, variances = self._means(), self._variances()
        super().__init__(means, coordinates, variances, moments.n, penalty, few)

    def probabilities(self, column: int) -> Matrix:
        """Probabilities of the levels of a column, shape (levels,), sum 1."""
        return self._shares[column]

    def _cleaned(self, column: int) -> Matrix:
        """Shares of the levels, raised to the smallest share that is clearly above the noise."""
        r, n = self.levels[column], self._released.n
        share = sum_zero_basis(r) @ self._released.sums(column) / n + 1 / r
        floor = max(2 * math.sqrt(self._released.variance(column)), 1.0) / n
        share = np.maximum(share, floor)
        return np.asarray(share / share.sum())

    def _variances(self) -> Matrix:
        variances = np.zeros((len(self.levels) + 1,) * 2)
        for c in range(len(self.levels)):
            alone = self._released.variance(c)
            variances[c + 1, c + 1] = variances[c + 1, 0] = variances[0, c + 1] = alone
        for c, d in combinations(range(len(self.levels)), 2):
            variances[c + 1, d + 1] = variances[d + 1, c + 1] = self._released.variance(c, d)
        return variances

    def _means(self) -> Matrix:
        """The released moments; within each column, the covariance follows from the shares.

        The released products of two columns share the noise on the means; with other means, this
        noise would look like a dependence.
        """
        n, sums = self._released.n, self._released.sums
        ends = 1 + np.cumsum([0, *(r - 1 for r in self.levels)])
        spans = [slice(a, b) for a, b in pairwise(ends)]
        means = np.eye(int(ends[-1]))
        for c, (span, share) in enumerate(zip(spans, self._shares, strict=True)):
            basis, mean = sum_zero_basis(self.levels[c]), sums(c) / n
            codes = basis - share @ basis + mean
            means[0, span] = means[span, 0] = mean
            means[span, span] = codes.T @ (share[:, None] * codes)
        for c, d in combinations(range(len(spans)), 2):
            means[spans[c], spans[d]] = sums(c, d) / n
            means[spans[d], spans[c]] = sums(c, d).T / n
        return means
