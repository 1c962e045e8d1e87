"""Counts summed from one noisy full contingency table; all later steps are post-processing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privcore.counts.cache import Cache
from privcore.counts.source import CountSource, Table
from privcore.errors import DataError


class NoisyTable(CountSource):
    """A `CountSource` over a noisy table with one axis for each column.

    Marginals are summed first, then rounded and truncated at 0: truncating each cell instead would
    bias every marginal by the noise on the empty cells.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        table: NDArray[np.float64],
        n: int,
        caveats: tuple[str, ...] = (),
    ) -> None:
        super().__init__(names, n, caveats)
        self.levels = table.shape
        self._noisy = table
        # Sums of whole numbers are exact in any order, so a sum can be computed from a larger sum.
        self._whole = bool((table == np.rint(table)).all())
        self._sums: Cache[NDArray[np.float64]] = Cache(64 << 20, lambda a: a.nbytes + 200)
        self._tables: Cache[Table] = Cache(64 << 20, lambda a: a.nbytes + 200)

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

    def lacks(self, what: str) -> DataError:
        return DataError(
            f"A noisy table contains no {what}; choose an algorithm or a score that uses only "
            "counts."
        )

    def _marginal(self, in_order: tuple[int, ...]) -> NDArray[np.float64]:
        rest = tuple(c for c in range(len(self.levels)) if c not in in_order)
        if not rest or not self._whole:
            return np.asarray(self._noisy.sum(axis=rest))
        # One column at a time, from the first: a few large sums then serve many small ones.
        larger = tuple(sorted((*in_order, rest[-1])))
        summed = self._sums.get(larger, lambda: self._marginal(larger))
        return np.asarray(summed.sum(axis=larger.index(rest[-1])))
