"""Columns of dates; a graph uses one part of each date, such as the month."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pandas as pd

from privcore.errors import DataError
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
# Tried in this order.  ISO 8601 covers 2024-05-31, 2024-05-31 10:00 and the like.
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
        """The part of each date as text, None where a cell is missing or has another format."""
        owner, distinct = pd.factorize(cells)
        dates = pd.to_datetime(
            pd.Series(list(distinct), dtype=object), format=self.format, errors="coerce", utc=True
        )
        texts = [None if pd.isna(date) else _part(date, self.part) for date in dates]
        return pd.Series(
            [None if code < 0 else texts[code] for code in owner], index=cells.index, dtype=object
        )


def _part(date: pd.Timestamp, part: Part) -> str:
    if part == "month":
        return MONTHS[date.month - 1]
    if part == "weekday":
        return WEEKDAYS[date.weekday()]
    if part == "calendar month":
        return f"{date.year}-{date.month:02}"
    if part == "quarter":
        return f"{date.year} Q{date.quarter}"
    return str(date.year)


def parts_by_span(form: str, distinct: pd.Series[Any]) -> list[tuple[Part, tuple[str, ...]]]:
    """The parts of some dates that have more than one level, the most suitable part first.

    Returns each part with its levels.  The most suitable part is the finest of calendar month,
    quarter and year with at most 12 levels.  The levels of these three parts run from the first
    date to the last without gaps.
    """
    dates = pd.to_datetime(distinct, format=form, errors="coerce", utc=True).dropna()
    first, last = dates.min().tz_localize(None), dates.max().tz_localize(None)
    parts: list[tuple[Part, tuple[str, ...]]] = []
    for part, period in (("calendar month", "M"), ("quarter", "Q"), ("year", "Y")):
        whole = pd.period_range(first, last, freq=period)
        named = tuple(_part(each.start_time, part) for each in whole)  # type: ignore[arg-type]
        parts.append((part, named))  # type: ignore[arg-type]
    fitting = next((at for at, (_, named) in enumerate(parts) if len(named) <= _MOST_IN_ORDER), 2)
    parts.insert(0, parts.pop(fitting))
    parts[1:1] = [("month", MONTHS), ("weekday", WEEKDAYS)]
    return [(part, named) for part, named in parts if len(named) > 1]


def date_format(distinct: pd.Series[Any]) -> str | None:
    """The first format that fits every cell; else the format that fits most cells; else None.

    A format must fit more than 95% of the cells.  A cell such as 03/04/2024 fits two formats: the
    day is read first, unless other cells are then invalid.
    """
    if not len(distinct) or distinct.str.contains(_SEPARATED, regex=True).mean() < 0.95:
        return None
    sample = distinct.iloc[:: max(1, len(distinct) // 2_000)]
    best, most = None, 0.95
    for name in FORMATS:
        dates = pd.to_datetime(sample, format=name, errors="coerce", utc=True)
        share = float(dates.notna().mean())
        if share == 1.0:
            return name
        if share > most:
            best, most = name, share
    return best
