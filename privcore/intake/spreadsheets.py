"""Reads spreadsheets as cells of text: the values saved by Excel or OpenDocument, not formulas."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privcore.errors import DataError
from privcore.intake.cells import MAX_CELLS
from privcore.intake.decoding import survives
from privcore.text import short

if TYPE_CHECKING:
    import pyarrow as pa
    from python_calamine import CalamineSheet, CalamineWorkbook

# Most bytes of all parts of a workbook, uncompressed.
MAX_UNPACKED = 2 << 30
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument.spreadsheet"
# Bytes of a sheet that are scanned at a time, and an overlap longer than any cell reference.
_AT_ONCE, _LONGEST = 1 << 20, 64
# Values of the letters of a column and of the digits of a row in a cell reference; -1 for others.
_LETTERS, _DIGITS = np.full(256, -1, np.int64), np.full(256, -1, np.int64)
_LETTERS[ord("A") : ord("Z") + 1] = _LETTERS[ord("a") : ord("z") + 1] = range(1, 27)
_DIGITS[ord("0") : ord("9") + 1] = range(10)
# A sheet with fewer cells than this share of the largest sheet's is taken for notes.
_NOTES = 0.1
# Distinct cells whose texts are cached.
_KEPT = 1 << 16
# Whole numbers up to here are exact; larger ones have 15 digits, as in Excel.
_EXACT = 2.0**53
# In damaged files of old Excel the library may follow a cycle until the memory is full.
_LOOK = """
import io, python_calamine
book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(sys.stdin.buffer.read()))
for name in book.sheet_names:
    book.get_sheet_by_name(name)
"""


@dataclass(frozen=True, eq=False)
class Sheet:
    """One sheet of a workbook as rows of text, which can be read once.

    names: names of all visible sheets with cells, in the workbook's order; names of the hidden
    sheets if no visible sheet has cells.  values: rows as the library returns them, of equal
    length, "" for an empty cell.
    cells: number of rows times number of columns.
    """

    name: str
    names: tuple[str, ...]
    values: Iterator[list[Any]]
    cells: int

    @property
    def rows(self) -> Iterator[list[str]]:
        """Yields the rows that have not been read yet, as text."""
        return map(_Texts().row, self.values)


def is_spreadsheet(content: bytes) -> bool:
    """Whether the bytes are a workbook or an older Office file, judged by their content."""
    if content.startswith(_OLE):
        return True
    if not content.startswith(_ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            names = parts.namelist()
            if any(name.startswith("xl/") for name in names):
                return True
            if "mimetype" not in names:
                return False
            with parts.open("mimetype") as kind:
                return kind.read(len(_OPEN_DOCUMENT)) == _OPEN_DOCUMENT
    except Exception:
        # Damaged bytes raise errors of many kinds.
        return False


def read_sheet(content: bytes, wanted: str | None = None) -> Sheet:
    """Reads the sheet called `wanted`, or the first visible sheet that holds a table.

    Raises DataError for a workbook that cannot be read, is too large, or has no such sheet.
    """
    from python_calamine import CalamineWorkbook

    with _reading():
        if content.startswith(_ZIP):
            _check_parts(content)
        elif not survives(_LOOK, content):
            raise _damaged()
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        names, sheet = _find(book, wanted)
        cells = sheet.height * sheet.width
        if cells > MAX_CELLS:
            raise _too_wide()
        return Sheet(sheet.name, names, _values(sheet), cells)


@contextmanager
def _reading() -> Iterator[None]:
    """Replaces errors of the libraries, whose text may quote cells, by one sentence."""
    try:
        yield
    except DataError:
        raise
    except BaseException as error:
        # A panic in Rust is not an Exception, and its class has no public name.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise _damaged() from None


def _damaged() -> DataError:
    return DataError("password")


def _check_parts(content: bytes) -> None:
    """Raises DataError for a workbook that would fill the memory; every part is unpacked once.

    Sizes in a zip's directory may be wrong, so parts are read by zipfile, which stops at the stated
    size and compares checksums.  The library allocates all cells between the first and the last:
    one stray cell in the far corner of a sheet would take memory for 17 billion cells.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        if sum(part.file_size for part in parts.infolist()) > MAX_UNPACKED:
            raise DataError("unpacks-to-too-much", max_unpacked=MAX_UNPACKED / 2**30)
        for part in parts.infolist():
            rows = columns = 0
            tail = b""
            with parts.open(part) as stream:
                while piece := stream.read(_AT_ONCE):
                    last_row, last_column = _last_places(tail + piece)
                    rows, columns = max(rows, last_row), max(columns, last_column)
                    if rows * columns > MAX_CELLS:
                        raise _too_wide()
                    # A cell reference may be split in two; none is longer than the overlap.
                    tail = piece[-_LONGEST:]


def _last_places(xml: bytes) -> tuple[int, int]:
    """The last row and the last column of references such as r="AB12" in a piece of a sheet."""
    text = np.frombuffer(xml + bytes(_LONGEST), np.uint8)
    starts = (text[:-2] <= ord(" ")) & (text[1:-1] == ord("r")) & (text[2:] == ord("="))
    at = np.flatnonzero(starts[:-_LONGEST]) + len(' r="')
    last = []
    for base, values, longest in ((26, _LETTERS, 12), (10, _DIGITS, 18)):
        number = np.zeros(len(at), np.int64)
        for _ in range(longest):
            value = values[text[at]]
            inside = value >= 0
            if not inside.any():
                break
            number[inside] = base * number[inside] + value[inside]
            at += inside
        last.append(int(number.max(initial=0)))
    return last[1], last[0]


def _too_wide() -> DataError:
    return DataError("sheet-spans-too-much", cells=MAX_CELLS)


def _find(book: CalamineWorkbook, wanted: str | None) -> tuple[tuple[str, ...], CalamineSheet]:
    """Names of the sheets that can be read, and the sheet to read."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    shown: list[str] = []
    hidden: list[str] = []
    chosen: CalamineSheet | None = None
    sheets: list[CalamineSheet] = []
    for about in book.sheets_metadata:
        if about.typ != SheetTypeEnum.WorkSheet:
            continue
        sheet = book.get_sheet_by_name(about.name)
        if not sheet.height * sheet.width:
            continue
        visible = about.visible == SheetVisibleEnum.Visible
        (shown if visible else hidden).append(about.name)
        # A hidden sheet is read if it is wanted, or if no visible one holds cells.
        if about.name == wanted:
            chosen = sheet
        elif visible:
            sheets.append(sheet)
    names = tuple(shown or hidden)
    if not names:
        raise DataError("no-sheet-with-cells")
    if wanted is None:
        most = max((sheet.height * sheet.width for sheet in sheets), default=0)
        large = (sheet for sheet in sheets if sheet.height * sheet.width >= _NOTES * most)
        chosen = next(large, None) or book.get_sheet_by_name(names[0])
    if chosen is None:
        listed = ", ".join(repr(short(name)) for name in names[:10])
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        raise DataError("workbook-no-sheet-cells", wanted=short(wanted), listed=listed, more=more)
    return names, chosen


def _values(sheet: CalamineSheet) -> Iterator[list[Any]]:
    """Rows of a sheet, from the first that holds a cell."""
    first = sheet.start[0] if sheet.start else 0
    with _reading():
        yield from islice(sheet.iter_rows(), first, None)


def text_columns(rows: Sequence[Sequence[Any]]) -> Iterator[pa.Array]:
    """Yields the columns of some rows as text; rows without a value are left out."""
    import pyarrow as pa

    text = _Texts()
    filled = [row for row in rows if row.count("") < len(row)]
    for cells in zip(*filled, strict=True):
        types = set(map(type, cells))
        if types == {float}:
            yield _number_texts(np.array(cells))
        elif bool in types:
            yield pa.array(text.row(cells), pa.string())
        else:
            yield pa.array(cells if types == {str} else list(map(text.__getitem__, cells)))


def _number_texts(numbers: NDArray[np.float64]) -> pa.Array:
    """Texts of numbers as `_number` writes them; Arrow writes most short numbers in this way."""
    import pyarrow as pa
    from pyarrow import compute

    texts = pa.array(numbers).cast(pa.string())
    plain = compute.match_substring_regex(texts, r"^-?(0|[1-9]\d*)(\.\d*[1-9])?$")
    plain = compute.and_(plain, compute.less_equal(compute.binary_length(texts), 15))
    size = np.abs(numbers)
    same = plain.to_numpy(zero_copy_only=False) & ((size >= 1e-4) & (size < 1e14))
    if same.all():
        return texts
    others = pa.array([_number(number) for number in numbers[~same].tolist()], pa.string())
    return compute.replace_with_mask(texts, pa.array(~same), others)


class _Texts(dict[Any, str]):
    """Texts of cells, cached while there are not too many.

    Truth values are not cached, because True equals 1.
    """

    def __missing__(self, cell: Any) -> str:
        text = _WRITE[type(cell)](cell)
        if len(self) < _KEPT:
            self[cell] = text
        return text

    def row(self, cells: Sequence[Any]) -> list[str]:
        return [
            self[cell] if type(cell) is not bool else "true" if cell else "false" for cell in cells
        ]


def _number(value: float) -> str:
    if value.is_integer() and abs(value) <= _EXACT:
        return str(int(value))
    return f"{value:.15g}"


def _moment(value: datetime.datetime) -> str:
    midnight = value.time() == datetime.time()
    return value.date().isoformat() if midnight else value.isoformat(" ")


def _duration(value: datetime.timedelta) -> str:
    """Hours, minutes and seconds, such as 36:00:00."""
    seconds = round(value.total_seconds())
    hours, rest = divmod(abs(seconds), 3600)
    return f"{'-' * (seconds < 0)}{hours}:{rest // 60:02}:{rest % 60:02}"


_WRITE: dict[type, Callable[[Any], str]] = {
    str: str,
    int: str,
    float: _number,
    datetime.date: datetime.date.isoformat,
    datetime.datetime: _moment,
    datetime.time: datetime.time.isoformat,
    datetime.timedelta: _duration,
}
