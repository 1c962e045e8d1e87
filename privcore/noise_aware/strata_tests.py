"""Tests of independence within the strata of noisy tables."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privcore.noise_aware.features import sum_zero_basis
from privcore.noise_aware.moments import Moments
from privcore.noise_aware.statistic import NOTHING, Statistic, statistic, whitening

Matrix = NDArray[np.float64]
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

    def test(self, x: int, y: int, given: tuple[int, ...] = ()) -> Statistic | None:
        """Of x and y within the strata of `given`, which with x and y must be covered.

        None if strata that matter may be lost in the noise: without them, the test could miss a
        dependence that shows in rare strata only.
        """
        x, y = min(x, y), max(x, y)
        key = (x, y, tuple(sorted(given)))
        if key not in self._tests:
            self._tests[key] = self._test(*key)
        return self._tests[key]

    def _test(self, x: int, y: int, given: tuple[int, ...]) -> Statistic | None:
        released = self._released
        strata = released.table([*given, x, y]).reshape(-1, self.levels[x], self.levels[y])
        sizes = strata.sum(axis=(1, 2))
        unclear = CLEAR * math.sqrt(released.cell_variance(given))
        clear = np.flatnonzero(sizes > max(_LEAST_EXPECTED, unclear))
        if len(clear) < len(sizes) and unclear > _MOST_HIDDEN * released.n:
            return None
        if not clear.size:
            return NOTHING
        strata, sizes = strata[clear], sizes[clear]
        rows, columns = strata.sum(axis=2), strata.sum(axis=1)
        expected = rows[:, :, None] * columns[:, None, :] / sizes[:, None, None]
        basis_x, basis_y = (sum_zero_basis(self.levels[c]) for c in (x, y))
        covariance = basis_x.T @ (strata - expected) @ basis_y
        of_x, mean_x = _side(rows, math.sqrt(released.cell_variance([*given, x])))
        of_y, mean_y = _side(columns, math.sqrt(released.cell_variance([*given, y])))
        parts = of_x.swapaxes(-1, -2) @ covariance @ of_y / np.sqrt(sizes)[:, None, None]
        together = parts.size <= _MOST_TOGETHER

        def grouped(array: Matrix) -> Matrix:
            """All strata in one group, or each in its own: shape (groups, strata, …)."""
            return array[None] if together else array[:, None]

        # With N the noise in the basis (1/√r, Q) of x and of y, it enters a covariance as
        # (−√r m_x, 1) N (−√s m_y, 1)ᵀ, first order in N.
        of_x, of_y = grouped(of_x), grouped(of_y)
        codes_x, codes_y = (np.einsum("gsij,gtik->gstjk", side, side) for side in (of_x, of_y))
        means_x, means_y = (
            levels * np.einsum("gsj,gtk->gstjk", mean, mean)
            for levels, mean in (
                (self.levels[x], grouped(mean_x)),
                (self.levels[y], grouped(mean_y)),
            )
        )
        kinds = zip(
            self._noise(x, y, given, clear, sizes, together),
            (codes_x, codes_x, means_x, means_x),
            (codes_y, means_y, codes_y, means_y),
            strict=True,
        )
        total = sum(np.einsum("gst,gstik,gstjl->gsijtkl", *kind) for kind in kinds)
        flat = grouped(parts).reshape(len(of_x), -1)
        covariances = np.reshape(total, (*flat.shape, flat.shape[1]))
        return statistic(flat, covariances, _unexplained(rows, columns, sizes))

    def _noise(
        self,
        x: int,
        y: int,
        given: tuple[int, ...],
        clear: NDArray[np.intp],
        sizes: Matrix,
        together: bool,
    ) -> list[Matrix]:
        """Of moments of x and y, of x, of y and of neither, in units of the sampling variance.

        Shape of each (groups, strata, strata).
        """
        released = self._released
        fixed = ((x, y), (x,), (y,), ())
        others = [math.prod(self.levels[c] for c in (x, y) if c not in kind) for kind in fixed]
        if together:
            found = released.strata_covariances(given, clear, fixed)
            scale = np.sqrt(np.multiply.outer(sizes, sizes))
            return [(part / r / scale)[None] for part, r in zip(found, others, strict=True)]
        variances = [released.stratum_variance(given, kind) for kind in fixed]
        return [(v / r / sizes)[:, None, None] for v, r in zip(variances, others, strict=True)]


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
    found = whitening(sampling, 1e-9)
    return found, (found.swapaxes(-1, -2) @ mean[:, :, None])[:, :, 0]
