"""Available-case counts: each test uses the rows that have a value in all of its columns.

If values are missing at random, the rows used represent the rows left out. No table contains the
level for missing values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from privcore.counts.cache import Cache
from privcore.counts.memory import InMemoryCounts
from privcore.counts.source import CountSource, Gaps, MomentSource, Table
from privcore.data.model import MISSING_LEVEL, Described
from privcore.errors import DataError
from privcore.privacy.mechanisms.noise import NoiseSource


def gaps_of(data: Described) -> Gaps:
    """For each column, the code of its level for missing values, or None if it has no such level.

    Empty if no column has such a level, or if values are not taken as missing at random.
    """
    codes = [
        column.levels.index(MISSING_LEVEL) if MISSING_LEVEL in column.levels else None
        for column in data.columns
    ]
    return tuple(codes) if data.available and any(c is not None for c in codes) else ()


def available_cases(own_level: CountSource, gaps: Gaps) -> CountSource:
    """Counts over the available cases; returns `own_level` itself if `gaps` is empty."""
    return AvailableCases(own_level, gaps) if gaps else own_level


def own_level_of(source: CountSource) -> tuple[CountSource, Gaps]:
    """Counts with missing values as a level, and the code of that level for each column.

    For any source that is not an `AvailableCases`, returns the source itself and an empty tuple.
    """
    return (source.own_level, source.gaps) if isinstance(source, AvailableCases) else (source, ())


def rows_of_test(source: MomentSource, tables: Table) -> int:
    """Number of rows used by a test on these tables: all rows, or only the available cases."""
    return max(int(tables.sum()), 1) if source.gaps else source.n


class AvailableCases(CountSource):
    """A `CountSource` whose tables count the rows that have a value in every column of the table.

    own_level: the counts with missing values as a level.  gaps: per column, the code of the level
    for missing values, or None if the column has no such level.
    levels: number of levels per column, not counting the level for missing values.  n: number of
    all rows, which may exceed the sum of the counts in a table.
    """

    def __init__(self, own_level: CountSource, gaps: Gaps) -> None:
        super().__init__(own_level.names, own_level.n, own_level.caveats, own_level.unit)
        self.own_level, self.gaps, self.ordered = own_level, gaps, own_level.ordered
        self.resizable = own_level.resizable
        self.levels = tuple(
            level - (gap is not None) for level, gap in zip(own_level.levels, gaps, strict=True)
        )
        self._tables: Cache[Table] = Cache(64 << 20, lambda table: table.nbytes + 200)

    def table(self, columns: Sequence[int]) -> Table:
        return self._inside(self.own_level.table(columns), columns)

    def conditional_tables(self, x: int, y: int, conditioning_set: Sequence[int]) -> Table:
        key = (x, y, tuple(conditioning_set))
        return self._tables.get(key, lambda: self._strata(x, y, tuple(conditioning_set)))

    def resized(self, size: int, noise: NoiseSource) -> AvailableCases:
        return AvailableCases(cast(CountSource, self.own_level.resized(size, noise)), self.gaps)

    def prepare(self, families: Sequence[Sequence[int]]) -> None:
        self.own_level.prepare(families)

    def _strata(self, x: int, y: int, conditioning_set: tuple[int, ...]) -> Table:
        columns = (*conditioning_set, x, y)
        if isinstance(self.own_level, InMemoryCounts):
            # Only the rows of this test are counted, so strata without such rows get no number.
            codes, times = self.own_level.unique()
            gaps = [codes[c] == self.gaps[c] for c in columns if self.gaps[c] is not None]
            present = ~np.logical_or.reduce(gaps) if gaps else np.ones(times.size, np.bool_)
            if not present.any():
                return np.zeros((0, self.levels[x], self.levels[y]), dtype=np.int64)
            source = self.own_level
            of_test = InMemoryCounts(
                tuple(source.names[c] for c in columns),
                tuple(source.levels[c] for c in columns),
                tuple(codes[c][present] for c in columns),
                times[present],
            )
            last = len(columns) - 1
            tables = of_test.conditional_tables(last - 1, last, range(last - 1))
            return self._inside(tables, (None, x, y))
        tables = self.table(columns).reshape(-1, self.levels[x], self.levels[y])
        return tables[tables.any(axis=(1, 2))] if len(tables) > 1 else tables

    def _inside(self, counts: Table, columns: Sequence[int | None]) -> Table:
        """The table without its levels for missing values.

        columns: the column of each axis, or None for an axis without such a level.
        """
        for axis, column in enumerate(columns):
            gap = None if column is None else self.gaps[column]
            if gap is not None:
                counts = np.delete(counts, gap, axis=axis)
        return counts

    def lacks(self, what: str) -> DataError:
        return DataError(
            f"Available-case counts provide contingency tables, but no {what}; choose the score "
            "g2 or chi2, or make missing values a level."
        )
