"""Linear tests of independence on the moments of pairs.

What a test knows of x, y and S are their first two moments, so it sees the linear part of a
dependence given S, in which each level is a variable but levels do not interact.
"""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.moment_search.likelihood.statistic import Statistic, paired_statistic
from privcore.algorithms.moment_search.release.features import sum_zero_basis
from privcore.algorithms.moment_search.release.moments import Moments
from privcore.arrays import Columns, Matrix
from privcore.counts.cache import Cache

_TINY = 1e-9
# Bytes of regressions that are kept.
_KEPT = 256 << 20


class _Side(NamedTuple):
    """One column, regressed on those given, whose moments are first that of 1.

    across: its moments with them.  slopes: of the regression.  onto: what turns their moments with
    another column into those explained.  values, vectors: eigenvalues and vectors of what is left
    of its covariance; share: the part that is.  whitening, entering: where no noise is above these
    values; see `LinearTests._whitened`.
    """

    across: Matrix
    slopes: Matrix
    onto: Matrix
    values: Matrix
    vectors: Matrix
    share: float
    whitening: Matrix
    entering: Matrix


class LinearTests:
    """Noisy means of (1, u)(1, u)ᵀ, u the codes of all columns, and tests on them."""

    def __init__(self, moments: Moments) -> None:
        self._released, self.n, self.levels = moments, moments.n, moments.levels
        ends = 1 + np.cumsum([0, *(r - 1 for r in self.levels)])
        self._span = [np.arange(a, b) for a, b in pairwise(ends)]
        self._moments = self._means(int(ends[-1]))
        self._variances = self._of_pairs()
        self._tests: dict[tuple[int, int, tuple[int, ...]], Statistic] = {}
        self._sides: Cache[_Side] = Cache(
            _KEPT, lambda side: sum(np.asarray(part).nbytes for part in side)
        )
        self._inverses: dict[tuple[int, ...], tuple[NDArray[np.intp], Matrix, Matrix]] = {}

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
        """Standard deviation of the noise on a mean."""
        return math.sqrt(self._released.variance(*columns)) / self.n

    def probabilities(self, column: int) -> Matrix:
        """Probabilities of the levels of a column, shape (levels,), sum 1."""
        mean = self._moments[0, self._span[column]]
        return np.asarray(sum_zero_basis(self.levels[column]) @ mean + 1 / self.levels[column])

    def test(self, x: int, y: int, conditioning_set: Columns = ()) -> Statistic:
        """The test of x and y after linear regression on the conditioning set."""
        x, y = min(x, y), max(x, y)
        key = (x, y, tuple(sorted(conditioning_set)))
        if key not in self._tests:
            self._tests[key] = self._test(*key)
        return self._tests[key]

    def _test(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        sides = self._side(x, conditioning_set), self._side(y, conditioning_set)
        floor = max(self._deviation(x, y), _TINY)
        (of_x, by_x), (of_y, by_y) = (
            self._whitened(side, conditioning_set, floor) for side in sides
        )
        left = self._moments[np.ix_(self._span[x], self._span[y])]
        left = left - sides[0].onto @ sides[1].across.T
        places = [[c + 1, 0, *(g + 1 for g in conditioning_set)] for c in (x, y)]
        # First order in the noise N, which enters the covariance as (1, −B_x) N (1, −B_y)ᵀ.
        weighted = np.tensordot(self._variances[np.ix_(*places)] / self.n, by_y, 1)
        parts = math.sqrt(self.n) * (of_x.T @ left @ of_y)
        terms = [(a[None], b[None]) for a, b in zip(by_x, weighted, strict=True)]
        return paired_statistic(parts[None], terms, sides[0].share * sides[1].share)

    def _side(self, column: int, conditioning_set: Columns) -> _Side:
        """Kept, since a search makes tests of a column with many others given the same."""
        return self._sides.get(
            (column, conditioning_set), lambda: self._regressed(column, conditioning_set)
        )

    def _regressed(self, column: int, conditioning_set: Columns) -> _Side:
        moments, span = self._moments, self._span[column]
        known, inverse, twice = self._inverse(conditioning_set)
        across = moments[np.ix_(span, known)]
        onto = across @ twice
        left = moments[np.ix_(span, span)] - onto @ across.T
        values, vectors = np.linalg.eigh((left + left.T) / 2)
        mean = moments[0, span]
        before = float((np.diag(moments)[span] - mean * mean).sum())
        share = max(float(np.trace(left)), 0.0) / max(before, _TINY)
        empty = np.empty(0)
        side = _Side(across, across @ inverse, onto, values, vectors, share, empty, empty)
        whiten, entering = self._whitened(side, conditioning_set, _TINY)
        return side._replace(whitening=whiten, entering=entering)

    def _inverse(self, conditioning_set: Columns) -> tuple[NDArray[np.intp], Matrix, Matrix]:
        """Where 1 and the given columns are; the inverse P of their moments M; 2P − PMP.

        Below the noise, an eigenvalue says nothing, and its inverse would be huge, so P is that of
        larger ones.
        """
        if conditioning_set not in self._inverses:
            known = np.concatenate([[0], *(self._span[c] for c in conditioning_set)])
            values, vectors = np.linalg.eigh(self._moments[np.ix_(known, known)])
            unsure = max((self._deviation(c) for c in conditioning_set), default=0.0)
            larger = np.maximum(values, max(3 * unsure, _TINY))
            self._inverses[conditioning_set] = (
                known,
                (vectors / larger) @ vectors.T,
                (vectors * (2 / larger - values / larger**2)) @ vectors.T,
            )
        return self._inverses[conditioning_set]

    def _whitened(
        self, side: _Side, conditioning_set: Columns, floor: float
    ) -> tuple[Matrix, Matrix]:
        """W with Wᵀ C W = 1, C what is left of the covariance, with values of at least `floor`.

        And for the column, for 1 and for each column given EᵀE, E what the noise on the codes of
        that enters by, shape (2 + given, levels − 1, levels − 1).
        """
        if side.entering.size and side.values[0] >= floor:
            return side.whitening, side.entering
        whiten = side.vectors / np.sqrt(np.maximum(side.values, floor))
        turned = whiten.T @ side.slopes
        ends = np.cumsum([0, 1, *(len(self._span[c]) for c in conditioning_set)])
        entering = [whiten.T, *(turned[:, a:b] for a, b in pairwise(ends))]
        return whiten, np.array([e @ e.T for e in entering])
