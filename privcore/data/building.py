"""Applying a schema to a raw table: missing values, public levels, cuts and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.data import refusals
from privcore.data.discretise import (
    check_cuts,
    cut,
    equal_width,
    finite_bounds,
    interval_labels,
)
from privcore.data.model import (
    MAX_LEVELS,
    UPLOADED,
    Column,
    Dataset,
    Kind,
    check_names,
    code_type,
    is_constant,
)
from privcore.data.reading import RawTable
from privcore.data.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema, parse_numbers
from privcore.errors import DataError, ParameterError
from privcore.text import short
from privcore.unit import RECORD, Unit

# The code of a value that is none of the levels.
_NONE = -1
Missing = Literal["refuse", "drop", "level", "available"]
# What else makes missing values a level of columns whose schema has none for them.
GAPS_AS_LEVEL = ("level", "available")
DROPPED = "rows with missing values are left out: which rows are complete is not covered"


def build_dataset(
    raw: RawTable,
    schema: Sequence[ColumnSchema],
    *,
    name: str,
    missing: Missing = "refuse",
    true_edges: tuple[tuple[str, str], ...] | None = None,
) -> Dataset:
    """Apply a schema; columns with include=False are left out.

    missing: "refuse" raises with the count per column, "drop" leaves out rows with a missing
    cell, "level" makes it a level of its own, "(missing)", of columns with levels or cuts, and
    "available" does the same and notes that values are missing at random: each test then uses the
    rows in which its columns have values.
    Gaps of a column whose schema has a level for them go there in any case.  That a column has
    gaps is itself read from the data: with "level", its levels count as declared only if its
    schema has that level.
    Numbers outside public bounds are moved to the nearer bound, and values that are none of the
    levels to "(other)" where it is listed: that is what public bounds and levels mean.
    Raises DataError for other values outside the levels, text where numbers are declared, and
    whatever `Dataset` refuses; ParameterError for another `missing`.
    """
    schema = used_columns(schema, raw.names, missing, raw.unit)
    frame = pd.DataFrame({column.name: column.read(raw.frame[column.name]) for column in schema})
    strict = [column.name for column in schema if not column.has_missing_level]
    gaps = {str(k): int(v) for k, v in frame[strict].isna().sum().items() if v}
    if gaps and missing == "refuse":
        raise DataError(refusals.gaps(gaps))
    if missing == "drop":
        frame = frame.dropna(subset=strict)
        if len(frame) < 2:
            raise DataError(refusals.too_few_left(len(frame)))
    columns, values = [], []
    for wanted in schema:
        column, codes = _build_column(wanted, frame[wanted.name])
        columns.append(column)
        values.append(codes)
    _refuse_constant(columns, values)
    notes = notes_on_missing(columns, missing)
    available = missing == "available"
    return Dataset(
        name,
        tuple(columns),
        tuple(values),
        true_edges,
        UPLOADED,
        notes,
        available=available,
        unit=raw.unit,
    )


def notes_on_missing(columns: Sequence[Column], missing: str) -> tuple[str, ...]:
    """Whether rows are left out, from the setting: that there were any is private."""
    strict = any(MISSING_LEVEL not in column.levels for column in columns)
    return (DROPPED,) if missing == "drop" and strict else ()


def used_columns(
    schema: Sequence[ColumnSchema], names: Sequence[str], missing: str, unit: Unit = RECORD
) -> list[ColumnSchema]:
    """The columns of a schema that are to be used, all of them among the table's `names`.

    unit: whose column is no longer among them, since it says whose rows are whose.
    Raises ParameterError for another `missing`, and DataError for a column that is not there.
    """
    if missing not in get_args(Missing):
        raise ParameterError(
            f"missing is {short(missing)}; it must be one of {', '.join(get_args(Missing))}."
        )
    used = [column for column in schema if column.include]
    check_names([column.name for column in used])
    absent = [column.name for column in used if column.name not in names]
    if unit.column and unit.column in absent:
        raise DataError(
            f"Column {short(unit.column)!r} says which {unit.noun} a row is of, and is not used "
            "otherwise; leave it out of the columns."
        )
    if absent:
        raise DataError(f"The table has no column {short(absent[0])!r}; correct its name.")
    return used


def _refuse_constant(columns: list[Column], values: list[NDArray[Any]]) -> None:
    for column, codes in zip(columns, values, strict=True):
        if is_constant(column, codes):
            raise DataError(refusals.constant(column.name))


def _build_column(wanted: ColumnSchema, cells: pd.Series[Any]) -> tuple[Column, NDArray[Any]]:
    present = cells.notna().to_numpy()
    if wanted.kind == "continuous":
        return _build_numeric(wanted, cells, present)
    column = column_of(wanted, gaps=not present.all())
    position = {level: code for code, level in enumerate(column.levels)}
    other = position.get(OTHER_LEVEL, _NONE)
    owner, distinct = pd.factorize(cells)
    # The last one is that of missing cells, whose owner is -1.
    code_of = [
        *(position.get(text, other) for text in distinct),
        position.get(MISSING_LEVEL, other),
    ]
    codes = np.array(code_of)[owner]
    unknown = int((codes == _NONE).sum())
    if unknown:
        raise DataError(refusals.outside(wanted.name, unknown))
    return column, codes.astype(code_type(len(column.levels)))


def column_of(wanted: ColumnSchema, *, gaps: bool = False) -> Column:
    """The column that a schema makes, before any row is seen.

    gaps: whether missing values need a level; if the schema has none for them, the levels are not
    all public.
    Raises DataError for impossible levels, bounds or cuts.
    """
    cuts = cuts_of(wanted) if wanted.kind == "continuous" else ()
    if wanted.kind == "continuous" and not cuts:
        bounds = finite_bounds(wanted.bounds, wanted.name)
        return Column(wanted.name, "continuous", bounds=bounds, declared=wanted.declared)
    levels, declared = wanted.levels, wanted.declared
    if cuts:
        check_cuts(cuts, wanted.name)
        levels = interval_labels(cuts)
    if (wanted.missing or gaps) and MISSING_LEVEL not in levels:
        levels, declared = (*levels, MISSING_LEVEL), declared and wanted.missing
    if len(levels) > MAX_LEVELS:
        raise DataError(refusals.too_many_levels(wanted.name))
    kind: Kind = "ordinal" if cuts else wanted.kind
    return Column(wanted.name, kind, levels, cut_points=cuts, declared=declared)


def cuts_of(wanted: ColumnSchema) -> tuple[float, ...]:
    """Where a continuous column is cut; empty where it is not."""
    if wanted.cut_points or wanted.bins is None:
        return wanted.cut_points
    return equal_width(wanted.bounds, wanted.bins, wanted.name)


def _build_numeric(
    wanted: ColumnSchema, cells: pd.Series[Any], present: NDArray[np.bool_]
) -> tuple[Column, NDArray[Any]]:
    name = short(wanted.name)
    if not present.all() and not (wanted.bins is not None or wanted.cut_points):
        raise DataError(
            f"Column {name!r} is continuous and has missing values; drop those rows, or cut the "
            "column into intervals."
        )
    owner, distinct = pd.factorize(cells)
    # A missing cell, whose owner is -1, gets the last one.
    numbers = np.append(parse_numbers(pd.Series(distinct, dtype=object)), 0.0)[owner]
    bad = int((~np.isfinite(numbers)).sum())
    if bad:
        raise DataError(refusals.not_finite(wanted.name, bad))
    column = column_of(wanted, gaps=not present.all())
    if column.bounds is not None:
        return column, np.clip(numbers, *column.bounds)
    codes = cut(numbers, column.cut_points, wanted.name)
    # Intervals come first, the level of missing values last.
    codes = np.where(present, codes, len(column.cut_points) + 1)
    return column, codes.astype(code_type(len(column.levels)))
