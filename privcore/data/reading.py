"""Reading a user's table: bytes to a raw table of text, before any kind is decided.

Nothing is written to disk and nothing is logged; errors never quote a value.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from privcore.data import arrow
from privcore.data.cells import AT_ONCE, MEMORY, OF_CELL, WHERE_IT_IS, Memory, Texts
from privcore.data.decoding import ENCODINGS, decode, find_delimiter
from privcore.data.model import check_names
from privcore.errors import DataError
from privcore.unit import RECORD, Unit

__all__ = ["ENCODINGS", "MAX_BYTES", "MAX_CELLS", "MEMORY", "RawTable", "read_table"]

MAX_BYTES = 100_000_000
# The most that a text file of MAX_BYTES can hold; a small Parquet file can claim far more.
MAX_CELLS = 50_000_000
# A line of a text file is taken apart as a whole: in characters.
_MAX_LINE = 10_000_000
_LINE = re.compile(r"[^\r\n]*+(?:\r\n?+|\n)|[^\r\n]++")

# The standard reader refuses fields above 128 kB; our own limits are clearer.  The setting is
# the process's, so it is made once: a smaller one in another thread would break a read.
csv.field_size_limit(MAX_BYTES)


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as read: every cell a string, missing cells None.

    frame: one categorical column per column of the file, so that a cell that occurs often takes
        memory once.
    encoding, delimiter: as detected; empty for Parquet.
    unit: whose rows are protected together, where rows beyond its bound were left out (`units`).
    """

    frame: pd.DataFrame
    encoding: str
    delimiter: str
    unit: Unit = RECORD

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.frame.columns]

    @property
    def missing(self) -> dict[str, int]:
        """Number of missing cells of each column that has any."""
        counts = self.frame.isna().sum()
        return {str(name): int(count) for name, count in counts.items() if count}


def read_table(
    content: bytes, filename: str, *, encoding: str | None = None, memory: int = MEMORY
) -> RawTable:
    """Read CSV, TSV or Parquet bytes; encoding and delimiter are detected.

    encoding: to use instead of the detected one; some (Western and Central European) cannot be
        distinguished from the bytes alone.
    memory: bytes that the table may take, of a text file beside the file itself.
    Cells that are empty or say NA, N/A, #N/A, NaN, null, ?, * or . are missing.  Between semicolons
    1.234,5 is read as 1234.5, cell by cell.
    Raises DataError if it is empty, too large, no table, or has bad column names.
    """
    if len(content) > MAX_BYTES:
        raise DataError(
            f"The file has more than {MAX_BYTES / 1e6:,.0f} MB; give fewer rows or columns."
        )
    if not content.strip():
        raise _empty()
    if filename.lower().endswith((".parquet", ".pq")) or content[:4] == b"PAR1":
        table = RawTable(_read_parquet(content, Memory(memory)), "", "")
    else:
        table = _read_text(content, filename, encoding, Memory(memory))
    _check(table)
    return table


def _empty() -> DataError:
    return DataError("The file is empty; give a table with a header and at least 2 rows.")


def _check(table: RawTable) -> None:
    rows = len(table.frame)
    if rows == 0:
        raise DataError("The file has a header but no rows; give at least 2 rows.")
    if rows == 1:
        raise DataError("The file has 1 row; give at least 2.")


def _read_parquet(content: bytes, memory: Memory) -> pd.DataFrame:
    import pyarrow.parquet as pq

    with arrow.reading():
        about = pq.ParquetFile(io.BytesIO(content))
        names, rows = arrow.column_names(about.schema_arrow), about.metadata.num_rows
        cells = rows * len(names)
        if cells > MAX_CELLS:
            raise DataError(
                f"The file has {cells:,} cells, more than {MAX_CELLS:,}; {WHERE_IT_IS}."
            )
        memory.take(OF_CELL * cells)
        columns = [Texts(memory) for _ in names]
        for batch in arrow.batches(content, names, memory):
            for column, values in zip(columns, batch, strict=True):
                column.add_some(*arrow.distinct_cells(values))
    return _framed(names, columns)


def _framed(names: Sequence[str], columns: Sequence[Texts]) -> pd.DataFrame:
    return pd.DataFrame(
        {name: column.categorical() for name, column in zip(names, columns, strict=True)}
    )


def _read_text(content: bytes, filename: str, encoding: str | None, memory: Memory) -> RawTable:
    decoded = decode(content, encoding)
    text, encoding = decoded.text, decoded.encoding
    if not text.strip():
        raise _empty()
    memory.take(sys.getsizeof(text))
    tabbed = filename.lower().endswith((".tsv", ".tab")) and "\t" in text[:100_000]
    delimiter = "\t" if tabbed else find_delimiter(text)
    header: list[str] = []
    codes: list[Texts] = []
    rows: list[list[str]] = []

    def add_rows() -> None:
        memory.take(OF_CELL * len(rows) * len(header))
        for column, cells in zip(codes, zip(*rows, strict=True), strict=True):
            column.add(cells)
        rows.clear()

    try:
        for number, row in enumerate(csv.reader(_lines(text), delimiter=delimiter), 1):
            if not row:
                continue
            if not header:
                header = [name.strip() for name in row]
                # pandas writes its index without a name, and reads it back under this one.
                header[0] = header[0] or "Unnamed: 0"
                check_names(header)
                # Where a comma is a decimal point, spreadsheets write semicolons between cells.
                comma = delimiter == ";"
                codes = [Texts(memory, decimal_comma=comma) for _ in header]
                continue
            if len(row) != len(header):
                raise DataError(
                    f"Row {number} has {len(row)} cells where the header has {len(header)}; "
                    "give every row the same number, with quotes around cells that hold "
                    f"the delimiter {_name_of(delimiter)}."
                )
            rows.append(row)
            if len(rows) * len(header) >= AT_ONCE:
                add_rows()
        if rows:
            add_rows()
    except csv.Error:
        raise DataError("The file is not a readable table; save it as CSV with a header.") from None
    return RawTable(_framed(header, codes), encoding, delimiter)


def _lines(text: str) -> Iterator[str]:
    """The lines with their ends; raises DataError for one that is no row of a table."""
    for number, match in enumerate(_LINE.finditer(text), 1):
        if match.end() - match.start() > _MAX_LINE:
            raise DataError(
                f"Line {number} of the file has more than {_MAX_LINE:,} characters; give every row "
                "a line of its own."
            )
        yield match.group()


def _name_of(delimiter: str) -> str:
    return {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}[delimiter]
