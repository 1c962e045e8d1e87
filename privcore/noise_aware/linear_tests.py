"""Linear tests of independence on the moments of pairs.

What a test knows of x, y and S are their first two moments, so it sees the linear part of a
dependence given S, in which each level is a variable but levels do not interact.
"""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from privcore.noise_aware.features import sum_zero_basis
from privcore.noise_aware.moments import Moments
from privcore.noise_aware.statistic import Statistic, statistic, whitening

Matrix = NDArray[np.float64]
_TINY = 1e-9


class LinearTests:
    """Noisy means of (1, u)(1, u)ᵀ, u the codes of all columns, and tests on them."""

    def __init__(self, moments: Moments) -> None:
        self._released, self.n, self.levels = moments, moments.n, moments.levels
        ends = 1 + np.cumsum([0, *(r - 1 for r in self.levels)])
        self._span = [np.arange(a, b) for a, b in pairwise(ends)]
        self._moments = self._means(int(ends[-1]))
        self._tests: dict[tuple[int, int, tuple[int, ...]], Statistic] = {}

    def _means(self, size: int) -> Matrix:
        means = np.eye(size)
        for c, span in enumerate(self._span):
            share = self._cleaned(c)
            basis = sum_zero_basis(self.levels[c])
            means[0, span] = means[span, 0] = basis.T @ share
            means[np.ix_(span, span)] = basis.T @ (share[:, None] * basis)
        for c, d in combinations(range(len(self._span)), 2):
            block = self._released.sums(c, d) / self.n
            means[np.ix_(self._span[c], self._span[d])] = block
            means[np.ix_(self._span[d], self._span[c])] = block.T
        return means

    def _cleaned(self, column: int) -> Matrix:
        """Shares of the levels, no smaller than the noise can tell from 0."""
        r = self.levels[column]
        share = sum_zero_basis(r) @ self._released.sums(column) / self.n + 1 / r
        floor = max(2 * self._deviation(column), 1 / self.n)
        share = np.maximum(share, floor)
        return np.asarray(share / share.sum())

    def _deviation(self, *columns: int) -> float:
        """Of the noise on a mean."""
        return math.sqrt(self._released.variance(*columns)) / self.n

    def shares(self, column: int) -> Matrix:
        """Of the levels of a column, shape (levels,), positive, sum 1."""
        mean = self._moments[0, self._span[column]]
        return np.asarray(sum_zero_basis(self.levels[column]) @ mean + 1 / self.levels[column])

    def test(self, x: int, y: int, given: tuple[int, ...] = ()) -> Statistic:
        """Of the covariance of x and y left after linear regression on `given`."""
        x, y = min(x, y), max(x, y)
        key = (x, y, tuple(sorted(given)))
        if key not in self._tests:
            self._tests[key] = self._test(*key)
        return self._tests[key]

    def _test(self, x: int, y: int, given: tuple[int, ...]) -> Statistic:
        moments = self._moments
        split = len(self._span[x])
        ends = np.concatenate([self._span[x], self._span[y]])
        known = np.concatenate([[0], *(self._span[c] for c in given)])
        among = moments[np.ix_(known, known)]
        across = moments[np.ix_(ends, known)]
        slopes = across
        if given:
            values, vectors = np.linalg.eigh(among)
            # Below the noise, an eigenvalue says nothing, and its inverse would be huge.
            unsure = max(self._deviation(c) for c in given)
            values = np.maximum(values, max(3 * unsure, _TINY))
            slopes = (across @ vectors / values) @ vectors.T
        left = moments[np.ix_(ends, ends)] - slopes @ across.T - across @ slopes.T
        left += slopes @ among @ slopes.T
        floor = max(self._deviation(x, y), _TINY)
        of_x = whitening(left[:split, :split], floor)
        of_y = whitening(left[split:, split:], floor)
        noise = self._noise((x, of_x, slopes[:split]), (y, of_y, slopes[split:]), given)
        parts = math.sqrt(self.n) * (of_x.T @ left[:split, split:] @ of_y).ravel()
        return statistic(parts, noise, self._unexplained(left, ends, split))

    def _noise(
        self, x: tuple[int, Matrix, Matrix], y: tuple[int, Matrix, Matrix], given: tuple[int, ...]
    ) -> Matrix:
        """Covariance of the noise on the whitened parts, row by row.

        x, y: column, its whitening and its slopes.  First order in the noise N, which enters the
        covariance as (1, −B_x) N (1, −B_y)ᵀ.
        """
        ends = np.cumsum([0, 1, *(len(self._span[c]) for c in given)])
        sides, places = [], []
        for column, whiten, slopes in (x, y):
            entering = [whiten.T, *(whiten.T @ slopes[:, a:b] for a, b in pairwise(ends))]
            sides.append(np.array([e @ e.T for e in entering]))
            places.append([(column,), (), *((c,) for c in given)])
        variances = np.array(
            [[self._released.variance(*{*i, *j}) for j in places[1]] for i in places[0]]
        )
        of_y = np.tensordot(variances / self.n, sides[1], 1)
        noise = np.einsum("iab,icd->acbd", sides[0], of_y)
        size = noise.shape[0] * noise.shape[1]
        return np.asarray(noise.reshape(size, size))

    def _unexplained(self, left: Matrix, ends: NDArray[np.intp], split: int) -> float:
        """Product of the shares of the variance of x and of y that are left."""
        mean = self._moments[0, ends]
        before = np.diag(self._moments)[ends] - mean * mean
        after = np.diag(left)
        share = 1.0
        for part in (slice(None, split), slice(split, None)):
            share *= max(float(after[part].sum()), 0.0) / max(float(before[part].sum()), _TINY)
        return share
