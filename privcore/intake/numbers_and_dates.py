"""How people write numbers and dates.

How the cells of a column are written: numbers with their marks and units, and missing values.

A `Writing` is part of a schema, so how a cell is read does not depend on other rows.

Columns of dates; a graph uses one part of each date, such as the month.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.arrays import Vector
from privcore.data.discretise import CURRENCIES
from privcore.errors import DataError
from privcore.text import short

_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|BRL|ZAR"
# Sign, currency, digits with marks in between, and a unit without digits.
_NUMBER = re.compile(
    rf"(?P<sign>[+\-−]?)\s*(?P<before>[{CURRENCIES}]|(?:{_CODES})\b)?\s*(?P<minus>[+\-−]?)"
    r"(?P<digits>[\d.,]?\d[\d.,'’\s]*)(?P<power>[eE][+-]?\d+)?"
    r"\s*(?P<after>[^\W\d][^\d]*|[%‰°²³/µ" + CURRENCIES + r"][^\d]*)?"
)
# With these a number is a rank, a multiple or a bound, not a quantity.
_NO_UNIT = {"st", "nd", "rd", "th", "k", "m", "mio", "bn", "mrd", "x"}
# More digits than a number can hold exactly, and codes such as 01307.
_CODE = r"^[+-]?(\d{16,}(\.0*)?|0\d+)$"
# A whole number as programs write it among numbers with decimals.
_WHOLE = re.compile(r"(?:-(?=0))?(0|-?[1-9]\d*)\.0", re.ASCII)
# Short forms of the two truth values, as R and SQL write them.
_TRUTH = {"t": "true", "f": "false"}


@dataclass(frozen=True)
class Writing:
    """How the cells of a column are written.

    decimal: the decimal mark, a point or a comma; the other mark, spaces and apostrophes then
        separate thousands.  Empty for numbers that Python can read.
    unit: unit written next to each number, such as "mg", "%" or "$".
    missing_codes: cells that mean a missing value, such as "99"; numbers are compared as numbers.
    ignore_case: whether levels that differ only in case and spaces are merged.

    Raises DataError for an unknown decimal mark.
    """

    decimal: Literal["", ".", ","] = ""
    unit: str = ""
    missing_codes: tuple[str, ...] = ()
    ignore_case: bool = False

    def __post_init__(self) -> None:
        if self.decimal not in ("", ".", ","):
            raise DataError("decimal-mark", mark=short(self.decimal))

    def present(self, cells: pd.Series[Any]) -> pd.Series[Any]:
        """The cells, None where they hold a code for a missing value."""
        if not self.missing_codes:
            return cells
        codes = set(self.missing_codes)
        values = {float(code) for code in codes if _is_plain(code)}
        return each(
            cells,
            lambda text: (
                None if text in codes or (_is_plain(text) and float(text) in values) else text
            ),
        )

    def numbers(self, cells: pd.Series[Any]) -> pd.Series[Any]:
        """The cells with numbers as Python writes them; other cells are unchanged."""
        if not self.decimal:
            return cells
        return each(cells, lambda text: plain_number(text, self.decimal, self.unit) or text)

    def levels(self, cells: pd.Series[Any], levels: Sequence[str]) -> pd.Series[Any]:
        """The cells with each spelling replaced by its level; other cells are unchanged.

        1.0 is a spelling of 1: programs write a column of whole numbers with decimals as soon as
        one of them is missing.
        """

        def key(text: str) -> str:
            whole = _WHOLE.fullmatch(text)
            return whole[1] if whole else spelling(text) if self.ignore_case else text

        own, spelt = set(levels), {key(level): level for level in reversed(levels)}
        return each(cells, lambda text: text if text in own else spelt.get(key(text), text))


PLAIN = Writing()


def each(cells: pd.Series[Any], change: Callable[[str], str | None]) -> pd.Series[Any]:
    """Applies `change` to the cells, once for each distinct cell; missing cells stay missing."""
    owner, distinct = pd.factorize(cells)
    changed = np.array([*(change(str(text)) for text in distinct), None], dtype=object)
    return pd.Series(changed[owner], index=cells.index, dtype=object)


def spelling(level: str) -> str:
    """The normal form that all spellings of a level share."""
    words = " ".join(level.casefold().split())
    return _TRUTH.get(words, words)


def any_code(texts: Sequence[str] | pd.Series[Any]) -> bool:
    """Whether any text is a code rather than a number: 01307, or a number of 16 or more digits."""
    import pyarrow as pa
    from pyarrow import compute

    match = compute.match_substring_regex(pa.array(texts, pa.large_string()), _CODE)
    return bool(compute.any(match).as_py())


def in_text_order(texts: NDArray[np.object_]) -> NDArray[np.int64]:
    """Positions that sort the texts by their characters."""
    import pyarrow as pa
    from pyarrow import compute

    order = compute.sort_indices(pa.array(texts, pa.large_string()))
    return np.asarray(order.to_numpy(), dtype=np.int64)


def plain_number(text: str, decimal: str, unit: str) -> str | None:
    """A number as Python writes it, None if the text is not a number."""
    parts = _parts_of(text)
    if parts is None or parts[2].casefold() not in ("", unit.casefold()):
        return None
    digits, power = parts[1], parts[3]
    whole, _, rest = digits.partition(decimal)
    groups = re.split(r"[,\s'’]" if decimal == "." else r"[.\s'’]", whole)
    if (rest and not rest.isdigit()) or (len(groups) > 1 and not _in_thousands(groups)):
        return None
    number = f"{parts[0]}{''.join(groups)}.{rest or '0'}" if rest else parts[0] + "".join(groups)
    return number + power if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", number) else None


def writing_of(distinct: Sequence[str], rows: Vector, least: float) -> Writing | None:
    """The notation in which the cells are written as numbers, or None if they are not numbers.

    rows: number of rows for each distinct cell.  least: share of the rows that must be readable.
    """
    if any_code(distinct):
        return None
    taken = [_parts_of(text) for text in distinct]
    total = float(rows.sum())
    if sum(r for r, parts in zip(rows, taken, strict=True) if parts is not None) < least * total:
        return None
    units: dict[str, float] = {}
    for parts, count in zip(taken, rows, strict=True):
        if parts is not None and parts[2]:
            units[parts[2]] = units.get(parts[2], 0.0) + float(count)
    unit = max(units, key=lambda text: units[text]) if units else ""
    if unit.casefold() in _NO_UNIT:
        return None
    decimal = _decimal_mark([parts[1] for parts in taken if parts is not None])
    if decimal is None:
        return None
    read = [plain_number(text, decimal, unit) is not None for text in distinct]
    return Writing(decimal, unit) if float(rows[np.array(read)].sum()) >= least * total else None


def _parts_of(text: str) -> tuple[str, str, str, str] | None:
    """Sign, digits with their marks, unit and power of ten of a number."""
    text = text.strip()
    bracketed = text.startswith("(") and text.endswith(")")
    match = _NUMBER.fullmatch(text[1:-1].strip() if bracketed else text)
    if match is None:
        return None
    sign = match["sign"] or match["minus"]
    if (match["sign"] and match["minus"]) or (match["before"] and match["after"]):
        return None
    minus = "-" if sign in ("-", "−") or bracketed else ""
    unit = (match["before"] or match["after"] or "").strip()
    return minus, match["digits"].strip(), unit, match["power"] or ""


def _decimal_mark(digits: Sequence[str]) -> Literal[".", ","] | None:
    """The decimal mark that fits all numbers; a point if none has decimals."""
    marks: set[Literal[".", ","]] = set()
    for text in digits:
        points, commas = text.count("."), text.count(",")
        if points and commas:
            marks.add("." if text.rfind(".") > text.rfind(",") else ",")
        elif points > 1 or commas > 1:
            marks.add("," if points else ".")
        elif commas and not _in_thousands(re.split(r"[,\s'’]", text)):
            marks.add(",")
        elif points and not _in_thousands(re.split(r"[.\s'’]", text)):
            marks.add(".")
    if len(marks) > 1:
        return None
    return marks.pop() if marks else "."


def _in_thousands(groups: Sequence[str]) -> bool:
    return 1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])


def _is_plain(text: str) -> bool:
    return bool(re.fullmatch(r"[+-]?\d+(\.\d*)?", text))


Part = Literal["month", "weekday", "calendar month", "quarter", "year"]

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Tried in this order.  ISO 8601 covers 2024-05-31, 20240531, 2024-05-31 10:00 and the like.
FORMATS = (
    "ISO8601",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d-%b-%Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d-%b-%y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d.%m.%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
)
# Most levels of a chronological part; a finer part with more is not proposed.
_MOST_IN_ORDER = 12
# Years further apart than this are proposed without the years between them: 9999 means "no end".
_FAR_APART = 1_000
# A number is not read as a date: 2024 or 20240531 stays a number.
_SEPARATED = r"\d.*[-/.: ].*\d"


@dataclass(frozen=True)
class DateReading:
    """How the cells of a date column become levels; each cell is read on its own.

    format: "ISO8601", or a format of `datetime.strptime`.  part: the part of the date that is used.
    Raises DataError for an unknown part, and for a format without day, month and year.
    """

    format: str
    part: Part

    def __post_init__(self) -> None:
        if self.part not in get_args(Part):
            raise DataError(
                "part-of-date-out-of-range",
                part=short(self.part),
                choices=", ".join(get_args(Part)),
            )
        if self.format != "ISO8601" and not (
            re.search("%[Yy]", self.format) and "%d" in self.format
        ):
            raise DataError("date-format-no-day-year", format=short(self.format))

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels known without looking at the rows; empty except for months and weekdays."""
        return {"month": MONTHS, "weekday": WEEKDAYS}.get(self.part, ())

    def read(self, cells: pd.Series[Any]) -> pd.Series[Any]:
        """The part of each date as text, None where a cell is missing or has another format.

        A date counts as it is written, whatever its time zone.
        """
        return each(cells, lambda text: self._part(day_of(text, self.format)))

    def _part(self, day: datetime.date | None) -> str | None:
        if day is None:
            return None
        if self.part == "month":
            return MONTHS[day.month - 1]
        if self.part == "weekday":
            return WEEKDAYS[day.weekday()]
        return _named(self.part, (12 * day.year + day.month - 1) // _MONTHS_OF[self.part])


# Parts in the order of time, the finest first, and their lengths in months.
_MONTHS_OF: dict[Part, int] = {"calendar month": 1, "quarter": 3, "year": 12}


def _named(part: Part, number: int) -> str:
    """A part in the order of time, by its number since the year 0."""
    if part == "calendar month":
        return f"{number // 12}-{number % 12 + 1:02}"
    return f"{number // 4} Q{number % 4 + 1}" if part == "quarter" else str(number)


_ISO_TIME = (
    r"(?:[01]?\d|2[0-4])(?::?[0-5]\d(?::?(?:[0-5]\d|60)(?:[.,]\d+)?)?)?"
    r"\s*(?:Z|UTC|[+\-−]\d{2}(?::?\d{2})?)?"
)
_ISO = re.compile(
    r"(?P<year>\d{4})(?:[-/](?P<month>\d{1,2})(?:[-/](?P<day>\d{1,2}))?|"
    rf"(?P<compact>\d{{4}}))?(?:[T ]{_ISO_TIME})?",
    re.ASCII,
)


def day_of(text: str, form: str) -> datetime.date | None:
    """The day that a cell names, None if the cell has another format.

    Each cell is read by itself, with Python's calendar of the years 1 to 9999 and any number of
    decimals of a second; no word such as "now" is a date.  In ISO 8601, 2024 and 2024-05 name the
    first day.

    >>> day_of("9999-12-31 23:59:59.9999999", "ISO8601"), day_of("now", "ISO8601")
    (datetime.date(9999, 12, 31), None)
    """
    try:
        if form != "ISO8601":
            # A format takes at most six decimals.
            text = re.sub(r"(\.\d{6})\d+", r"\1", text) if "%f" in form else text
            return datetime.datetime.strptime(text, form).date()
        match = _ISO.fullmatch(text)
        if match is None:
            return None
        compact = match["compact"] or ""
        month, day = match["month"] or compact[:2] or 1, match["day"] or compact[2:] or 1
        return datetime.date(int(match["year"]), int(month), int(day))
    except ValueError:
        return None


def parts_by_span(form: str, distinct: Sequence[str]) -> list[tuple[Part, tuple[str, ...]]]:
    """The parts of some dates that have more than one level, the most suitable part first.

    Returns each part with its levels.  The most suitable part is the finest of calendar month,
    quarter and year with at most 12 levels.  The levels of these three parts run from the first
    date to the last without gaps; if these are very far apart, as with 9999 for "no end", only the
    year is offered, with the years that occur.
    """
    days = [day for text in distinct if (day := day_of(str(text), form)) is not None]
    first, last = min(days), max(days)
    parts: list[tuple[Part, tuple[str, ...]]] = []
    if last.year - first.year > _FAR_APART:
        parts.append(("year", tuple(map(str, sorted({day.year for day in days})))))
    else:
        for part, size in _MONTHS_OF.items():
            start, end = ((12 * day.year + day.month - 1) // size for day in (first, last))
            parts.append((part, tuple(_named(part, at) for at in range(start, end + 1))))
    fitting = (at for at, (_, named) in enumerate(parts) if len(named) <= _MOST_IN_ORDER)
    parts.insert(0, parts.pop(next(fitting, len(parts) - 1)))
    parts[1:1] = [("month", MONTHS), ("weekday", WEEKDAYS)]
    return [(part, named) for part, named in parts if len(named) > 1]


def date_format(distinct: pd.Series[Any]) -> str | None:
    """The first format that fits every cell; else the format that fits most cells; else None.

    A format must fit more than 95% of the cells.  A cell such as 03/04/2024 fits two formats: the
    day is read first, unless other cells are then invalid.
    """
    if not len(distinct) or distinct.str.contains(_SEPARATED, regex=True).mean() < 0.95:
        return None
    sample = [str(text) for text in distinct.iloc[:: max(1, len(distinct) // 2_000)]]
    best, most = None, 0.95
    for name in FORMATS:
        share = sum(day_of(text, name) is not None for text in sample) / len(sample)
        if share == 1.0:
            return name
        if share > most:
            best, most = name, share
    return best
