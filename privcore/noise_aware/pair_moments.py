"""All one-way and two-way counts, released once, and linear tests of independence on them.

The release is of mean features (see `features`), with Gaussian noise; docs/proofs/moment_search.md
has the proof.  What a test knows of x, y and S are their first two moments, so it sees the linear
part of a dependence given S, in which each level is a variable but levels do not interact.
"""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from privcore.counts import CountSource
from privcore.mechanisms import NoiseSource
from privcore.noise_aware.features import sum_zero_basis
from privcore.noise_aware.statistic import Statistic, statistic, whitening

Matrix = NDArray[np.float64]
_TINY = 1e-9


class PairMoments:
    """Noisy means of (1, u)(1, u)ᵀ, u the codes of all columns, and tests on them.

    n: rows.  levels: of each column.  sigma: of the noise, in counts.
    """

    def __init__(self, source: CountSource, sigma: float, noise: NoiseSource) -> None:
        self.n, self.levels, self.sigma = source.n, source.levels, sigma
        ends = 1 + np.cumsum([0, *(r - 1 for r in self.levels)])
        self._span = [np.arange(a, b) for a, b in pairwise(ends)]
        self._moments = self._released(_exact(source, self._span, int(ends[-1])), noise)
        # Noise variance of a mean over sampling variance of one with unit variance.
        self._ratio = sigma * sigma / self.n
        self._tests: dict[tuple[int, int, tuple[int, ...]], Statistic] = {}

    def _released(self, exact: Matrix, noise: NoiseSource) -> Matrix:
        """The upper triangle off the blocks of single columns, with noise; the rest from it."""
        column = np.zeros(len(exact), dtype=np.int64)
        for c, span in enumerate(self._span):
            column[span] = c + 1
        rows, columns = np.nonzero(column[:, None] < column[None, :])
        noisy = np.eye(len(exact))
        noisy[rows, columns] = noise.gaussian_array(exact[rows, columns], self.sigma / self.n)
        for c, span in enumerate(self._span):
            share = self._cleaned(c, noisy[0, span])
            basis = sum_zero_basis(self.levels[c])
            noisy[0, span] = basis.T @ share
            noisy[np.ix_(span, span)] = basis.T @ (share[:, None] * basis)
        upper = np.triu(noisy)
        return np.asarray(upper + np.triu(noisy, 1).T)

    def _cleaned(self, column: int, mean: Matrix) -> Matrix:
        """Shares of the levels, no smaller than the noise can tell from 0."""
        r = self.levels[column]
        share = sum_zero_basis(r) @ mean + 1 / r
        floor = max(2 * self.sigma / self.n, 1 / self.n)
        share = np.maximum(share, floor)
        return np.asarray(share / share.sum())

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
            values = np.maximum(values, max(3 * self.sigma / self.n, _TINY))
            slopes = (across @ vectors / values) @ vectors.T
        left = moments[np.ix_(ends, ends)] - slopes @ across.T - across @ slopes.T
        left += slopes @ among @ slopes.T
        # First order in the noise N: it enters the covariance as (1, −B_x) N (1, −B_y)ᵀ.
        spread = np.eye(len(ends)) + slopes @ slopes.T
        floor = max(self.sigma / self.n, _TINY)
        of_x = whitening(left[:split, :split], spread[:split, :split], floor)
        of_y = whitening(left[split:, split:], spread[split:, split:], floor)
        covariance = left[:split, split:] * math.sqrt(self.n)
        return statistic(covariance, of_x, of_y, self._ratio, self._unexplained(left, ends, split))

    def _unexplained(self, left: Matrix, ends: NDArray[np.intp], split: int) -> float:
        """Product of the shares of the variance of x and of y that are left."""
        mean = self._moments[0, ends]
        before = np.diag(self._moments)[ends] - mean * mean
        after = np.diag(left)
        share = 1.0
        for part in (slice(None, split), slice(split, None)):
            share *= max(float(after[part].sum()), 0.0) / max(float(before[part].sum()), _TINY)
        return share


def _exact(source: CountSource, span: list[NDArray[np.intp]], size: int) -> Matrix:
    """Means of the features above the diagonal blocks, shape (size, size)."""
    moments = np.zeros((size, size))
    bases = [sum_zero_basis(r) for r in source.levels]
    for c, basis in enumerate(bases):
        moments[0, span[c]] = basis.T @ source.table([c]) / source.n
    for i, j in combinations(range(len(bases)), 2):
        table = source.table([i, j])
        moments[np.ix_(span[i], span[j])] = bases[i].T @ table @ bases[j] / source.n
    return moments
