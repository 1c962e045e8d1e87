"""Reading a user's table: bytes to a raw table of text, before any kind is decided.

Nothing is written to disk and nothing is logged; errors never quote a value.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import islice

import pandas as pd
from charset_normalizer import from_bytes

from privcore.dataset.model import check_names
from privcore.errors import DataError
from privcore.text import short

MAX_BYTES = 100_000_000
ENCODINGS = (
    "utf-8",
    "cp1252",
    "cp1250",
    "cp1251",
    "cp1253",
    "shift_jis",
    "gb18030",
    "big5",
    "euc_kr",
)
_DELIMITERS = ",;\t|"
_MISSING = {"", "na", "n/a", "nan", "null", "?"}
_BINARY_STARTS = (b"\x89PNG", b"\xff\xd8\xff", b"PK\x03\x04", b"%PDF", b"\x1f\x8b", b"GIF8")
_TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt")


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
        raise DataError("The file is empty; give a table with a header and at least 2 rows.")
    if filename.lower().endswith((".parquet", ".pq")) or content[:4] == b"PAR1":
        table = RawTable(_read_parquet(content), "", "")
    else:
        table = _read_text(content, filename, encoding)
    _check(table)
    return table


def _check(table: RawTable) -> None:
    check_names(table.names)
    rows = len(table.frame)
    if rows == 0:
        raise DataError("The file has a header but no rows; give at least 2 rows.")
    if rows == 1:
        raise DataError("The file has 1 row; give at least 2.")


def _read_parquet(content: bytes) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(content))
    except (pa.ArrowException, OSError, ValueError):
        raise DataError(
            "The Parquet file cannot be read; it may be damaged, so write it anew."
        ) from None
    for field in table.schema:
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type):
            raise DataError(
                f"Column {short(field.name)!r} holds lists or bytes; keep one value in each cell."
            )
    check_names([str(name) for name in table.column_names])
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        columns[str(name)] = [_cell(value) for value in column.to_pylist()]
    return pd.DataFrame(columns, dtype=object)


def _cell(value: object) -> str | None:
    if value is None:
        return None
    text = str(value).strip()
    return None if text.lower() in _MISSING else text


def _read_text(content: bytes, filename: str, encoding: str | None) -> RawTable:
    text, encoding = _decode(content, encoding)
    tabbed = filename.lower().endswith((".tsv", ".tab"))
    delimiter = "\t" if tabbed else _find_delimiter(text)
    # The standard reader refuses fields above 128 kB; our own limits are clearer.
    csv.field_size_limit(len(text) + 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = [row for row in reader if row]
    except csv.Error:
        raise DataError("The file is not a readable table; save it as CSV with a header.") from None
    header = [name.strip() for name in rows[0]]
    check_names(header)
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise DataError(
                f"Row {number} has {len(row)} cells where the header has {len(header)}; "
                "give every row the same number, with quotes around cells that hold "
                f"the delimiter {_name_of(delimiter)}."
            )
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else ([] for _ in header)
    frame = pd.DataFrame(
        {name: [_cell(v) for v in column] for name, column in zip(header, columns, strict=True)},
        dtype=object,
    )
    return RawTable(frame, encoding, delimiter)


def _name_of(delimiter: str) -> str:
    return {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}[delimiter]


def _decode(content: bytes, wanted: str | None) -> tuple[str, str]:
    """Text and encoding: as wanted, else a byte-order mark, UTF-8, or the likeliest other."""
    if content.startswith(_BINARY_STARTS):
        raise _not_text()
    marks = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    marked = next((e for mark, e in marks.items() if content.startswith(mark)), None)
    if marked is None and b"\x00" in content[:100_000]:
        raise _not_text()
    encoding = wanted or marked
    if encoding is None:
        try:
            return content.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            encoding = _likeliest(content)
    try:
        text = content.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        raise _not_text() from None
    unprintable = sum(not c.isprintable() and c not in "\r\n\t" for c in text[:10_000])
    if unprintable > 0.02 * min(len(text), 10_000):
        raise _not_text()
    return text, encoding


def _likeliest(content: bytes) -> str:
    found = list(from_bytes(content[:200_000], cp_isolation=list(ENCODINGS[1:])))
    if not found:
        raise _not_text()
    best = found[0]
    # Encodings that fit equally well are tried in our order, the most frequent first.
    equal = [m.encoding for m in found if (m.chaos, m.coherence) == (best.chaos, best.coherence)]
    return min(equal, key=ENCODINGS.index)


def _not_text() -> DataError:
    return DataError(
        "The file is neither text in a known encoding nor Parquet; save it as CSV in UTF-8."
    )


def _find_delimiter(text: str) -> str:
    """The delimiter that gives the first rows equally many cells, and the most of them."""

    def quality(delimiter: str) -> tuple[bool, int]:
        lines = io.StringIO(text[:100_000], newline="")
        try:
            rows = list(islice(csv.reader(lines, delimiter=delimiter), 50))
        except csv.Error:
            return False, 0
        # The last row may be cut in the middle.
        sizes = [len(row) for row in rows[: max(1, len(rows) - 1)] if row]
        return len(set(sizes)) == 1 and sizes[0] > 1, max(sizes, default=0)

    return max(_DELIMITERS, key=quality)
