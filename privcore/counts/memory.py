"""Counts in memory, over unique rows.

Rows are encoded once to their unique configurations with multiplicities.  A table then costs
the number of unique configurations (84 for asia at any n), and a sub-sample without replacement
is a multivariate hypergeometric draw of new multiplicities.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import prod

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.counts.cache import Cache
from privcore.counts.numeric import Matrix, coded_moments, coded_rows
from privcore.counts.source import Table
from privcore.dataset import Dataset
from privcore.errors import DataError
from privcore.mechanisms.noise import NoiseSource
from privcore.text import short

_MAX_CELLS = 1 << 26
_DENSE_STRATA = 1 << 12
_KEY_LIMIT = 1 << 62


class InMemoryCounts:
    """A `CountSource` over unique rows held in memory.

    configurations: per column, its codes in each unique row, shape (u,);
    multiplicities: how many rows share that configuration, shape (u,), sum n.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        levels: tuple[int, ...],
        configurations: tuple[NDArray[np.int64], ...],
        multiplicities: Table,
        caveats: tuple[str, ...] = (),
    ) -> None:
        self.caveats = caveats
        self.names = names
        self.levels = levels
        self.n = int(multiplicities.sum())
        self._configurations = configurations
        self._multiplicities = multiplicities
        # Below 2^53 the float64 sums that np.bincount makes of integers are exact.
        self._weights = multiplicities.astype(np.float64)
        self._tables: Cache[Table] = Cache(budget=64 << 20, size=lambda table: table.nbytes + 200)
        self._strata: Cache[tuple[NDArray[np.int64], int]] = Cache(
            budget=128 << 20, size=lambda strata: strata[0].nbytes + 200
        )
        self._scores: Cache[float] = Cache(budget=64 << 20, size=lambda _: 300)
        self._moments: dict[float | None, Matrix] = {}

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> InMemoryCounts:
        """Encode a categorical data set; raises DataError if a column is continuous."""
        levels = dataset.levels
        first, counts = _unique_rows(dataset.values, levels)
        configurations = tuple(column[first].astype(np.int64) for column in dataset.values)
        return cls(dataset.names, levels, configurations, counts, dataset.caveats)

    @property
    def unique_rows(self) -> int:
        return int(self._multiplicities.size)

    def table(self, columns: Sequence[int]) -> Table:
        """Counts over `columns`, shape = their levels; raises DataError above 67 million cells."""
        shape = tuple(self.levels[c] for c in columns)
        if prod(shape) > _MAX_CELLS:
            named = ", ".join(short(self.names[c]) for c in columns[:3])
            raise DataError(
                f"The table over {named}… has {prod(shape):,} cells; use fewer columns or levels."
            )
        key = self._mixed_radix(columns)
        flat = np.bincount(key, weights=self._weights, minlength=prod(shape))
        return flat.astype(np.int64).reshape(shape)

    def conditional_tables(self, x: int, y: int, given: Sequence[int]) -> Table:
        key = (x, y, tuple(given))
        return self._tables.get(key, lambda: self._count_strata(x, y, tuple(given)))

    def subsample(self, size: int, noise: NoiseSource) -> InMemoryCounts:
        drawn = noise.subsample(self._multiplicities, size)
        kept = np.flatnonzero(drawn)
        configurations = tuple(column[kept] for column in self._configurations)
        return InMemoryCounts(self.names, self.levels, configurations, drawn[kept], self.caveats)

    def blocked(self, count: int, noise: NoiseSource) -> InMemoryCounts:
        """The same rows with one more column, last: which of `count` blocks a row falls in.

        The blocks have the same size up to one row and do not depend on what the rows say.
        """
        place = noise.shuffled(self.n)
        owner = np.repeat(np.arange(self.unique_rows), self._multiplicities)
        key = (place * count // self.n) * self.unique_rows + owner
        kept, counts = np.unique(key, return_counts=True)
        block, row = np.divmod(kept, self.unique_rows)
        configurations = tuple(column[row] for column in self._configurations)
        return InMemoryCounts(
            (*self.names, "(block)"),
            (*self.levels, count),
            (*configurations, block),
            counts.astype(np.int64),
            self.caveats,
        )

    def moments(self, radius: float | None = None) -> Matrix:
        """Moments of the levels coded −1 … 1 in equal steps; see `coded_moments`."""
        if radius not in self._moments:
            self._moments[radius] = coded_moments(
                self._configurations, self._multiplicities, self.levels, radius
            )
        return self._moments[radius]

    def rows(self) -> tuple[Matrix, Matrix]:
        """Unique rows coded as for `moments`, shape (u, p), and their multiplicities, (u,)."""
        return coded_rows(self._configurations, self.levels), self._weights

    def remember(self, key: Hashable, compute: Callable[[], float]) -> float:
        return self._scores.get(key, compute)

    def _mixed_radix(self, columns: Sequence[int]) -> NDArray[np.int64]:
        key = np.zeros(self.unique_rows, dtype=np.int64)
        for column in columns:
            key *= self.levels[column]
            key += self._configurations[column]
        return key

    def _strata_of(self, given: tuple[int, ...]) -> tuple[NDArray[np.int64], int]:
        """Stratum index of each unique row, and the number of strata that may occur."""
        total = prod(self.levels[c] for c in given)
        if total <= _DENSE_STRATA:
            return self._mixed_radix(given), total
        return _combine([self._configurations[c] for c in given], [self.levels[c] for c in given])

    def _count_strata(self, x: int, y: int, given: tuple[int, ...]) -> Table:
        rx, ry = self.levels[x], self.levels[y]
        stratum, strata = self._strata.get(given, lambda: self._strata_of(given))
        if strata * rx * ry > _MAX_CELLS:
            raise DataError(
                f"Testing {short(self.names[x])} and {short(self.names[y])} given {len(given)} "
                f"columns needs {strata * rx * ry:,} cells; lower the maximum order."
            )
        key = (stratum * rx + self._configurations[x]) * ry + self._configurations[y]
        flat = np.bincount(key, weights=self._weights, minlength=strata * rx * ry)
        tables = flat.astype(np.int64).reshape(strata, rx, ry)
        return tables[tables.any(axis=(1, 2))] if strata > 1 else tables


def _combine(
    columns: Sequence[NDArray[np.integer]], levels: Sequence[int]
) -> tuple[NDArray[np.int64], int]:
    """One dense integer per row that tells the joint configurations apart, and their number."""
    key = np.zeros(columns[0].size, dtype=np.int64)
    size = 1
    for column, count in zip(columns, levels, strict=True):
        if size * count >= _KEY_LIMIT:
            # Hashing keeps only the configurations that occur, so the product stays small.
            key, seen = pd.factorize(key)
            size = len(seen)
        key = key * count + column
        size *= count
    codes, uniques = pd.factorize(key)
    return codes.astype(np.int64), len(uniques)


def _unique_rows(
    columns: Sequence[NDArray[np.generic]], levels: Sequence[int]
) -> tuple[NDArray[np.int64], Table]:
    """Index of the first row of each unique configuration, and its multiplicity; both (u,)."""
    codes, count = _combine([c.astype(np.int64, copy=False) for c in columns], levels)
    multiplicities = np.bincount(codes, minlength=count).astype(np.int64)
    first = np.empty(count, dtype=np.int64)
    # Assigned backwards, so that the first row of each configuration wins.
    first[codes[::-1]] = np.arange(codes.size - 1, -1, -1)
    return first, multiplicities
