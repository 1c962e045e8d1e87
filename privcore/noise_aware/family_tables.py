"""Noisy tables over a few sets of columns, chosen after the pairs were seen, and tests on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from privcore.counts import CountSource
from privcore.mechanisms import NoiseSource
from privcore.noise_aware.features import sum_zero_basis
from privcore.noise_aware.statistic import NOTHING, Statistic, Whitening, statistic, whitening

Matrix = NDArray[np.float64]
_LEAST_EXPECTED = 5.0
# A stratum is used where its size is this many standard deviations of its noise.
CLEAR = 4.0


def choose_tables(
    adjacent: Mapping[int, set[int]],
    strength: Callable[[int, int], float],
    levels: Sequence[int],
    cells: float,
) -> list[tuple[int, ...]]:
    """Sets of columns to count: each column with its neighbours, the strongest first.

    What does not fit into `cells` goes into further tables of the same column.  Pairs, and sets
    within others, are left out.
    """
    chosen: set[frozenset[int]] = set()
    for column, neighbours in adjacent.items():
        left = sorted(neighbours, key=lambda other: (-strength(column, other), other))
        while left:
            table, size, rest = [column], levels[column], []
            for other in left:
                if size * levels[other] <= cells:
                    table.append(other)
                    size *= levels[other]
                else:
                    rest.append(other)
            if len(table) == 1:
                break
            chosen.add(frozenset(table))
            left = rest
    wide = [table for table in chosen if len(table) > 2]
    return sorted(tuple(sorted(t)) for t in wide if not any(t < other for other in wide))


class FamilyTables:
    """Counts over `sets` of columns, each cell with Gaussian noise of deviation `sigma`."""

    def __init__(
        self,
        source: CountSource,
        sets: Sequence[tuple[int, ...]],
        sigma: float,
        noise: NoiseSource,
    ) -> None:
        self.n, self.levels, self.sigma = source.n, source.levels, sigma
        self._tables: dict[tuple[int, ...], Matrix] = {}
        for columns in sets:
            exact = source.table(columns).astype(np.float64)
            noisy = noise.gaussian_array(exact.reshape(-1), sigma)
            self._tables[columns] = noisy.reshape(exact.shape)
        self._covering: dict[frozenset[int], tuple[int, ...] | None] = {}
        self._tests: dict[tuple[int, int, tuple[int, ...]], Statistic] = {}

    def __len__(self) -> int:
        return len(self._tables)

    def covers(self, columns: Sequence[int]) -> bool:
        return self._cover(frozenset(columns)) is not None

    def _cover(self, wanted: frozenset[int]) -> tuple[int, ...] | None:
        """The smallest table with the columns, if any."""
        if wanted not in self._covering:
            fit = [t for t in self._tables if wanted.issubset(t)]
            self._covering[wanted] = min(fit, key=lambda t: (self._tables[t].size, t), default=None)
        return self._covering[wanted]

    def marginal(self, columns: Sequence[int]) -> tuple[Matrix, float]:
        """Counts over columns that a table covers, in the order asked, and their noise variance."""
        cover = self._cover(frozenset(columns))
        if cover is None:
            raise LookupError(f"no table over columns {sorted(columns)}")
        table = self._tables[cover]
        dropped = tuple(axis for axis, c in enumerate(cover) if c not in columns)
        summed = table.sum(axis=dropped)
        kept = [c for c in cover if c in columns]
        ordered = summed.transpose([kept.index(c) for c in columns])
        return ordered, self.sigma**2 * table.size / ordered.size

    def test(self, x: int, y: int, given: tuple[int, ...] = ()) -> Statistic:
        """Of x and y within the strata of `given`, which with x and y must be covered."""
        x, y = min(x, y), max(x, y)
        key = (x, y, tuple(sorted(given)))
        if key not in self._tests:
            self._tests[key] = self._test(*key)
        return self._tests[key]

    def _test(self, x: int, y: int, given: tuple[int, ...]) -> Statistic:
        counts, variance = self.marginal([*given, x, y])
        r, s = self.levels[x], self.levels[y]
        strata = counts.reshape(-1, r, s)
        sizes = strata.sum(axis=(1, 2))
        clear = sizes > max(_LEAST_EXPECTED, CLEAR * math.sqrt(variance * r * s))
        strata, sizes = strata[clear], sizes[clear]
        if not sizes.size:
            return NOTHING
        rows, columns = strata.sum(axis=2), strata.sum(axis=1)
        expected = rows[:, :, None] * columns[:, None, :] / sizes[:, None, None]
        covariance = sum_zero_basis(r).T @ (strata - expected) @ sum_zero_basis(s)
        return statistic(
            covariance / np.sqrt(sizes)[:, None, None],
            _side(rows, math.sqrt(variance * s)),
            _side(columns, math.sqrt(variance * r)),
            variance / sizes[:, None, None],
            _unexplained(rows, columns, sizes),
        )


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


def _side(counts: Matrix, deviation: float) -> Whitening:
    """Whitening of the codes of one column in each stratum; counts: (strata, levels)."""
    basis = sum_zero_basis(counts.shape[1])
    share = np.maximum(counts, max(deviation, 0.5))
    share /= share.sum(axis=1, keepdims=True)
    mean = share @ basis
    sampling = basis.T @ (share[:, :, None] * basis) - mean[:, :, None] * mean[:, None, :]
    # The noise of a cell moves the margins too: it enters as Qᵀ(I − p 1ᵀ).
    entering = basis.T - mean[:, :, None]
    return whitening(sampling, entering @ entering.swapaxes(-1, -2), 1e-9)
