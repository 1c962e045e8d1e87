"""Tests of independence within the strata of noisy tables."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.moment_search.likelihood.statistic import (
    NOTHING,
    Statistic,
    at_once,
    paired_statistic,
    statistic,
    whitening,
)
from privcore.algorithms.moment_search.release.features import sum_zero_basis
from privcore.algorithms.moment_search.release.moments import Moments
from privcore.arrays import Columns, Matrix

_LEAST_EXPECTED = 5.0
# A stratum is used where its size is this many standard deviations of its noise.
CLEAR = 4.0
# Share of the rows that a stratum lost in the noise may have.
_MOST_HIDDEN = 0.002
# With more parts than this, the noise of different strata is taken as independent, for speed.
_MOST_TOGETHER = 150


class StrataTests:
    """Tests on tables that were released; see `Moments`."""

    def __init__(self, moments: Moments) -> None:
        self._released, self.levels = moments, moments.levels
        self._tests: dict[tuple[int, int, tuple[int, ...]], Statistic | None] = {}

    def test(self, x: int, y: int, conditioning_set: Columns = ()) -> Statistic | None:
        """The test of x and y within strata; a table must cover them and the conditioning set.

        None if strata that matter may be lost in the noise: without them, the test could miss a
        dependence that shows in rare strata only.
        """
        x, y = min(x, y), max(x, y)
        key = (x, y, tuple(sorted(conditioning_set)))
        if key not in self._tests:
            self._tests[key] = self._test(*key)
        return self._tests[key]

    def _test(self, x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        released = self._released
        table = released.table([*conditioning_set, x, y])
        strata = table.reshape(-1, self.levels[x], self.levels[y])
        sizes = strata.sum(axis=(1, 2))
        unclear = CLEAR * math.sqrt(released.cell_variance(conditioning_set))
        clear = np.flatnonzero(sizes > max(_LEAST_EXPECTED, unclear))
        if len(clear) < len(sizes) and unclear > _MOST_HIDDEN * released.n:
            return None
        if not clear.size:
            return NOTHING
        strata, sizes = strata[clear], sizes[clear]
        left = _unexplained(strata.sum(axis=2), strata.sum(axis=1), sizes)
        if clear.size * (self.levels[x] - 1) * (self.levels[y] - 1) <= _MOST_TOGETHER:
            sides = self._sides(x, y, conditioning_set, strata)
            return self._together(x, y, conditioning_set, clear, sides, left)
        step = at_once(self.levels[x] - 1, self.levels[y] - 1)
        tests = [
            self._apart(
                x,
                y,
                conditioning_set,
                self._sides(x, y, conditioning_set, strata[k : k + step]),
                left,
            )
            for k in range(0, len(strata), step)
        ]
        value, first, second = (math.fsum(f[k] for f in tests) for k in range(3))
        return Statistic(value, first, second, left)

    def _sides(self, x: int, y: int, conditioning_set: Columns, strata: Matrix) -> _Sides:
        released, sizes = self._released, strata.sum(axis=(1, 2))
        rows, columns = strata.sum(axis=2), strata.sum(axis=1)
        expected = rows[:, :, None] * columns[:, None, :] / sizes[:, None, None]
        basis_x, basis_y = (sum_zero_basis(self.levels[c]) for c in (x, y))
        covariance = basis_x.T @ (strata - expected) @ basis_y
        of_x, mean_x = _side(rows, math.sqrt(released.cell_variance([*conditioning_set, x])))
        of_y, mean_y = _side(columns, math.sqrt(released.cell_variance([*conditioning_set, y])))
        parts = of_x.swapaxes(-1, -2) @ covariance @ of_y / np.sqrt(sizes)[:, None, None]
        # With N the noise in the basis (1/√r, Q) of x and of y, it enters a covariance as
        # (−√r m_x, 1) N (−√s m_y, 1)ᵀ, first order in N.
        means = math.sqrt(self.levels[x]) * mean_x, math.sqrt(self.levels[y]) * mean_y
        return _Sides(sizes, parts, of_x, means[0], of_y, means[1])

    def _together(
        self,
        x: int,
        y: int,
        conditioning_set: Columns,
        clear: NDArray[np.intp],
        sides: _Sides,
        left: float,
    ) -> Statistic:
        """With the noise that strata have in common."""
        codes_x, codes_y = (
            np.einsum("sij,tik->stjk", side, side) for side in (sides.of_x, sides.of_y)
        )
        means_x, means_y = (
            np.einsum("sj,tk->stjk", mean, mean) for mean in (sides.mean_x, sides.mean_y)
        )
        covariances = self._released.strata_covariances(conditioning_set, clear, _kinds(x, y))
        scale = np.sqrt(np.multiply.outer(sides.sizes, sides.sizes))
        noise = [part / r / scale for part, r in zip(covariances, self._others(x, y), strict=True)]
        kinds = zip(
            noise,
            (codes_x, codes_x, means_x, means_x),
            (codes_y, means_y, codes_y, means_y),
            strict=True,
        )
        total = sum(np.einsum("st,stik,stjl->sijtkl", *kind) for kind in kinds)
        flat = sides.parts.reshape(-1)
        return statistic(flat, np.reshape(total, (flat.size, flat.size)), left)

    def _apart(
        self, x: int, y: int, conditioning_set: Columns, sides: _Sides, left: float
    ) -> Statistic:
        """With the noise of different strata taken as independent."""
        of_both, of_x, of_y, of_none = (
            self._released.stratum_variance(conditioning_set, kind) / r / sides.sizes[:, None, None]
            for kind, r in zip(_kinds(x, y), self._others(x, y), strict=True)
        )
        codes_x, codes_y = (s.swapaxes(1, 2) @ s for s in (sides.of_x, sides.of_y))
        means_x, means_y = (m[:, :, None] * m[:, None, :] for m in (sides.mean_x, sides.mean_y))
        terms = [
            (codes_x, of_both * codes_y + of_x * means_y),
            (means_x, of_y * codes_y + of_none * means_y),
        ]
        return paired_statistic(sides.parts, terms, left)

    def _others(self, x: int, y: int) -> list[int]:
        """Combinations of levels of those of x and y that each of `_kinds` leaves out."""
        return [math.prod(self.levels[c] for c in (x, y) if c not in k) for k in _kinds(x, y)]


class _Sides(NamedTuple):
    """sizes: of s strata.  parts: whitened covariances of x and y, (s, a, b), with a and b the
    levels less 1.  of_x, of_y: whitening of their codes, (s, a, a); mean_x, mean_y: whitened means,
    (s, a), times the root of the levels.
    """

    sizes: Matrix
    parts: Matrix
    of_x: Matrix
    mean_x: Matrix
    of_y: Matrix
    mean_y: Matrix


def _kinds(x: int, y: int) -> tuple[Columns, ...]:
    """Moments that have noise of their own: of x and y, of x, of y and of neither."""
    return (x, y), (x,), (y,), ()


def _unexplained(rows: Matrix, columns: Matrix, sizes: Matrix) -> float:
    """Product of the variances of x and y within strata over that of all rows together."""
    within = _variety(rows) * _variety(columns)
    whole = _variety(rows.sum(axis=0)) * _variety(columns.sum(axis=0))
    return float(within @ sizes / sizes.sum() / max(float(whole), 1e-12))


def _variety(counts: Matrix) -> Matrix:
    """1 − Σ p²: the variance of the codes of a column, summed."""
    share = np.maximum(counts, 0.0)
    share = share / np.maximum(share.sum(axis=-1, keepdims=True), 1e-300)
    return np.asarray(1 - (share * share).sum(axis=-1))


def _side(counts: Matrix, deviation: float) -> tuple[Matrix, Matrix]:
    """Whitening of the codes of one column in each stratum, (strata, a, a), and their means.

    The means, (strata, a), are whitened too.
    """
    basis = sum_zero_basis(counts.shape[1])
    share = np.maximum(counts, max(deviation, 0.5))
    share /= share.sum(axis=1, keepdims=True)
    mean = share @ basis
    sampling = basis.T @ (share[:, :, None] * basis) - mean[:, :, None] * mean[:, None, :]
    whiten = whitening(sampling, 1e-9)
    return whiten, (whiten.swapaxes(-1, -2) @ mean[:, :, None])[:, :, 0]
