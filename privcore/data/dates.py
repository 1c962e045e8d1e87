"""Columns of dates, read as a part of each date that a graph can use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import pandas as pd

from privcore.errors import DataError
from privcore.text import short

Part = Literal["month", "weekday", "quarter", "year"]

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
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d.%m.%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
)
# A date is not a number: 2024 or 20240531 alone stays what it is.
_SEPARATED = r"\d.*[-/.: ].*\d"


@dataclass(frozen=True)
class DateReading:
    """How the cells of a column of dates become levels, whatever the other rows say.

    format: "ISO8601", or as of `datetime.strptime`.  part: of the date that is kept.
    Raises DataError for another part, and for a format without day, month and year.
    """

    format: str
    part: Part

    def __post_init__(self) -> None:
        if self.part not in get_args(Part):
            raise DataError(
                f"The part of a date is {short(self.part)}; it must be one of "
                f"{', '.join(get_args(Part))}."
            )
        if self.format != "ISO8601" and not ("%Y" in self.format and "%d" in self.format):
            raise DataError(
                f"The date format {short(self.format)!r} has no day or year; write it as %d.%m.%Y "
                "or ISO8601."
            )

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels that are known without looking at the rows; none of quarters and years."""
        return {"month": MONTHS, "weekday": WEEKDAYS}.get(self.part, ())

    def read(self, cells: pd.Series[Any]) -> pd.Series[Any]:
        """The part of each date as text, None where a cell is missing or no such date."""
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
    if part == "quarter":
        return f"{date.year} Q{date.quarter}"
    return str(date.year)


def date_format(distinct: pd.Series[Any]) -> str | None:
    """The first format that at least 19 of 20 distinct cells have; None if none has.

    A cell such as 03/04/2024 has two; days come first unless that leaves cells that are no dates.
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
