"""A table in Parquet files that is never loaded whole: its columns, its rows and their codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.counts import CountSource, StoredTable
from privcore.counts.source import Bases
from privcore.data.model import MAX_LEVELS, Column, OpenQuestion
from privcore.errors import DataError
from privcore.intake import arrow
from privcore.intake.cells import (
    AT_ONCE,
    MEMORY,
    Memory,
    called_as_persons,
    cell_text,
    names_persons,
    whose_rows,
)
from privcore.intake.coding import Coded, Codes, Coding, Codings, Missing, Piece, looked_at, settled
from privcore.intake.proposing import Proposal, propose_counted
from privcore.intake.schema import ColumnSchema
from privcore.intake.triage import choose, proposals_of
from privcore.storage.external import (
    Distinct,
    coded_means,
    count_external,
    distinct_rows,
    memory_for_all,
    merged,
    taken_rows,
)
from privcore.text import counted, short

# A level may be written in several ways, with spaces around it.
_MAX_DISTINCT = 4 * MAX_LEVELS
# Rows used for proposals on columns with more distinct cells than can be listed.
_SAMPLE = 100_000
# Cells that are decoded at a time to be counted.
_CODED_AT_ONCE = 1 << 21
# Multiplier of a hash of row numbers: 2⁶⁴ over the golden ratio.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class ParquetTable(StoredTable):
    """A table of categorical columns in Parquet files.

    The files must not change while the table is used.
    files: paths of the files, in the order of the rows.  codings: how the columns are read.
    memory: limit on the bytes used for counting.  The other fields are described in `Dataset`.
    """

    name: str
    columns: tuple[Column, ...]
    files: tuple[str, ...]
    codings: Codings
    true_edges: tuple[tuple[str, str], ...] | None = None
    notes: tuple[str, ...] = ()
    memory: int = MEMORY
    available: bool = False
    questions: tuple[OpenQuestion, ...] = ()

    @property
    def n(self) -> int:
        return sum(self.codings.rows)

    def count(self) -> CountSource:
        """Counts over the files, in memory if the unique rows fit there.

        Half of the memory limit is for the unique rows, and the other half is for reading.
        """
        return count_external(ParquetRows(self), self.memory // 2)

    def check_memory(self) -> None:
        """Raises DataError if `count` may have to leave the rows in the files.

        Whether the rows fit depends on the number of unique rows, which is private. This check uses
        only the levels, the number of rows and the memory.
        """
        needed = 2 * memory_for_all(self.n, self.levels)
        if needed > self.memory:
            raise DataError(
                "table-may-be-too-large", needed=needed / 2**30, memory=self.memory / 2**30
            )

    def batches(self, columns: Sequence[int]) -> Iterator[Coded]:
        """Yields the codes of some columns for the rows used, in batches and in row order."""
        gaps = self.codings.gaps if self.codings.drop else ()
        read = dict.fromkeys((*columns, *(c for c, any_ in enumerate(gaps) if any_)))
        for codes in _coded(self.files, [self.codings.of[c] for c in read], self.memory):
            yield self.codings.used(codes, list(read))[: len(columns)]


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


def open_parquet(
    path: str | Path,
    schema: Sequence[ColumnSchema] | None = None,
    *,
    missing: Missing = "refuse",
    memory: int = MEMORY,
) -> ParquetTable:
    """Open a Parquet file, or all Parquet files of a folder in the order of their names.

    schema: how columns are read; unlisted columns are left out.  None uses the proposals of
    `triage_parquet`, which are read from the rows and not covered by a guarantee.
    missing: as for `build_dataset`; both functions give the same codes.

    The rows are scanned once.  Raises DataError for files that do not exist, are not Parquet or
    have different columns, for continuous columns that are not cut, and for whatever
    `build_dataset` refuses; ParameterError for an unknown `missing`.
    """
    path = Path(path)
    if schema is None:
        schema = [proposal.schema for proposal in choose(triage_parquet(path, memory=memory))]
    files = _files(path)

    def look(codings: Sequence[Coding], drop: bool) -> list[Piece]:
        pieces = _coded(files, codings, memory)
        return [looked_at(codes, codings, drop=drop) for codes in pieces]

    codings = settled(schema, _names(files), missing, look)
    return ParquetTable(
        path.name,
        codings.columns,
        files,
        codings,
        notes=codings.notes,
        memory=memory,
        available=missing == "available",
        questions=_questions(files, memory),
    )


def _questions(files: tuple[str, ...], memory: int) -> tuple[OpenQuestion, ...]:
    """The question to the owner about a column that identifies people; empty if there is none."""
    for name in filter(called_as_persons, [str(name) for name in _names(files)]):
        counts, seen = _counted(files, name, memory, 1)
        if names_persons(name, list(counts), seen):
            return (whose_rows(name, at_place=True),)
    return ()


def triage_parquet(
    path: str | Path, intervals: int | None = None, *, memory: int = MEMORY
) -> list[Proposal]:
    """Propose how to use each column of Parquet files, as `triage` does, without loading the files.

    The proposal for a column with more than 4,000 distinct cells is based on about 100,000 rows.
    Raises DataError for files that do not exist, are not Parquet, or have different columns.
    """
    import pyarrow.parquet as pq

    files = _files(Path(path))
    names = _names(files)
    rows = sum(pq.read_metadata(file).num_rows for file in files)
    if rows < 2:
        raise DataError("too-few-rows-in-data", rows=counted(rows, "row"))

    def proposed(name: str, parts: int) -> Proposal:
        every = 1
        counts, seen = _counted(files, name, memory, every)
        if len(counts) > _MAX_DISTINCT and rows > _SAMPLE:
            every = -(-rows // _SAMPLE)
            counts, seen = _counted(files, name, memory, every)
        of_text = pd.Series(counts, index=pd.Index(list(counts), dtype=object), dtype="int64")
        return propose_counted(name, of_text, seen, parts, every)

    return proposals_of(names, rows, proposed, intervals)


def _counted(
    files: Sequence[str], name: str, memory: int, every: int
) -> tuple[dict[str, int], int]:
    """Number of rows with each text in a column, and number of rows read: about one in `every`.

    The sample depends on the row numbers alone.  A scan of all rows stops once the column has too
    many distinct texts.
    """
    counts: dict[str, int] = {}
    seen, start = 0, 0
    for (values,) in _batches(files, [name], memory):
        listed, where = arrow.distinct_cells(values)
        numbers = np.arange(start, start + len(where), dtype=np.uint64)
        chosen = ((numbers * _SPREAD) >> np.uint64(32)) % np.uint64(every) == 0
        for value, rows in zip(
            listed, np.bincount(where[chosen], minlength=len(listed)), strict=True
        ):
            text = cell_text(value) if rows else None
            if text is not None:
                counts[text] = counts.get(text, 0) + int(rows)
        seen += int(chosen.sum())
        start += len(where)
        if every == 1 and len(counts) > _MAX_DISTINCT:
            break
    return counts, seen


def _coded(files: Sequence[str], codings: Sequence[Coding], memory: int) -> Iterator[list[Codes]]:
    """Codes of some columns for all rows, used or not, in batches."""
    names = [coding.wanted.name for coding in codings]
    for values in _batches(files, names, memory, _CODED_AT_ONCE):
        with arrow.reading():
            codes = [_codes(v, coding) for v, coding in zip(values, codings, strict=True)]
        yield codes


def _codes(values: Any, coding: Coding) -> Codes:
    numbers = arrow.numbers_of(values) if _is_stored(coding.wanted) else None
    if numbers is not None:
        return coding.of_numbers(numbers)
    cells, where = arrow.distinct_cells(values)
    return coding.of_distinct(cells)[where]


def _batches(
    files: Sequence[str], names: Sequence[str], memory: int, at_once: int = AT_ONCE
) -> Iterator[list[Any]]:
    limit = Memory(memory // 2, "allow more memory, or leave columns out")
    with arrow.reading():
        for file in files:
            yield from arrow.batches(file, names, limit, at_once)


def _files(path: Path) -> tuple[str, ...]:
    if path.is_dir():
        inside = (p for p in path.rglob("*") if p.suffix.lower() in (".parquet", ".pq"))
        files = tuple(str(p) for p in sorted(inside) if p.is_file())
        if not files:
            raise DataError("no-parquet-in-folder", path=short(path))
        return files
    if not path.is_file():
        raise DataError("knowledge-file-unreadable", path=short(path))
    return (str(path),)


def _names(files: tuple[str, ...]) -> list[str]:
    """The columns of the files; raises DataError unless all files have the same columns."""
    import pyarrow.parquet as pq

    schemas: list[Any] = []
    for file in files:
        name = short(Path(file).name)
        with arrow.reading(
            f"{name!r} is not a readable Parquet file; convert the table to Parquet, or give a "
            "smaller table with --csv."
        ):
            schemas.append(pq.read_schema(file))
        first, other = schemas[0], schemas[-1]
        if other.names != first.names or other.types != first.types:
            raise DataError("other-columns-in-file", file=name, name2=short(Path(files[0]).name))
    return arrow.column_names(schemas[0])


def _is_stored(wanted: ColumnSchema) -> bool:
    """Whether numbers can be taken as they are stored."""
    return wanted.kind == "continuous" and not wanted.writing.missing_codes
