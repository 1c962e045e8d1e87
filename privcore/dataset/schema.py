"""From a raw table to a data set: kinds, public levels and bounds, missing values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.dataset.discretise import cut, interval_labels
from privcore.dataset.model import MAX_LEVELS, Column, Dataset, Kind, code_type
from privcore.dataset.reading import RawTable
from privcore.errors import DataError
from privcore.text import short

Missing = Literal["refuse", "drop", "level"]
MISSING_LEVEL = "(missing)"
_FEW = 20


@dataclass(frozen=True)
class ColumnSchema:
    """How one column of a raw table is to be read.

    kind: "continuous" columns are cut into levels if `cut_points` or `bins` say so.
    levels: of a categorical column, in order.  bounds: of a numeric one.
    cut_points: inner boundaries, increasing.  bins: number of equal-width intervals in the bounds.
    declared: whether the levels, or the bounds and cuts, are public.
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    cut_points: tuple[float, ...] = ()
    bins: int | None = None
    declared: bool = False
    include: bool = True


def infer_schema(raw: RawTable) -> list[ColumnSchema]:
    """A first guess, every level and bound marked as read from the data.

    Text is nominal; numbers with at most 20 values are ordinal, in numeric order; other numbers
    are continuous, cut into 4 equal-width intervals.
    """
    return [_infer(str(name), raw.frame[name]) for name in raw.frame.columns]


def _infer(name: str, column: pd.Series[Any]) -> ColumnSchema:
    present = column.dropna()
    values = sorted(set(present))
    numbers = _numbers(values)
    if numbers is None:
        return ColumnSchema(name, "nominal", tuple(values[: MAX_LEVELS + 1]))
    if len(values) <= _FEW and all(map(math.isfinite, numbers)):
        return ColumnSchema(
            name, "ordinal", tuple(v for _, v in sorted(zip(numbers, values, strict=True)))
        )
    # An infinite value is a slip in a numeric column; building the data set says so.
    finite = [v for v in numbers if math.isfinite(v)] or [0.0]
    return ColumnSchema(name, "continuous", bounds=(min(finite), max(finite)), bins=4)


def _numbers(values: Sequence[str]) -> list[float] | None:
    """The values as numbers, or None if one is not."""
    try:
        return [float(value) for value in values] or None
    except ValueError:
        return None


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
    cell, "level" makes it a level of its own (of categorical columns).
    Numbers outside public bounds are moved to the nearer bound: that is what public bounds mean.
    Raises DataError for values outside declared levels, text where numbers are declared, and
    whatever `Dataset` refuses.
    """
    schema = [column for column in schema if column.include]
    if len(schema) < 2:
        raise DataError(f"{len(schema)} columns are included; a graph needs at least 2.")
    frame = raw.frame[[column.name for column in schema]]
    gaps = {str(k): int(v) for k, v in frame.isna().sum().items() if v}
    if gaps and missing == "refuse":
        raise DataError(_gaps_sentence(gaps))
    if missing == "drop":
        frame = frame.dropna()
        if len(frame) < 2:
            raise DataError(
                f"Dropping rows with missing values leaves {len(frame)}; leave out the columns "
                "with the most missing values instead."
            )
    columns, values = [], []
    for wanted in schema:
        column, codes = _build_column(wanted, frame[wanted.name], with_missing=wanted.name in gaps)
        columns.append(column)
        values.append(codes)
    _refuse_constant(columns, values)
    return Dataset(name, tuple(columns), tuple(values), true_edges, source="uploaded")


def _gaps_sentence(gaps: dict[str, int]) -> str:
    worst = sorted(gaps.items(), key=lambda item: -item[1])
    named = ", ".join(f"{short(name, 30)} ({count:,})" for name, count in worst[:5])
    more = f" and {len(worst) - 5} more columns" if len(worst) > 5 else ""
    return (
        f"Values are missing in {named}{more}; choose to drop those rows, make missing a level of "
        "its own, or leave the columns out."
    )


def _refuse_constant(columns: list[Column], values: list[NDArray[Any]]) -> None:
    for column, codes in zip(columns, values, strict=True):
        if codes.min() == codes.max():
            raise DataError(
                f"Column {short(column.name)!r} has the same value in every row; leave it out."
            )


def _build_column(
    wanted: ColumnSchema, cells: pd.Series[Any], *, with_missing: bool
) -> tuple[Column, NDArray[Any]]:
    name = short(wanted.name)
    present = cells.notna().to_numpy()
    if wanted.kind == "continuous":
        return _build_numeric(wanted, cells, present)
    levels = wanted.levels
    if with_missing and not present.all():
        levels = (*(v for v in levels if v != MISSING_LEVEL), MISSING_LEVEL)
    if len(levels) > MAX_LEVELS:
        raise DataError(
            f"Column {name!r} has more than {MAX_LEVELS:,} levels; leave it out, or cut it "
            "into intervals if it is numeric."
        )
    position = {level: code for code, level in enumerate(levels)}
    codes = cells.fillna(MISSING_LEVEL).map(position)
    unknown = int(codes.isna().sum())
    if unknown:
        raise DataError(
            f"Column {name!r} has {unknown:,} rows with a value outside its levels; add the level, "
            "or correct the data."
        )
    column = Column(wanted.name, wanted.kind, levels, declared=wanted.declared)
    return column, codes.to_numpy().astype(code_type(len(levels)))


def _build_numeric(
    wanted: ColumnSchema, cells: pd.Series[Any], present: NDArray[np.bool_]
) -> tuple[Column, NDArray[Any]]:
    name = short(wanted.name)
    if not present.all() and not (wanted.bins or wanted.cut_points):
        raise DataError(
            f"Column {name!r} is continuous and has missing values; drop those rows, or cut the "
            "column into intervals."
        )
    numbers = np.zeros(len(cells))
    parsed = pd.to_numeric(cells[present], errors="coerce").to_numpy(dtype=np.float64)
    bad = int((~np.isfinite(parsed)).sum())
    if bad:
        raise DataError(
            f"Column {name!r} has {bad:,} rows that are not finite numbers; make it nominal, "
            "or correct the data."
        )
    numbers[present] = parsed
    bounds = wanted.bounds
    if wanted.cut_points:
        cuts: tuple[float, ...] = wanted.cut_points
    else:
        if bounds is None or not (all(map(math.isfinite, bounds)) and bounds[0] < bounds[1]):
            raise DataError(f"Column {name!r} needs a lower bound below its upper bound.")
        if not wanted.bins:
            column = Column(wanted.name, "continuous", bounds=bounds, declared=wanted.declared)
            return column, np.clip(numbers, *bounds)
        if not 2 <= wanted.bins <= 100:
            raise DataError(
                f"Column {name!r} asks for {wanted.bins} intervals; choose from 2 to 100."
            )
        cuts = tuple(np.linspace(*bounds, wanted.bins + 1)[1:-1])
    codes = cut(numbers, cuts, wanted.name)
    levels = interval_labels(cuts)
    if not present.all():
        codes = np.where(present, codes, len(levels)).astype(code_type(len(levels) + 1))
        levels = (*levels, MISSING_LEVEL)
    return Column(wanted.name, "ordinal", levels, declared=wanted.declared), codes


def declare(schema: Sequence[ColumnSchema]) -> list[ColumnSchema]:
    """The schema with every level and bound declared public, as its owner may say."""
    return [replace(column, declared=True) for column in schema]
