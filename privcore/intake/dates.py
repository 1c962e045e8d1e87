"""Columns of dates; a graph uses one part of each date, such as the month."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pandas as pd

from privcore.errors import DataError
from privcore.intake.writing import each
from privcore.text import short

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
                f"The part of a date is {short(self.part)}; it must be one of "
                f"{', '.join(get_args(Part))}."
            )
        if self.format != "ISO8601" and not (
            re.search("%[Yy]", self.format) and "%d" in self.format
        ):
            raise DataError(
                f"The date format {short(self.format)!r} has no day or year; write one such as "
                "%d.%m.%Y, or ISO8601."
            )

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
