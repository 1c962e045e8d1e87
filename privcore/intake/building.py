"""Applies a schema to a raw table: missing values, public levels, cuts and bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.data.model import Dataset, is_constant
from privcore.errors import DataError
from privcore.intake import refusals
from privcore.intake.coding import Codes, Coding, Missing, Piece, looked_at, settled
from privcore.intake.reading import RawTable
from privcore.intake.schema import ColumnSchema, parse_numbers
from privcore.text import short


def build_dataset(
    raw: RawTable,
    schema: Sequence[ColumnSchema],
    *,
    name: str,
    missing: Missing = "refuse",
    true_edges: tuple[tuple[str, str], ...] | None = None,
) -> Dataset:
    """Apply a schema to a raw table; columns with include=False are left out.

    missing: "refuse" raises DataError with the number of missing values per column.  "drop" leaves
    out rows with a missing value.  "level" gives columns with levels or cuts an additional level,
    "(missing)".  "available" also adds this level, but values are taken as missing at random: each
    test uses only the rows that have a value in all of its columns.
    If the schema lists a level for missing values, missing values always become that level.
    Whether a column has missing values is itself read from the data, so with "level" the column's
    levels count as declared only if the schema lists a level for missing values.
    Numbers outside public bounds are moved to the nearer bound.  Values outside the levels become
    "(other)" if that level is listed.
    Raises DataError for other values outside the levels, for text where numbers are declared, and
    for whatever `Dataset` refuses; ParameterError for an unknown `missing`.
    """
    codes: list[Codes] = []

    def look(codings: Sequence[Coding], drop: bool) -> list[Piece]:
        codes.extend(coding.of_cells(raw.cells(coding.wanted)) for coding in codings)
        return [looked_at(codes, codings, drop=drop)]

    codings = settled(schema, raw.names, missing, look, unit=raw.unit, levels_only=False)
    kept = codings.kept(codes)
    values = [
        code if coding.column.is_categorical else _numbers(coding, raw, kept)
        for coding, code in zip(codings.of, codings.used(codes), strict=True)
    ]
    return Dataset(
        name,
        codings.columns,
        tuple(values),
        true_edges,
        raw.source,
        codings.notes,
        available=missing == "available",
        unit=raw.unit,
        questions=raw.questions,
        reading_options=raw.reading_options,
    )


def _numbers(coding: Coding, raw: RawTable, kept: NDArray[np.bool_] | slice) -> NDArray[np.float64]:
    """A continuous column, clipped to its bounds."""
    column = coding.column
    assert column.bounds is not None
    owner, distinct = pd.factorize(raw.cells(coding.wanted)[kept])
    known = coding.wanted.read(pd.Series(distinct, dtype=object))
    # A missing cell has position -1, so it gets the last entry.
    numbers = np.append(parse_numbers(known), np.nan)[owner]
    if np.isnan(numbers).any():
        raise DataError(
            f"Column {short(column.name)!r} is continuous and has missing values; drop those rows, "
            "or cut the column into intervals."
        )
    numbers = np.asarray(np.clip(numbers, *column.bounds))
    if is_constant(column, numbers):
        raise DataError(refusals.constant(column.name))
    return numbers
