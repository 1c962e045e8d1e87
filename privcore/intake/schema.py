"""Schemas: how the columns of a raw table are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.data.model import MISSING_LEVEL as MISSING_LEVEL
from privcore.data.model import OTHER_LEVEL as OTHER_LEVEL
from privcore.data.model import Kind
from privcore.intake.dates import DateReading
from privcore.intake.writing import PLAIN, Writing


@dataclass(frozen=True)
class ColumnSchema:
    """How one column of a raw table is read.

    A schema without levels, bounds or cut points states only the kind; see `bought_domain`.
    kind: "continuous" columns are cut into levels if `cut_points` or `bins` is given.
    levels: levels of a categorical column, in order.  bounds: bounds of a numeric column.
    cut_points: inner boundaries, increasing.  bins: number of equal-width intervals in the bounds.
    missing: whether missing values are a level of the column, `(missing)`; a categorical column may
        list this level among its levels instead.
    date: for a date column, which part of each date is used; levels are then levels of this part.
    writing: how cells are written, such as numbers with a unit, and which of them are codes for a
        missing value.
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
    writing: Writing = PLAIN
    declared: bool = False
    include: bool = True

    @property
    def has_domain(self) -> bool:
        """Whether levels, bounds or cut points are stated, not just the kind."""
        return bool(self.levels or self.bounds or self.cut_points)

    @property
    def has_missing_level(self) -> bool:
        """Whether missing values are a level, so that rows with them are accepted."""
        return self.missing or MISSING_LEVEL in self.levels

    def read(self, cells: pd.Series[Any]) -> pd.Series[Any]:
        """Converts cells to parts of dates, to numbers, or to levels as the schema spells them.

        If missing values are a level, a non-numeric cell in a column of numbers is missing.
        """
        cells = self.writing.present(cells)
        if self.date is not None:
            return self.date.read(cells)
        if self.kind != "continuous":
            return self.writing.levels(cells, self.levels)
        cells = self.writing.numbers(cells)
        if self.has_missing_level:
            owner, distinct = pd.factorize(cells)
            known = np.append(np.isfinite(parse_numbers(pd.Series(distinct, dtype=object))), False)
            return cells.where(known[owner])
        return cells


def parse_numbers(cells: pd.Series[Any]) -> NDArray[np.float64]:
    """The cells as floats, NaN where a cell is not a number; each cell is read by itself."""
    return np.fromiter(map(_number, cells), np.float64, len(cells))


def _number(cell: object) -> float:
    # Python also reads 1_0 as 10, and digits of other scripts.
    if not isinstance(cell, str) or not cell.isascii() or "_" in cell:
        return math.nan
    try:
        return float(cell)
    except ValueError:
        return math.nan


def declare(schema: Sequence[ColumnSchema]) -> list[ColumnSchema]:
    """The schema with every level and bound declared public; only the owner may declare this."""
    return [replace(column, declared=True) for column in schema]
