"""Linear tests of independence on the moments of pairs.

What a test knows of x, y and S are their first two moments, so it sees the linear part of a
dependence given S, in which each level is a variable but levels do not interact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from privcore import kernels
from privcore.algorithms.moment_search.features import sum_zero_basis
from privcore.algorithms.moment_search.likelihood.statistic import Statistic, Statistics
from privcore.algorithms.moment_search.moments import Moments
from privcore.arrays import Columns, Integers, Matrix

# Levels of a column up to which its tests with all others are made together.
_FEW_LEVELS = 32


class LinearTests:
    """Noisy means of (1, u)(1, u)ᵀ, u the codes of all columns, and tests on them."""

    def __init__(self, moments: Moments) -> None:
        self._released, self.n, self.levels = moments, moments.n, moments.levels
        self._starts = 1 + np.cumsum([0, *(r - 1 for r in self.levels)])
        self._span = [np.arange(a, b) for a, b in pairwise(self._starts)]
        self._shares = [self._cleaned(c) for c in range(len(self.levels))]
        means = self._means(int(self._starts[-1]))
        self._known = means, self._starts, self._of_pairs(), float(self.n)
        self._tests: dict[tuple[int, int, Columns], Statistic] = {}
        self._rows: dict[tuple[int, Columns], Statistics] = {}
        self._few = np.flatnonzero(np.array(self.levels) <= _FEW_LEVELS)

    def _of_pairs(self) -> Matrix:
        """Noise variance of the moments of 1 and each column (row) with 1 and each (column)."""
        variances = np.zeros((len(self._span) + 1,) * 2)
        for c in range(len(self._span)):
            alone = self._released.variance(c)
            variances[c + 1, c + 1] = variances[c + 1, 0] = variances[0, c + 1] = alone
        for c, d in combinations(range(len(self._span)), 2):
            variances[c + 1, d + 1] = variances[d + 1, c + 1] = self._released.variance(c, d)
        return variances

    def _means(self, size: int) -> Matrix:
        """Codes of a column have the covariance of its cleaned shares, but the released mean.

        Released products of two columns have the noise of that: beside any other means it would
        pass for a dependence.
        """
        means = np.eye(size)
        for c, (span, share) in enumerate(zip(self._span, self._shares, strict=True)):
            basis, mean = sum_zero_basis(self.levels[c]), self._released.sums(c) / self.n
            codes = basis - share @ basis + mean
            means[0, span] = means[span, 0] = mean
            means[np.ix_(span, span)] = codes.T @ (share[:, None] * codes)
        for c, d in combinations(range(len(self._span)), 2):
            block = self._released.sums(c, d) / self.n
            (a, *_), (b, *_) = self._span[c], self._span[d]
            means[a : a + len(block), b : b + len(block.T)] = block
            means[b : b + len(block.T), a : a + len(block)] = block.T
        return means

    def _cleaned(self, column: int) -> Matrix:
        """Shares of the levels, no smaller than the noise can tell from 0."""
        r = self.levels[column]
        share = sum_zero_basis(r) @ self._released.sums(column) / self.n + 1 / r
        floor = max(2 * self._deviation(column), 1 / self.n)
        share = np.maximum(share, floor)
        return np.asarray(share / share.sum())

    def _deviation(self, *columns: int) -> float:
        """Standard deviation of the noise on a mean."""
        return math.sqrt(self._released.variance(*columns)) / self.n

    def probabilities(self, column: int) -> Matrix:
        """Probabilities of the levels of a column, shape (levels,), sum 1."""
        return self._shares[column]

    def test(self, x: int, y: int, conditioning_set: Columns = ()) -> Statistic:
        """The test of x and y after linear regression on the conditioning set."""
        key = (min(x, y), max(x, y), tuple(sorted(conditioning_set)))
        if key not in self._tests:
            self._tests[key] = self._made(np.array([key[0]]), *key[1:]).one(0)
        return self._tests[key]

    def by_row(self, column: int) -> bool:
        """Whether `row` has its tests: those of many levels take too long to be made in advance."""
        return self.levels[column] <= _FEW_LEVELS

    def row(self, y: int, conditioning_set: Columns) -> Statistics:
        """The tests of y and each column (`by_row`), of others and of those given nothing."""
        key = (y, tuple(sorted(conditioning_set)))
        if key not in self._rows:
            row = Statistics(*np.zeros((4, len(self.levels))))
            for field, part in zip(row, self._made(self._few, *key), strict=True):
                field[self._few] = part
            self._rows[key] = row
        return self._rows[key]

    def tests(self, asked: Sequence[tuple[int, int, Columns]]) -> Statistics:
        """Tests of x and y given others, as many for each."""
        xs, ys = (np.array([test[k] for test in asked], np.int64) for k in range(2))
        others = np.array([test[2] for test in asked], np.int64).reshape(len(asked), -1)
        return Statistics(*kernels.moment_tests.linear_tests_each(*self._known, xs, ys, others).T)

    def _made(self, xs: Integers, y: int, conditioning_set: Columns) -> Statistics:
        """Tests of y and each of xs; of y itself and of those given nothing."""
        others = np.array(conditioning_set, np.int64)
        made = kernels.moment_tests.linear_tests(*self._known, xs, y, others)
        return Statistics(*made.T)
