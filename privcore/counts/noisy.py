"""Counts summed from one noisy full contingency table; all later steps are post-processing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix, Vector
from privcore.counts.cache import Cache
from privcore.counts.source import Bases, CountSource, Holds, Table
from privcore.errors import DataError
from privcore.privacy.mechanisms.noise import NoiseSource
from privcore.unit import RECORD, Unit


class NoisyTable:
    """A `CountSource` over a noisy table with one axis for each column.

    Marginals are summed first, then rounded and truncated at 0: truncating each cell instead would
    bias every marginal by the noise on the empty cells.
    """

    holds: Holds = "levels"
    unit: Unit = RECORD
    ordered: tuple[int, ...] = ()

    def __init__(
        self,
        names: tuple[str, ...],
        table: NDArray[np.float64],
        n: int,
        caveats: tuple[str, ...] = (),
    ) -> None:
        self.names = names
        self.levels = table.shape
        self.n = n
        self.caveats = caveats
        self._noisy = table
        # Sums of whole numbers are exact in any order, so a sum can be computed from a larger sum.
        self._whole = bool((table == np.rint(table)).all())
        self._sums: Cache[NDArray[np.float64]] = Cache(64 << 20, lambda a: a.nbytes + 200)
        self._tables: Cache[Table] = Cache(64 << 20, lambda a: a.nbytes + 200)
        self._scores: Cache[float] = Cache(budget=64 << 20, size=lambda _: 300)

    def table(self, columns: Sequence[int]) -> Table:
        """Noisy counts with one axis for each of `columns`, in the given order."""
        in_order = tuple(sorted(columns))
        summed = self._sums.get(in_order, lambda: self._marginal(in_order))
        ordered = summed.transpose([in_order.index(c) for c in columns])
        return np.maximum(np.rint(ordered), 0).astype(np.int64)

    def conditional_tables(self, x: int, y: int, conditioning_set: Sequence[int]) -> Table:
        def occurring() -> Table:
            tables = self.table([*conditioning_set, x, y]).reshape(
                -1, self.levels[x], self.levels[y]
            )
            return tables[tables.any(axis=(1, 2))] if len(tables) > 1 else tables

        return self._tables.get((x, y, tuple(conditioning_set)), occurring)

    def subsample(self, size: int, noise: NoiseSource) -> CountSource:
        raise DataError(
            "A noisy table contains no rows to draw from; draw the sub-sample before adding noise."
        )

    def blocked(self, count: int, noise: NoiseSource) -> CountSource:
        raise DataError(
            "A noisy table contains no rows to split into blocks; choose a score without blocks."
        )

    def moments(self, radius: float | None = None) -> NDArray[np.float64]:
        raise DataError(
            "A noisy table contains no rows to compute moments from; choose a score over counts."
        )

    def coded(self, bases: Bases, radius: float | None = None) -> Matrix:
        raise DataError(
            "A noisy table contains no rows to compute moments from; choose a score over counts."
        )

    def rows(self) -> tuple[Matrix, Vector]:
        raise DataError(
            "A noisy table contains no rows; choose an algorithm that uses only counts."
        )

    def prepare(self, families: Sequence[Sequence[int]]) -> None:
        """Does nothing: every table is summed from the one noisy table."""

    def remember(self, key: Hashable, compute: Callable[[], float]) -> float:
        return self._scores.get(key, compute)

    def _marginal(self, in_order: tuple[int, ...]) -> NDArray[np.float64]:
        rest = tuple(c for c in range(len(self.levels)) if c not in in_order)
        if not rest or not self._whole:
            return np.asarray(self._noisy.sum(axis=rest))
        # One column at a time, from the first: a few large sums then serve many small ones.
        larger = tuple(sorted((*in_order, rest[-1])))
        summed = self._sums.get(larger, lambda: self._marginal(larger))
        return np.asarray(summed.sum(axis=larger.index(rest[-1])))
