"""Codes of one piece of a table whose schema is known: what a worker of a cluster does.

The codes are those that `building` would give; here a value that has none is counted, as one piece
cannot know how many there are in the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.data.building import column_of, cuts_of
from privcore.data.discretise import cut
from privcore.data.model import Column, code_type
from privcore.data.reading import cell_text
from privcore.data.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema, parse_numbers
from privcore.errors import DataError
from privcore.text import short

MISSING = -1
UNKNOWN = -2


class Coding(NamedTuple):
    """A column, how it is read, and the code of a missing value, `MISSING` if it has none."""

    column: Column
    wanted: ColumnSchema
    absent: int


class Piece(NamedTuple):
    """What one piece of a table holds; rows, missing and unknown add up over pieces.

    rows: that are used.  Per column, shape (p,): missing: rows without a value, left out or not;
    unknown: rows that are used with a value outside the levels, or no finite number; low and high:
    the ends of the codes that are used.
    """

    rows: int
    missing: NDArray[np.int64]
    unknown: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]


def coding_of(wanted: ColumnSchema, *, missing_level: bool) -> Coding:
    """Before any row is seen; raises DataError unless the schema says what the levels are.

    missing_level: whether missing values are one of the levels; if it is not listed there, the
    levels are not all public.
    """
    if wanted.kind == "continuous" and not cuts_of(wanted):
        raise DataError(
            f"Column {short(wanted.name)!r} is continuous, and only levels are counted where "
            "rows are; cut it by bins or cut points."
        )
    column = column_of(wanted, gaps=missing_level)
    has_level = MISSING_LEVEL in column.levels
    return Coding(column, wanted, column.levels.index(MISSING_LEVEL) if has_level else MISSING)


def looked_at(frame: pd.DataFrame, codings: Sequence[Coding], *, drop: bool) -> Piece:
    """What a data frame of cells of any kind holds; drop: incomplete rows are not used."""
    codes = [_codes(frame[coding.wanted.name], coding) for coding in codings]
    missing = np.array([np.count_nonzero(c == MISSING) for c in codes], dtype=np.int64)
    used = _complete(codes) if drop else np.ones(len(frame), dtype=np.bool_)
    inside = [c[used] for c in codes]
    return Piece(
        int(used.sum()),
        missing,
        np.array([np.count_nonzero(c == UNKNOWN) for c in inside], dtype=np.int64),
        np.array([c.min(initial=np.iinfo(np.int64).max) for c in inside], dtype=np.int64),
        np.array([c.max(initial=np.iinfo(np.int64).min) for c in inside], dtype=np.int64),
    )


def coded_piece(
    frame: pd.DataFrame, codings: Sequence[Coding], *, drop: bool
) -> tuple[NDArray[np.unsignedinteger[Any]], ...]:
    """Codes of the rows that are used, in the smallest type; all must be known to exist."""
    codes = [_codes(frame[coding.wanted.name], coding) for coding in codings]
    used = _complete(codes) if drop else slice(None)
    return tuple(
        column[used].astype(code_type(len(coding.column.levels)))
        for column, coding in zip(codes, codings, strict=True)
    )


def _complete(codes: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    return np.asarray(np.logical_and.reduce([column != MISSING for column in codes]))


def _codes(cells: pd.Series[Any], coding: Coding) -> NDArray[np.int64]:
    """Codes, `MISSING` or `UNKNOWN`; every distinct cell is looked at once."""
    owner, distinct = pd.factorize(cells, use_na_sentinel=False)
    texts = [None if pd.isna(cell) else cell_text(cell) for cell in distinct]
    codes = np.full(len(texts), coding.absent, dtype=np.int64)
    present = np.array([text is not None for text in texts], dtype=np.bool_)
    there = [text for text in texts if text is not None]
    if coding.wanted.kind == "continuous":
        numbers = parse_numbers(pd.Series(there, dtype=object))
        finite = np.isfinite(numbers)
        known = np.full(len(there), UNKNOWN, dtype=np.int64)
        known[finite] = cut(numbers[finite], cuts_of(coding.wanted), coding.wanted.name)
        codes[present] = known
    else:
        position = {level: code for code, level in enumerate(coding.column.levels)}
        other = position.get(OTHER_LEVEL, UNKNOWN)
        codes[present] = [position.get(text, other) for text in there]
    return codes[owner]
