"""Applying a schema to a raw table: missing values, public levels, cuts and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.dataset import refusals
from privcore.dataset.discretise import cut, equal_width, finite_bounds, interval_labels
from privcore.dataset.model import (
    MAX_LEVELS,
    Column,
    Dataset,
    check_names,
    code_type,
    is_constant,
)
from privcore.dataset.reading import RawTable
from privcore.dataset.schema import ColumnSchema, parse_numbers
from privcore.errors import DataError, ParameterError
from privcore.text import short

Missing = Literal["refuse", "drop", "level"]
DROPPED = "rows with missing values were left out: which rows are complete is not covered"
MISSING_LEVEL = "(missing)"


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
    cell, "level" makes it a level of its own, "(missing)", of columns with levels or cuts.
    That a column has gaps is itself read from the data: with "level", its levels count as
    declared only if "(missing)" is listed among them.
    Numbers outside public bounds are moved to the nearer bound: that is what public bounds mean.
    Raises DataError for values outside declared levels, text where numbers are declared, and
    whatever `Dataset` refuses; ParameterError for another `missing`.
    """
    schema = used_columns(schema, raw.names, missing)
    frame = raw.frame[[column.name for column in schema]]
    gaps = {str(k): int(v) for k, v in frame.isna().sum().items() if v}
    if gaps and missing == "refuse":
        raise DataError(refusals.gaps(gaps))
    if missing == "drop":
        frame = frame.dropna()
        if len(frame) < 2:
            raise DataError(refusals.too_few_left(len(frame)))
    notes = (DROPPED,) if gaps and missing == "drop" else ()
    columns, values = [], []
    for wanted in schema:
        column, codes = _build_column(wanted, frame[wanted.name])
        columns.append(column)
        values.append(codes)
    _refuse_constant(columns, values)
    return Dataset(name, tuple(columns), tuple(values), true_edges, "uploaded", notes)


def used_columns(
    schema: Sequence[ColumnSchema], names: Sequence[str], missing: str
) -> list[ColumnSchema]:
    """The columns of a schema that are to be used, all of them among the table's `names`.

    Raises ParameterError for another `missing`, and DataError for a column that is not there.
    """
    if missing not in get_args(Missing):
        raise ParameterError(
            f"missing is {short(missing)}; it must be one of {', '.join(get_args(Missing))}."
        )
    used = [column for column in schema if column.include]
    check_names([column.name for column in used])
    absent = [column.name for column in used if column.name not in names]
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
    levels, declared = wanted.levels, wanted.declared
    if not present.all() and MISSING_LEVEL not in levels:
        levels, declared = (*levels, MISSING_LEVEL), False
    if len(levels) > MAX_LEVELS:
        raise DataError(refusals.too_many_levels(wanted.name))
    position = {level: code for code, level in enumerate(levels)}
    codes = cells.fillna(MISSING_LEVEL).map(position)
    unknown = int(codes.isna().sum())
    if unknown:
        raise DataError(refusals.outside(wanted.name, unknown))
    column = Column(wanted.name, wanted.kind, levels, declared=declared)
    return column, codes.to_numpy().astype(code_type(len(levels)))


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
    numbers = np.zeros(len(cells))
    numbers[present] = parse_numbers(cells[present])
    bad = int((~np.isfinite(numbers)).sum())
    if bad:
        raise DataError(refusals.not_finite(wanted.name, bad))
    cuts = cuts_of(wanted)
    if not cuts:
        bounds = finite_bounds(wanted.bounds, wanted.name)
        column = Column(wanted.name, "continuous", bounds=bounds, declared=wanted.declared)
        return column, np.clip(numbers, *bounds)
    codes = cut(numbers, cuts, wanted.name)
    levels = interval_labels(cuts)
    if present.all():
        return Column(wanted.name, "ordinal", levels, declared=wanted.declared), codes
    codes = np.where(present, codes, len(levels)).astype(code_type(len(levels) + 1))
    return Column(wanted.name, "ordinal", (*levels, MISSING_LEVEL)), codes
