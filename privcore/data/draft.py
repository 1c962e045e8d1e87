"""A first draft of a schema, read off the rows: for its owner to review, not to rely on.

What it says was learnt from the rows, so no guarantee covers it until the owner has confirmed that
every value was known without them.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from privcore.data.reading import RawTable
from privcore.data.schema import ColumnSchema, infer_column, parse_numbers

# With more levels than this a column of text is a list of names, or free text.
_MOST_LEVELS = 50
# A column with a value of its own in so many rows tells who a row is.
_DISTINCT = 0.9
_PROSE = 40


@dataclass(frozen=True)
class Draft:
    """A schema to review.  left_out: columns that it does not use, with the reason."""

    schema: tuple[ColumnSchema, ...]
    left_out: dict[str, str]


def draft_schema(raw: RawTable) -> Draft:
    """A draft for every column of a table, or the reason why it is left out.

    Bounds are rounded outwards to two digits; columns with gaps get a level for them.
    """
    schema, left_out = [], {}
    for name in raw.names:
        cells = raw.frame[name]
        reason = _reason(cells)
        if reason:
            left_out[name] = reason
        else:
            schema.append(_drafted(name, cells))
    return Draft(tuple(schema), left_out)


def _drafted(name: str, cells: pd.Series[Any]) -> ColumnSchema:
    column = infer_column(name, cells)
    if column.bounds is not None:
        column = replace(column, bounds=_outwards(*column.bounds))
    return replace(column, missing=bool(cells.isna().any()))


def _reason(cells: pd.Series[Any]) -> str:
    """Why a column is left out, empty if it is not."""
    present = cells.dropna()
    distinct = present.unique()
    if len(distinct) < 2:
        return "it has the same value in every row"
    numbers = parse_numbers(pd.Series(distinct, dtype=object))
    own = len(distinct) >= _DISTINCT * len(cells)
    if not np.isnan(numbers).any():
        whole = bool((numbers == np.floor(numbers)).all())
        counted = own and whole and numbers.max() - numbers.min() < 2 * len(distinct)
        if counted and len(distinct) > _MOST_LEVELS:
            return "it numbers the rows: nearly every row has a number of its own, in one sequence"
        return ""
    if len(distinct) <= _MOST_LEVELS:
        return ""
    if _are_dates(distinct):
        return "it holds dates; give a month, a weekday or a year in a column of its own to use it"
    if own:
        return "it identifies rows: nearly every row has a value of its own"
    length = float(np.mean([len(text) for text in distinct]))
    what = "free text" if length > _PROSE else "names"
    return f"it holds {what}: {len(distinct):,} different values, more than {_MOST_LEVELS}"


def _are_dates(distinct: np.ndarray[Any, Any]) -> bool:
    """Whether a sample of the values reads as dates."""
    sample = pd.Series(distinct[:50], dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(pd.to_datetime(sample, errors="coerce", format="mixed").notna().all())


def _outwards(low: float, high: float) -> tuple[float, float]:
    """Bounds with two digits of their distance that hold the given ones."""
    if not math.isfinite(high - low):
        return low, high
    unit = 10.0 ** (math.floor(math.log10(high - low)) - 1) if high > low else 1.0
    down, up = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    # Dividing and multiplying may leave dust such as 0.30000000000000004.
    low_text, high_text = float(f"{down:.15g}"), float(f"{up:.15g}")
    return (low_text if low_text <= low else low), (high_text if high_text >= high else high)
