"""Reading a user's table: bytes to a raw table of text, before any kind is decided.

Nothing is written to disk and nothing is logged; errors never quote a value.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.data.decoding import ENCODINGS, decode, find_delimiter
from privcore.data.model import check_names
from privcore.errors import DataError
from privcore.text import short
from privcore.unit import RECORD, Unit

__all__ = ["ENCODINGS", "MAX_BYTES", "MAX_CELLS", "MEMORY", "RawTable", "read_table"]

MAX_BYTES = 100_000_000
# The most that a text file of MAX_BYTES can hold; a small Parquet file can claim far more.
MAX_CELLS = 50_000_000
# Bytes that a table may take, unless told otherwise.
MEMORY = 4 << 30
# Cells that have no value, in lower case.
MISSING_TEXTS = {"", "na", "n/a", "#n/a", "nan", "null", "?", "*", "."}
# A number with a decimal comma, and perhaps points or spaces between thousands: 1.234,5.
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:[.\s]\d{3})+),\d+")
# A line of a text file is taken apart as a whole: in characters.
_MAX_LINE = 10_000_000
_LINE = re.compile(r"[^\r\n]*+(?:\r\n?+|\n)|[^\r\n]++")
# Cells that are turned into codes at a time.
_AT_ONCE = 1 << 17
# Bytes of a cell, as a code and as a number, and of a distinct one beside its characters.
_OF_CELL, _OF_DISTINCT = 12, 300

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


class _Memory:
    """What of the memory that a table may take is left."""

    def __init__(self, limit: int) -> None:
        self._limit = self.left = limit

    def take(self, size: int) -> None:
        """Raises DataError if so many bytes are not left."""
        self.need(size)
        self.left -= size

    def need(self, size: int) -> None:
        """Raises DataError if so many bytes are not left, and takes none."""
        if size > self.left:
            raise DataError(
                f"The table needs more than {self._limit / 2**30:.3g} GiB of memory; give fewer "
                "rows or columns, or count it where it is, as Parquet, by `python -m privcore "
                "discover --table`."
            )


class _Codes(dict[str, int]):
    """Codes of the cells of a column, by what stands in the file; a missing one is -1.

    decimal_comma: whether a comma in a number is its decimal point.
    """

    def __init__(self, memory: _Memory, *, decimal_comma: bool = False) -> None:
        self._memory, self._decimal_comma = memory, decimal_comma
        self._pieces: list[NDArray[np.int32]] = []
        self._texts: dict[str, int] = {}

    def __missing__(self, written: str) -> int:
        text = cell_text(written)
        if text and self._decimal_comma and _DECIMAL_COMMA.fullmatch(text):
            text = re.sub(r"[.\s]", "", text).replace(",", ".")
        self._memory.take(sys.getsizeof(written) + _OF_DISTINCT)
        self[written] = -1 if text is None else self._texts.setdefault(text, len(self._texts))
        return self[written]

    def add(self, cells: Sequence[str]) -> None:
        self._pieces.append(np.fromiter(map(self.__getitem__, cells), np.int32, len(cells)))

    def add_some(self, values: Sequence[Any], positions: NDArray[np.intp]) -> None:
        """The cells at some positions of a list of values, of which None is missing."""
        codes = [-1 if value is None else self[str(value)] for value in values]
        self._pieces.append(np.array(codes, dtype=np.int32)[positions])

    def categorical(self) -> pd.Categorical:
        codes = np.concatenate(self._pieces) if self._pieces else np.empty(0, np.int32)
        return pd.Categorical.from_codes(codes, pd.Index(list(self._texts), dtype=object))


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
        table = RawTable(_read_parquet(content, _Memory(memory)), "", "")
    else:
        table = _read_text(content, filename, encoding, _Memory(memory))
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


def _read_parquet(content: bytes, memory: _Memory) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    damaged = DataError("The Parquet file cannot be read; it may be damaged, so write it anew.")
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        schema, about = file.schema_arrow, file.metadata
    except (pa.ArrowException, OSError, ValueError):
        raise damaged from None
    names = [str(name) for name in schema.names]
    check_names(names)
    for field in schema:
        if is_unfit(field.type):
            raise DataError(
                f"Column {short(field.name)!r} holds lists or bytes; keep one value in each cell."
            )
    cells = about.num_rows * len(names)
    if cells > MAX_CELLS:
        raise DataError(
            f"The file has {cells:,} cells, more than {MAX_CELLS:,}; give fewer rows or columns, "
            "or count it where it is, by `python -m privcore discover --table`."
        )
    memory.take(_OF_CELL * cells)
    codes = [_Codes(memory) for _ in names]
    try:
        for batch in _batches(content, file, memory):
            for column, values in zip(codes, batch.columns, strict=True):
                _add_values(column, values)
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError):
        raise damaged from None
    return _framed(names, codes)


def _batches(content: bytes, file: Any, memory: _Memory) -> Iterator[Any]:
    """Some rows at a time of an opened Parquet file; texts stay in their dictionaries.

    The sizes that the file states bound what is decoded: those of a group of rows, and, of texts
    stored by what they change in the one before, that of their column, for none is longer.
    """
    import pyarrow.parquet as pq

    names = file.schema_arrow.names
    texts = {i for i, field in enumerate(file.schema_arrow) if _is_text(field.type)}
    rows = max(1, _AT_ONCE // len(names))
    for group in map(file.metadata.row_group, range(file.metadata.num_row_groups)):
        sizes = [group.column(i).total_uncompressed_size for i in range(len(names))]
        memory.need(2 * sum(sizes))
        grown = {i for i in texts if "DELTA_BYTE_ARRAY" in group.column(i).encodings}
        if grown:
            # These are not read into a dictionary, so that a batch holds them in full, and twice.
            longest = sum(sizes[i] for i in grown)
            rows = max(1, min(rows, memory.left // (8 * longest + 1)))
            texts -= grown
    kept = [names[i] for i in sorted(texts)]
    again = pq.ParquetFile(io.BytesIO(content), read_dictionary=kept)
    yield from again.iter_batches(batch_size=rows, use_threads=False)


def _add_values(column: _Codes, values: Any) -> None:
    """Cells of one type of Parquet; a text or number that occurs often is looked at once."""
    import pyarrow as pa
    from pyarrow import types

    # Zeros of either sign are one number, and two texts.
    if not (types.is_dictionary(values.type) or types.is_floating(values.type)):
        with suppress(pa.ArrowNotImplementedError):
            values = values.dictionary_encode()
    if not types.is_dictionary(values.type):
        column.add_some(values.to_pylist(), np.arange(len(values)))
        return
    indices = values.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    used, where = np.unique(indices, return_inverse=True)
    listed = values.dictionary.take(pa.array(used[used >= 0])).to_pylist()
    column.add_some([None] * (len(used) - len(listed)) + listed, where)


def _framed(names: Sequence[str], columns: Sequence[_Codes]) -> pd.DataFrame:
    return pd.DataFrame(
        {name: column.categorical() for name, column in zip(names, columns, strict=True)}
    )


def _is_text(kind: object) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def is_unfit(kind: object) -> bool:
    """Whether a Parquet type holds something else than one readable value."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return is_unfit(kind.value_type)  # type: ignore[attr-defined]
    return bool(
        types.is_nested(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
    )


def cell_text(value: object) -> str | None:
    """A cell as text without spaces around it, None if it is missing."""
    if value is None:
        return None
    text = str(value).strip()
    return None if text.lower() in MISSING_TEXTS else text


def _read_text(content: bytes, filename: str, encoding: str | None, memory: _Memory) -> RawTable:
    text, encoding = decode(content, encoding)
    if not text.strip():
        raise _empty()
    memory.take(sys.getsizeof(text))
    tabbed = filename.lower().endswith((".tsv", ".tab")) and "\t" in text[:100_000]
    delimiter = "\t" if tabbed else find_delimiter(text)
    header: list[str] = []
    codes: list[_Codes] = []
    rows: list[list[str]] = []

    def add_rows() -> None:
        memory.take(_OF_CELL * len(rows) * len(header))
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
                codes = [_Codes(memory, decimal_comma=comma) for _ in header]
                continue
            if len(row) != len(header):
                raise DataError(
                    f"Row {number} has {len(row)} cells where the header has {len(header)}; "
                    "give every row the same number, with quotes around cells that hold "
                    f"the delimiter {_name_of(delimiter)}."
                )
            rows.append(row)
            if len(rows) * len(header) >= _AT_ONCE:
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
