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

from privcore.algorithms.moment_search.likelihood.statistic import (
    Statistic,
    Statistics,
    at_once,
    paired_statistics,
)
from privcore.algorithms.moment_search.release.features import sum_zero_basis
from privcore.algorithms.moment_search.release.moments import Moments
from privcore.arrays import Columns, Matrix, Vector
from privcore.counts.cache import Cache

_TINY = 1e-9
# Bytes of regressions that are kept.
_KEPT = 256 << 20
# Levels of a column up to which its tests with all others are made together.
_FEW_LEVELS = 32


class _Sides(NamedTuple):
    """Columns of as many levels, regressed on those given, whose moments are first that of 1.

    across: their moments with them.  slopes: of the regressions.  onto: what turns their moments
    with another column into those explained.  values, vectors: eigenvalues and vectors of what is
    left of their covariances; share: the part that is.  whitening, entering: where no noise is
    above these values; see `LinearTests._whitened`.  Each has the columns as its first axis.
    """

    across: Matrix
    slopes: Matrix
    onto: Matrix
    values: Matrix
    vectors: Matrix
    share: Vector
    whitening: Matrix
    entering: Matrix


class LinearTests:
    """Noisy means of (1, u)(1, u)ᵀ, u the codes of all columns, and tests on them."""

    def __init__(self, moments: Moments) -> None:
        self._released, self.n, self.levels = moments, moments.n, moments.levels
        ends = 1 + np.cumsum([0, *(r - 1 for r in self.levels)])
        self._starts = [int(start) for start in ends[:-1]]
        self._span = [np.arange(a, b) for a, b in pairwise(ends)]
        self._moments = self._means(int(ends[-1]))
        self._variances = self._of_pairs()
        self._tests: dict[tuple[int, int, tuple[int, ...]], Statistic] = {}
        self._sides: Cache[_Sides] = Cache(
            _KEPT, lambda sides: sum(np.asarray(part).nbytes for part in sides)
        )
        self._rows: Cache[Statistics] = Cache(
            _KEPT, lambda tests: sum(field.nbytes for field in tests)
        )
        few = sorted({r for r in self.levels if r <= _FEW_LEVELS})
        alike = {r: [c for c, levels in enumerate(self.levels) if levels == r] for r in few}
        # Columns of as many levels whose tests are made together.
        self._groups = [
            tuple(columns[k : k + size])
            for r, columns in alike.items()
            for size in [at_once(r - 1, max(few) - 1)]
            for k in range(0, len(columns), size)
        ]
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
        if self.by_row(x) and self.by_row(y):
            if not conditioning_set:
                return self.row(y, ()).one(x)
            for one, other in ((x, y), (y, x)):
                row = self._rows.known((other, conditioning_set))
                if row is not None:
                    return row.one(one)
        return self._made((x,), y, conditioning_set).one(0)

    def by_row(self, column: int) -> bool:
        """Whether `row` has its tests: those of many levels are not worth making together."""
        return self.levels[column] <= _FEW_LEVELS

    def row(self, y: int, conditioning_set: Columns) -> Statistics:
        """The tests of y and each column (`by_row`), of others and of those given nothing."""
        return self._rows.get(
            (y, conditioning_set), lambda: self._made_row(y, tuple(sorted(conditioning_set)))
        )

    def _made_row(self, y: int, conditioning_set: Columns) -> Statistics:
        row = Statistics(*(np.zeros(len(self.levels)) for _ in range(4)))
        for columns in self._groups:
            made = self._made(columns, y, conditioning_set)
            for field, part in zip(row, made, strict=True):
                field[list(columns)] = part
        for field in row:
            field[[y, *conditioning_set]] = 0.0
        return row

    def _made(self, columns: Columns, y: int, conditioning_set: Columns) -> Statistics:
        """Tests of y and each of the columns, which have as many levels."""
        one, other = self._side(columns, conditioning_set), self._side((y,), conditioning_set)
        variances = self._variances[np.add(columns, 1)]
        floor = np.maximum(np.sqrt(variances[:, y + 1]) / self.n, _TINY)
        of_x, by_x = self._whitened(one, conditioning_set, floor)
        of_y, by_y = self._whitened(other, conditioning_set, floor)
        spans = self._spans(columns)
        left = self._moments[spans[:, :, None], self._span[y]]
        left = left - one.onto @ other.across[0].T
        known = [0, *(g + 1 for g in conditioning_set)]
        # First order in the noise N, which enters the covariance as (1, −B_x) N (1, −B_y)ᵀ.
        noise = np.empty((len(columns), 1 + len(known), 1 + len(known)))
        noise[:, 0, 0], noise[:, 0, 1:] = variances[:, y + 1], variances[:, known]
        noise[:, 1:] = self._variances[np.ix_(known, [y + 1, *known])]
        height = by_y.shape[-1]
        flat = (noise / self.n) @ by_y.reshape(*by_y.shape[:2], -1)
        weighted = flat.reshape(*flat.shape[:2], height, height)
        parts = math.sqrt(self.n) * (of_x.swapaxes(1, 2) @ left @ of_y)
        terms = [(by_x[:, k], weighted[:, k]) for k in range(weighted.shape[1])]
        return paired_statistics(parts, terms, one.share * other.share)

    def _side(self, columns: Columns, conditioning_set: Columns) -> _Sides:
        """Kept, since a search makes tests of a column with many others given the same."""
        return self._sides.get(
            (columns, conditioning_set), lambda: self._regressed(columns, conditioning_set)
        )

    def _regressed(self, columns: Columns, conditioning_set: Columns) -> _Sides:
        moments, spans = self._moments, self._spans(columns)
        known, inverse, twice = self._inverse(conditioning_set)
        across = moments[spans[:, :, None], known]
        onto = across @ twice
        own = moments[spans[:, :, None], spans[:, None, :]]
        left = own - onto @ across.swapaxes(1, 2)
        values, vectors = np.linalg.eigh((left + left.swapaxes(1, 2)) / 2)
        mean = moments[0, spans]
        before = np.trace(own, axis1=1, axis2=2) - (mean * mean).sum(axis=1)
        share = np.maximum(np.trace(left, axis1=1, axis2=2), 0.0) / np.maximum(before, _TINY)
        empty = np.empty(0)
        sides = _Sides(across, across @ inverse, onto, values, vectors, share, empty, empty)
        floor = np.full(len(columns), _TINY)
        whiten, entering = self._whitened(sides, conditioning_set, floor)
        return sides._replace(whitening=whiten, entering=entering)

    def _spans(self, columns: Columns) -> NDArray[np.intp]:
        """Where the codes of columns of as many levels are, shape (columns, levels − 1)."""
        starts = np.array([self._starts[c] for c in columns])
        return starts[:, None] + np.arange(self.levels[columns[0]] - 1)

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
        self, sides: _Sides, conditioning_set: Columns, floor: Vector
    ) -> tuple[Matrix, Matrix]:
        """W with Wᵀ C W = 1, C what is left of a covariance, with values of at least `floor`.

        And for the column, for 1 and for each column given EᵀE, E what the noise on the codes of
        that enters by, shape (columns, 2 + given, levels − 1, levels − 1).
        """
        if sides.entering.size and (sides.values[:, 0] >= floor).all():
            return sides.whitening, sides.entering
        whiten = sides.vectors / np.sqrt(np.maximum(sides.values, floor[:, None]))[:, None, :]
        turned = whiten.swapaxes(1, 2) @ sides.slopes
        ends = np.cumsum([0, 1, *(len(self._span[c]) for c in conditioning_set)])
        entering = [whiten.swapaxes(1, 2), *(turned[:, :, a:b] for a, b in pairwise(ends))]
        return whiten, np.stack([e @ e.swapaxes(1, 2) for e in entering], axis=1)
