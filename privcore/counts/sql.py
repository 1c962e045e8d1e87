"""Rows in Parquet files, counted by DuckDB inside this process and never loaded whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.counts.distinct import (
    Codes,
    Distinct,
    distinct_rows,
    merged,
    moments_of,
    taken_rows,
    unpacked,
    words,
)
from privcore.counts.external import count_external, memory_for_all
from privcore.counts.source import CountSource
from privcore.data.duck import OutOfMemory, asking, connect, scan
from privcore.data.parquet import ParquetTable
from privcore.errors import DataError

_BATCH = 1 << 18


def count_parquet(table: ParquetTable) -> CountSource:
    """Counts of a table in Parquet files: in memory if its unique rows fit in half of what it may.

    The other half is the database's.
    """
    return count_external(ParquetRows(table), table.memory // 2)


def check_memory(table: ParquetTable) -> None:
    """Raises DataError where `count_parquet` may have to leave the rows in the files.

    What can be done with them there, and what cannot, depends on how many of them are unique.  This
    depends on levels, the number of rows and the memory alone.
    """
    needed = 2 * memory_for_all(table.n, table.levels)
    if needed > table.memory:
        raise DataError(
            f"By its levels and its number of rows, the table may need {needed / 2**30:.1f} GiB "
            f"of memory, and {table.memory / 2**30:.1f} GiB are allowed; allow more, or use fewer "
            "columns or levels."
        )


class ParquetRows:
    """`ExternalRows` of a table in Parquet files: one GROUP BY for each joint table.

    Groups are numbers that columns are packed into.  The files are read one after the other, so
    that unique rows come in the order of the rows.
    """

    def __init__(self, table: ParquetTable) -> None:
        self.names = table.names
        self.levels = table.levels
        self.n = table.n
        self.caveats = table.caveats
        self._table = table
        self._connection = connect(table.memory // 2)

    def distinct(self, columns: Sequence[int], limit: int) -> Distinct | None:
        levels = [self.levels[c] for c in columns]
        with suppress(OutOfMemory):
            grouped = (self._grouped(file, columns, limit) for file in self._table.files)
            return merged((part for part in grouped if part.rows), levels, limit)
        # Reading takes less memory than grouping: unique rows within the limit are found all the
        # same, whatever the rows say.
        with suppress(OutOfMemory):
            read = (distinct_rows([codes[c] for c in columns], levels) for codes in self._batches())
            return merged(read, levels, limit)
        return None

    def sampled(self, rows: NDArray[np.int64]) -> Distinct:
        sample = merged(self._taken(rows), self.levels, rows.size)
        assert sample is not None  # No more unique rows than rows.
        return sample

    def moments(self, radius: float | None) -> Matrix:
        parts = (distinct_rows(codes, self.levels) for codes in self._batches())
        return moments_of(parts, self.levels, radius, self.n)

    def _packed(self, columns: Sequence[int]) -> list[str]:
        """SQL expressions for the numbers that columns are packed into, as by `words`."""
        levels = [self.levels[c] for c in columns]
        packed = []
        for group in words(levels):
            number = "CAST(0 AS BIGINT)"
            for place in group:
                number = f"({number} * {levels[place]} + {self._table.codes[columns[place]]})"
            packed.append(number)
        return packed

    def _from(self, files: Sequence[str], *, numbered: bool = False) -> str:
        clause = f"FROM {scan(files, self._table.width, numbered=numbered)}"
        return f"{clause} WHERE {self._table.where}" if self._table.where else clause

    def _grouped(self, file: str, columns: Sequence[int], limit: int) -> Distinct:
        """Distinct rows of one file, at most one more than `limit`."""
        packed = self._packed(columns)
        names = [f"k{i}" for i in range(len(packed))]
        selected = ", ".join(f"{p} AS {k}" for p, k in zip(packed, names, strict=True))
        query = (
            f"SELECT {selected}, count(*) AS times, min(r) AS first "
            f"{self._from([file], numbered=True)} GROUP BY {', '.join(names)} "
            f"LIMIT {limit + 1}"
        )
        with asking():
            arrays: dict[str, NDArray[Any]] = self._connection.sql(query).fetchnumpy()
        order = np.argsort(arrays["first"])
        numbers = [arrays[name][order].astype(np.int64) for name in names]
        levels = [self.levels[c] for c in columns]
        return Distinct(unpacked(numbers, levels), arrays["times"][order].astype(np.int64))

    def _batches(self) -> Iterator[Codes]:
        """All rows in their order, some at a time, as codes."""
        packed = self._packed(range(len(self.levels)))
        query = f"SELECT {', '.join(packed)} {self._from(self._table.files)}"
        with asking():
            for batch in self._connection.sql(query).to_arrow_reader(_BATCH):
                numbers = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
                yield unpacked(numbers, self.levels)

    def _taken(self, rows: NDArray[np.int64]) -> Iterator[Distinct]:
        start = 0
        for codes in self._batches():
            inside = taken_rows(codes, start, rows)
            if len(inside[0]):
                yield distinct_rows(inside, self.levels)
            start += len(codes[0])
