"""Reading a user's table: bytes to a raw table of text, before any kind is decided.

Nothing is written to disk and nothing is logged; errors never quote a value.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import pandas as pd

from privcore.dataset.decoding import ENCODINGS, decode, find_delimiter
from privcore.dataset.model import check_names
from privcore.errors import DataError
from privcore.text import short

__all__ = ["ENCODINGS", "MAX_BYTES", "MAX_CELLS", "RawTable", "read_table"]

MAX_BYTES = 100_000_000
# The most that a text file of MAX_BYTES can hold; a small Parquet file can claim far more.
MAX_CELLS = 50_000_000
_MISSING = {"", "na", "n/a", "nan", "null", "?"}

# The standard reader refuses fields above 128 kB; our own limits are clearer.  The setting is
# the process's, so it is made once: a smaller one in another thread would break a read.
csv.field_size_limit(MAX_BYTES)


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as read: every cell a string, missing cells None.

    frame: one column of objects per column of the file.
    encoding, delimiter: as detected; empty for Parquet.
    """

    frame: pd.DataFrame
    encoding: str
    delimiter: str

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.frame.columns]

    @property
    def missing(self) -> dict[str, int]:
        """Number of missing cells of each column that has any."""
        counts = self.frame.isna().sum()
        return {str(name): int(count) for name, count in counts.items() if count}


def read_table(content: bytes, filename: str, *, encoding: str | None = None) -> RawTable:
    """Read CSV, TSV or Parquet bytes; encoding and delimiter are detected.

    encoding: to use instead of the detected one; some (Western and Central European) cannot be
        told apart from the bytes alone.
    Cells that are empty or say NA, N/A, NaN, null or ? are missing.
    Raises DataError if it is empty, too large, no table, or has bad column names.
    """
    if len(content) > MAX_BYTES:
        raise DataError(
            f"The file has {len(content) / 1e6:,.0f} MB, more than {MAX_BYTES / 1e6:,.0f} MB; "
            "give fewer rows or columns."
        )
    if not content.strip():
        raise _empty()
    if filename.lower().endswith((".parquet", ".pq")) or content[:4] == b"PAR1":
        table = RawTable(_read_parquet(content), "", "")
    else:
        table = _read_text(content, filename, encoding)
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


def _read_parquet(content: bytes) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    damaged = DataError("The Parquet file cannot be read; it may be damaged, so write it anew.")
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        schema = file.schema_arrow
    except (pa.ArrowException, OSError, ValueError):
        raise damaged from None
    names = [str(name) for name in schema.names]
    check_names(names)
    for field in schema:
        if is_unfit(field.type):
            raise DataError(
                f"Column {short(field.name)!r} holds lists or bytes; keep one value in each cell."
            )
    cells = file.metadata.num_rows * len(names)
    if cells > MAX_CELLS:
        raise DataError(
            f"The file has {cells:,} cells, more than {MAX_CELLS:,}; give fewer rows or columns, "
            "or count it where it is, by `python -m privcore discover --table`."
        )
    try:
        table = file.read()
        columns = {
            name: [cell_text(value) for value in column.to_pylist()]
            for name, column in zip(names, table.columns, strict=True)
        }
    except (pa.ArrowException, OSError, ValueError, OverflowError):
        raise damaged from None
    return pd.DataFrame(columns, dtype=object)


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
    return None if text.lower() in _MISSING else text


def _read_text(content: bytes, filename: str, encoding: str | None) -> RawTable:
    text, encoding = decode(content, encoding)
    if not text.strip():
        raise _empty()
    tabbed = filename.lower().endswith((".tsv", ".tab")) and "\t" in text[:100_000]
    delimiter = "\t" if tabbed else find_delimiter(text)
    header: list[str] = []
    rows = []
    try:
        for number, row in enumerate(
            csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 1
        ):
            if not row:
                continue
            if not header:
                header = [name.strip() for name in row]
                check_names(header)
                continue
            if len(row) != len(header):
                raise DataError(
                    f"Row {number} has {len(row)} cells where the header has {len(header)}; "
                    "give every row the same number, with quotes around cells that hold "
                    f"the delimiter {_name_of(delimiter)}."
                )
            rows.append(row)
    except csv.Error:
        raise DataError("The file is not a readable table; save it as CSV with a header.") from None
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    frame = pd.DataFrame(
        {name: list(map(cell_text, cells)) for name, cells in zip(header, columns, strict=True)},
        dtype=object,
    )
    return RawTable(frame, encoding, delimiter)


def _name_of(delimiter: str) -> str:
    return {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}[delimiter]
