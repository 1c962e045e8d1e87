"""Reads files of SPSS, Stata, SAS and R as cells of text, with the levels listed in the files."""

from __future__ import annotations

import bz2
import datetime
import gzip
import io
import lzma
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.errors import DataError
from privcore.intake.cells import MAX_CELLS
from privcore.intake.decoding import survives
from privcore.text import short

# Most bytes of a file of R, uncompressed.
MAX_UNPACKED = 2 << 30
_SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_PORTABLE = b"SPSS PORT FILE"
_R_DATA = tuple(b"RD" + form + b"\n" for form in (b"X2", b"X3", b"A2", b"A3", b"B2", b"B3"))
_R_PLAIN = (b"X\n\0\0\0", b"A\n", b"B\n")
_R_PACKED: dict[bytes, Callable[[io.BytesIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}
_R_NAMES = (".rds", ".rda", ".rdata")
_PROGRAMS = {"sav": "SPSS", "por": "SPSS", "dta": "Stata", "R": "R"}
# Whole numbers up to here are exact.
_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Labelled:
    """A table as text, with the levels of its variables.

    frame: a categorical column for each variable, missing cells NaN.  levels: for variables with
    value labels, all labels in the order of their codes, including labels that occur in no row.
    codes: for these variables, the code of each label, as text.
    ordered: variables that the file declares ordered.  notes: what the reader changed, one sentence
    each.
    """

    frame: pd.DataFrame
    levels: Mapping[str, tuple[str, ...]]
    codes: Mapping[str, Mapping[str, str]]
    ordered: frozenset[str]
    notes: tuple[str, ...]


def is_statistics_file(content: bytes, filename: str) -> bool:
    """Whether the bytes are an SPSS, Stata, SAS or R file; in doubt, the file name decides."""
    return _kind(content, filename) is not None


def read_statistics(content: bytes, filename: str) -> Labelled:
    """Reads the table in a file, with codes replaced by their labels.

    Raises DataError for a file that cannot be read, is too large, or holds no table.
    """
    kind = _kind(content, filename)
    with _reading(kind):
        if kind == "R":
            return _read_r(content)
        return _read_stat(content, kind)


def _kind(content: bytes, filename: str) -> str | None:
    ending = PurePath(filename.lower()).suffix
    if content.startswith((b"$FL2", b"$FL3")):
        return "sav"
    if content.startswith(b"<stata_dta>"):
        return "dta"
    # Before version 13, a file begins with nothing but its version and byte order.
    if ending == ".dta" and content[:1] and 102 <= content[0] <= 115 and content[1:2] in b"\1\2":
        return "dta"
    if content.startswith(_SAS):
        return "sas7bdat"
    if content.startswith(b"HEADER RECORD*******"):
        return "xport"
    if _PORTABLE in content[:500]:
        return "por"
    if content.startswith(_R_DATA):
        return "R"
    if ending in _R_NAMES and content.startswith((*_R_PLAIN, *_R_PACKED)):
        return "R"
    return None


@contextmanager
def _reading(kind: str | None) -> Iterator[None]:
    """Replaces errors of the libraries, whose text may quote cells, by one sentence."""
    try:
        yield
    except DataError:
        raise
    except Exception:
        raise _damaged(kind) from None


def _damaged(kind: str | None) -> DataError:
    program = _PROGRAMS.get(kind or "", "SAS")
    return DataError("statistics-file-unreadable", program=program)


# SPSS, Stata and SAS.

# How numbers that are dates, moments or times of day are shown, by program.
_DAYS = {
    "SPSS": {"DATE", "ADATE", "EDATE", "JDATE", "SDATE"},
    "Stata": {"%td", "%d", "%tdD_m_Y", "%tdCCYY-NN-DD"},
    "SAS": {
        *("DATE", "DTDATE", "WEEKDATE", "WEEKDATX", "IS8601DA", "E8601DA", "B8601DA"),
        *(form + mark for form in ("MMDDYY", "DDMMYY", "YYMMDD") for mark in ("", *"BCDNPS")),
    },
}
_MOMENTS = {
    "SPSS": {"DATETIME", "YMDHMS"},
    "Stata": {"%tC", "%tc"},
    "SAS": {"DATETIME", "DATEAMPM", "MDYAMPM", "E8601DT", "IS8601DT", "B8601DT", "B8601DN"},
}
_TIMES = {
    "SPSS": {"TIME", "DTIME"},
    "Stata": {"%tcHH:MM:SS", "%tcHH:MM"},
    "SAS": {"TIME", "HHMM", "TOD", "TIMEAMPM", "IS8601TM", "E8601TM", "B8601TM"},
}
# A name, its width and its decimals.
_FORMAT = re.compile(r"([A-Z][A-Z0-9]+[A-Z])(\d+(\.\d+)?)?")
# The library crashes on one in a hundred damaged files of SPSS, while it reads their dictionary.
_FRAGILE = {"sav"}
_LOOK = """
import io, pyreadstat
read = getattr(pyreadstat, "read_" + sys.argv[2])
read(io.BytesIO(sys.stdin.buffer.read()), metadataonly=True, output_format="dict")
"""


def _read_stat(content: bytes, kind: str | None) -> Labelled:
    import pyreadstat

    if kind is None:
        raise DataError("no-statistics-file")
    read = getattr(pyreadstat, f"read_{kind}")
    # Declared missing values are kept until the labels of the others are known.  The library
    # refuses a file for a single date outside Python's calendar.
    options = {"disable_datetime_conversion": True}
    options |= {"user_missing": True} if kind in {"sav", "dta", "sas7bdat"} else {}
    if kind in _FRAGILE and not survives(_LOOK, content, kind):
        raise _damaged(kind)
    _, about = read(io.BytesIO(content), metadataonly=True)
    names = list(about.column_names)
    # One row more than allowed, so that a file that is too large is noticed.  Without a bound, a
    # damaged number of rows would take all memory.
    limit = MAX_CELLS // max(1, len(names))
    table, about = read(io.BytesIO(content), row_limit=limit + 1, **options)
    if len(table) > limit:
        raise _too_large()
    columns: list[pd.Categorical] = []
    codes: dict[str, dict[str, str]] = {}
    declared: list[str] = []
    for place, name in enumerate(names):
        variable = _Variable(
            labels=about.variable_value_labels.get(name, {}),
            ranges=about.missing_ranges.get(name, ()),
            kind=about.readstat_variable_types.get(name, ""),
            program=_PROGRAMS.get(kind, "SAS"),
            form=about.original_variable_types.get(name) or "",
        )
        column, some = variable.read(table.iloc[:, place])
        columns.append(column)
        if variable.names:
            codes[name.strip()] = {v: _text(code) or "" for code, v in variable.names.items()}
        if some:
            declared.append(name.strip())
    notes = []
    if declared:
        notes.append(f"Values declared missing in {_columns(declared)} are read as missing.")
    ordered = {
        name.strip() for name, measure in about.variable_measure.items() if measure == "ordinal"
    }
    levels = {name: tuple(labels) for name, labels in codes.items()}
    return Labelled(_frame(names, columns), levels, codes, frozenset(ordered), tuple(notes))


@dataclass(frozen=True)
class _Variable:
    """The dictionary entry of a variable.

    labels: the label of each code.  ranges: codes declared missing, from "lo" to "hi" inclusive.
    kind: how values are stored.  program: the program that wrote the file.  form: the program's
    name of how values are shown.
    """

    labels: Mapping[Any, str]
    ranges: Sequence[Mapping[str, Any]]
    kind: str
    program: str
    form: str

    def read(self, cells: pd.Series[Any]) -> tuple[pd.Categorical, bool]:
        """The column, and whether some of its values are declared missing.

        A value with a label is read as its label, whatever the other rows hold.
        """
        codes, distinct = pd.factorize(cells)
        used = set(self.names.values())
        texts: list[str | None] = []
        absent = [self._is_missing(value) for value in distinct]
        for value, gone in zip(distinct, absent, strict=True):
            if gone:
                texts.append(None)
            elif value in self.names:
                texts.append(self.names[value])
            else:
                text = _text(self._shown(value), single=self.kind == "float")
                # A number that equals the label of another code is a separate level.
                texts.append(f"{text} (no label)" if text in used else text)
        return _categorical(codes, texts), bool(self.ranges) or any(absent)

    def _shown(self, value: Any) -> Any:
        """The date, moment or time of day that a number stands for; None outside the calendar."""
        match, program = _FORMAT.fullmatch(self.form), self.program
        form = match[1] if match else self.form
        day, time = form in _DAYS[program], form in _TIMES[program]
        if isinstance(value, str) or not (day or time or form in _MOMENTS[program]):
            return value
        number, origin = float(value), datetime.datetime(1960, 1, 1)
        if program == "SPSS":
            origin = datetime.datetime(1582, 10, 14)
        elif day:
            number *= 86_400
        elif program == "Stata":
            number /= 1_000
        try:
            moment = origin + datetime.timedelta(seconds=number)
        except (OverflowError, ValueError):
            return None
        return moment.date() if day else moment.time() if time else moment

    def _is_missing(self, value: Any) -> bool:
        if isinstance(value, str) and self.kind != "string":
            # The missing numbers .a to .z come as letters.
            return True
        if not isinstance(value, str | int | float | np.number):
            return False
        return any(
            isinstance(value, str) == isinstance(bound["lo"], str)
            and bound["lo"] <= value <= bound["hi"]
            for bound in self.ranges
        )

    @cached_property
    def names(self) -> dict[Any, str]:
        """Distinct labels by code, in order; empty if fewer than two codes have labels."""
        codes = sorted(code for code in self.labels if not self._is_missing(code))
        if len(codes) < 2:
            return {}
        names = {code: self.labels[code].strip() or _text(code) or "" for code in codes}
        shared = Counter(names.values())
        labels: dict[Any, str] = {}
        for code, name in names.items():
            # The code makes labels distinct; a label may already look like one with its code.
            taken = shared[name] > 1
            while taken:
                name = f"{name} ({_text(code)})"
                taken = name in shared or name in labels.values()
            labels[code] = name
        return labels


# R.


@dataclass(frozen=True)
class _Factor:
    codes: NDArray[np.intp]
    levels: tuple[str, ...]
    ordered: bool


@dataclass(frozen=True)
class _RFrame:
    names: list[str]
    columns: list[Any]


def _read_r(content: bytes) -> Labelled:
    from rdata.conversion import convert
    from rdata.parser import parse_data

    for mark, opened in _R_PACKED.items():
        if content.startswith(mark):
            with opened(io.BytesIO(content)) as stream:
                content = stream.read(MAX_UNPACKED + 1)
    if len(content) > MAX_UNPACKED:
        raise _too_large()
    many = content.startswith(_R_DATA)
    with warnings.catch_warnings():
        # Warnings about classes read as their underlying types, and about guessed encodings.
        warnings.simplefilter("ignore")
        value = convert(
            parse_data(content, extension=".rda" if many else ".rds"),
            constructor_dict=_R_CLASSES,
            default_encoding="utf-8",
        )
    held = list(value.values()) if many and isinstance(value, Mapping) else [value]
    frames = [each for each in held if isinstance(each, _RFrame)]
    if len(frames) != 1:
        raise DataError("r-file-holds-data-frames", number=len(frames) or "no")
    frame = frames[0]
    columns, levels, ordered = [], {}, set()
    for name, values in zip(frame.names, frame.columns, strict=True):
        if isinstance(values, _Factor):
            columns.append(_categorical(values.codes, values.levels))
            levels[name.strip()] = values.levels
            if values.ordered:
                ordered.add(name.strip())
        else:
            columns.append(_r_column(name, values))
    if sum(len(column) for column in columns) > MAX_CELLS:
        raise _too_large()
    return Labelled(_frame(frame.names, columns), levels, {}, frozenset(ordered), ())


def _r_column(name: str, values: Any) -> pd.Categorical:
    # Named vectors come as arrays of another library, which wrap one of NumPy.
    values = getattr(values, "values", values)
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind == "c":
        raise DataError("column-holds-lists-matrices-complex-numbers", name=short(name))
    hidden = np.ma.getmaskarray(values)
    codes, distinct = pd.factorize(np.ma.getdata(values))
    return _categorical(np.where(hidden, -1, codes), [_text(value) for value in distinct])


def _r_frame(values: Any, attributes: Mapping[str, Any]) -> _RFrame:
    names = [str(name) for name in attributes.get("names", ())]
    columns = list(values.values()) if isinstance(values, Mapping) else list(values)
    if len(names) != len(columns):
        raise DataError("columns-of-one-name")
    return _RFrame(names, columns)


def _r_factor(values: Any, attributes: Mapping[str, Any]) -> _Factor:
    levels = tuple(str(level) for level in attributes["levels"])
    codes = np.ma.filled(values, 0).astype(np.intp) - 1
    return _Factor(codes, levels, "ordered" in attributes["class"])


def _r_dates(values: Any, _: Mapping[str, Any]) -> NDArray[Any]:
    return _since_1970(values, "D")


def _r_times(values: Any, _: Mapping[str, Any]) -> NDArray[Any]:
    return _since_1970(values, "s")


def _since_1970(values: Any, unit: str) -> NDArray[Any]:
    """Days or seconds as dates or times, in UTC; fractions are dropped."""
    numbers = np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan)
    known = np.isfinite(numbers)
    whole = np.floor(np.where(known, numbers, 0)).astype(np.int64)
    moments = whole.astype(f"datetime64[{unit}]")
    # Outside the range of Python's dates, no date or time is written.
    within = (
        known & (moments >= np.datetime64("0001-01-01")) & (moments < np.datetime64("10000-01-01"))
    )
    dates = np.full(len(numbers), None, dtype=object)
    dates[within] = moments[within].astype(object)
    return dates


def _r_long(values: Any, _: Mapping[str, Any]) -> NDArray[Any]:
    """64-bit whole numbers, which the package bit64 stores in the bytes of doubles."""
    numbers = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.ma.masked_equal(numbers, np.iinfo(np.int64).min)


_R_CLASSES: dict[str | bytes, Callable[[Any, Mapping[str, Any]], Any]] = {
    "data.frame": _r_frame,
    "factor": _r_factor,
    "ordered": _r_factor,
    "Date": _r_dates,
    "POSIXct": _r_times,
    "integer64": _r_long,
}


# All of them.


def _text(value: Any, *, single: bool = False) -> str | None:
    """A value as text, or None if the value is empty.

    single: whether the value was stored with 24 bits of precision.
    """
    if value is None or isinstance(value, str):
        return value if value and value.strip() else None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        number = float(value)
        if number.is_integer() and abs(number) <= _EXACT:
            return str(int(number))
        return str(np.float32(number)) if single else repr(number)
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return None if pd.isna(value) else str(value)


def _categorical(codes: NDArray[np.intp], texts: Sequence[str | None]) -> pd.Categorical:
    """A column of texts by their positions; position -1 and the text None are missing."""
    places: dict[str, int] = {}
    owner = [-1 if text is None else places.setdefault(text, len(places)) for text in texts]
    # The last entry is the one at position -1.
    owners = np.array([*owner, -1], dtype=np.int32)
    return pd.Categorical.from_codes(owners[codes], pd.Index(list(places), dtype=object))


def _frame(names: Sequence[str], columns: Sequence[pd.Categorical]) -> pd.DataFrame:
    """A table of columns; names need not be distinct yet."""
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index([name.strip() for name in names], dtype=object)
    return frame


def _columns(names: Sequence[str]) -> str:
    """The number of columns, and the names of the first ones."""
    listed = ", ".join(short(name) for name in names[:5]) + ", …" * (len(names) > 5)
    return f"{len(names)} column{'s' * (len(names) > 1)} ({listed})"


def _too_large() -> DataError:
    return DataError("table-more-than-cells", max_cells=MAX_CELLS)
