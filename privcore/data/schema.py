"""How the columns of a raw table are to be read: a first guess, and what to warn about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.data.dates import DateReading
from privcore.data.model import MAX_LEVELS, Kind
from privcore.data.reading import RawTable
from privcore.text import short

_FEW = 20
# What missing values are called where they are a level.
MISSING_LEVEL = "(missing)"
# A level that takes every value that is none of the others.
OTHER_LEVEL = "(other)"


@dataclass(frozen=True)
class ColumnSchema:
    """How one column of a raw table is to be read.

    A schema that has no levels, bounds or cut points says only the kind; see `bought_domain`.
    kind: "continuous" columns are cut into levels if `cut_points` or `bins` say so.
    levels: of a categorical column, in order.  bounds: of a numeric one.
    cut_points: inner boundaries, increasing.  bins: number of equal-width intervals in the bounds.
    missing: whether missing values are a level of the column, `(missing)`; of a categorical one it
        may stand among the levels instead.
    date: of a column of dates, which part of each is kept; levels are then of that part.
    declared: whether the levels, or the bounds and cuts, are public.
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    cut_points: tuple[float, ...] = ()
    bins: int | None = None
    missing: bool = False
    date: DateReading | None = None
    declared: bool = False
    include: bool = True

    @property
    def has_domain(self) -> bool:
        """Whether more than the kind is said: levels, bounds or cut points."""
        return bool(self.levels or self.bounds or self.cut_points)

    @property
    def has_missing_level(self) -> bool:
        """Whether missing values are a level, so that they are no reason to refuse a row."""
        return self.missing or MISSING_LEVEL in self.levels

    def read(self, cells: pd.Series[Any]) -> pd.Series[Any]:
        """The cells that levels and intervals are made of: parts of dates, and numbers.

        Where missing values are a level, what is no number in a column of numbers is missing, too.
        """
        if self.date is not None:
            return self.date.read(cells)
        if self.kind == "continuous" and self.has_missing_level:
            owner, distinct = pd.factorize(cells)
            known = np.append(np.isfinite(parse_numbers(pd.Series(distinct, dtype=object))), False)
            return cells.where(known[owner])
        return cells


def infer_schema(raw: RawTable) -> list[ColumnSchema]:
    """A first guess, every level and bound marked as read from the data.

    Text is nominal; numbers with at most 20 values are ordinal, in numeric order; other numbers
    are continuous, cut into 4 equal-width intervals.
    """
    return [infer_column(str(name), raw.frame[name]) for name in raw.frame.columns]


def infer_column(name: str, column: pd.Series[Any]) -> ColumnSchema:
    """A first guess from the cells of one column; how often each occurs does not matter."""
    values = sorted(column.dropna().unique())
    numbers = parse_numbers(pd.Series(values, dtype=object))
    if not values or np.isnan(numbers).any():
        return ColumnSchema(name, "nominal", tuple(values[: MAX_LEVELS + 1]))
    if len(values) <= _FEW and np.isfinite(numbers).all():
        order = np.argsort(numbers, kind="stable")
        return ColumnSchema(name, "ordinal", tuple(values[i] for i in order))
    # An infinite value is a slip in a numeric column; building the data set says so.
    finite = [float(v) for v in numbers if math.isfinite(v)] or [0.0]
    if len(finite) == len(values) and min(finite) == max(finite):
        # Numbers too long to be distinct as floats are names, not quantities.
        return ColumnSchema(name, "nominal", tuple(values[: MAX_LEVELS + 1]))
    return ColumnSchema(name, "continuous", bounds=(min(finite), max(finite)), bins=4)


def parse_numbers(cells: pd.Series[Any]) -> NDArray[np.float64]:
    """The cells as floats, NaN where a cell is not a number."""
    return pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64)


def table_warnings(raw: RawTable) -> tuple[str, ...]:
    """One sentence for each column that is probably not what its owner meant.

    Columns that mix numbers and text are read as text; a number written in two ways makes two
    levels.  Sentences give counts, never a value.
    """
    sentences = []
    for name in raw.frame.columns:
        cells = raw.frame[name].dropna()
        counts = cells.value_counts()
        numbers = parse_numbers(pd.Series(counts.index, dtype=object))
        text = np.isnan(numbers)
        if text.any() and not text.all():
            rows = int(counts.to_numpy()[text].sum())
            sentences.append(
                f"Column {short(name)!r} mixes numbers with {rows:,} rows of text, so all its "
                "values are read as text; correct them if it is meant to be numeric."
            )
        elif len(numbers) <= _FEW and len(np.unique(numbers[~text])) < int((~text).sum()):
            sentences.append(
                f"Column {short(name)!r} writes the same number in different ways, such as 1 and "
                "1.0, and each is a level of its own; write it in one way."
            )
    return tuple(sentences)


def declare(schema: Sequence[ColumnSchema]) -> list[ColumnSchema]:
    """The schema with every level and bound declared public, as its owner may say."""
    return [replace(column, declared=True) for column in schema]
