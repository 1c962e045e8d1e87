"""Counts rows in Parquet files in batches, without loading the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.counts.distinct import Distinct, coded_means, distinct_rows, merged, taken_rows
from privcore.counts.external import count_external, memory_for_all
from privcore.counts.source import Bases, CountSource
from privcore.data.parquet import ParquetTable
from privcore.errors import DataError


def count_parquet(table: ParquetTable) -> CountSource:
    """Counts over a table in Parquet files, in memory if the unique rows fit there.

    Half of the table's memory limit is for the unique rows, and the other half is for reading.
    """
    return count_external(ParquetRows(table), table.memory // 2)


def check_memory(table: ParquetTable) -> None:
    """Raises DataError if `count_parquet` may have to leave the rows in the files.

    Whether the rows fit depends on the number of unique rows, which is private. This check uses
    only the levels, the number of rows and the memory.
    """
    needed = 2 * memory_for_all(table.n, table.levels)
    if needed > table.memory:
        raise DataError(
            f"Judging by its levels and number of rows, the table may need {needed / 2**30:.1f} "
            f"GiB of memory, but only {table.memory / 2**30:.1f} GiB are allowed; allow more "
            "memory, or use fewer columns or levels."
        )


class ParquetRows:
    """`ExternalRows` for a table in Parquet files, with one pass for each joint table."""

    def __init__(self, table: ParquetTable) -> None:
        self.names = table.names
        self.levels = table.levels
        self.n = table.n
        self.caveats, self.ordered = table.caveats, table.ordered
        self._table = table

    def distinct(self, columns: Sequence[int], limit: int) -> Distinct | None:
        return merged(self._distinct(columns), [self.levels[c] for c in columns], limit)

    def sampled(self, rows: NDArray[np.int64]) -> Distinct:
        sample = merged(self._taken(rows), self.levels, rows.size)
        assert sample is not None  # There are never more unique rows than rows.
        return sample

    def coded(self, bases: Bases, radius: float | None) -> Matrix:
        return coded_means(self._distinct(range(len(self.levels))), bases, radius, self.n)

    def _distinct(self, columns: Sequence[int]) -> Iterator[Distinct]:
        levels = [self.levels[c] for c in columns]
        for codes in self._table.batches(columns):
            if len(codes[0]):
                yield distinct_rows(codes, levels)

    def _taken(self, rows: NDArray[np.int64]) -> Iterator[Distinct]:
        start = 0
        for codes in self._table.batches(range(len(self.levels))):
            inside = taken_rows(codes, start, rows)
            if len(inside[0]):
                yield distinct_rows(inside, self.levels)
            start += len(codes[0])
