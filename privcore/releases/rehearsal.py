"""Synthetic rows, drawn from the public domain alone, to rehearse a run before it is charged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from privcore.data import Dataset
from privcore.data.model import Described
from privcore.data.network import MAX_ROWS
from privcore.errors import PrivcoreError

# Most rows that are tried where the number of rows is private.
_MOST_TRIED = 1 << 20


def least_rows(run: Callable[[int], object]) -> int:
    """The smallest number of rows at which a rehearsal is not refused.

    run: makes a rehearsal with a number of rows.  A run that accepts a number of rows is taken to
    accept every larger one.  Raises the error of the rehearsal if about a million rows are refused.
    """
    refused, accepted = 1, 2
    while not _runs(run, accepted, last=accepted >= _MOST_TRIED):
        refused, accepted = accepted, 2 * accepted
    while accepted - refused > 1:
        middle = (accepted + refused) // 2
        refused, accepted = (refused, middle) if _runs(run, middle) else (middle, accepted)
    return accepted


def _runs(run: Callable[[int], object], rows: int, *, last: bool = False) -> bool:
    try:
        run(rows)
    except PrivcoreError:
        if last:
            raise
        return False
    return True


def rehearsal_rows(dataset: Described, rows: int) -> Dataset:
    """Draw synthetic rows over the same columns, at most 10,000,000.

    In half of the rows, a column has the same relative position in its range as the previous
    column, so that there are edges to find.  In the other rows, the column is uniform over its
    levels, or between its bounds.
    """
    drawn = np.random.default_rng(1)
    rows = min(rows, MAX_ROWS)
    shares, columns, values = drawn.random(rows), [], []
    for column in dataset.columns:
        shares = np.where(drawn.random(rows) < 0.5, shares, drawn.random(rows))
        if column.is_categorical:
            many = len(column.levels)
            values.append((shares * many).astype(np.min_scalar_type(max(many - 1, 0))))
        else:
            assert column.bounds is not None
            low, high = column.bounds
            values.append(low + shares * (high - low))
        columns.append(replace(column, declared=True))
    return Dataset("rehearsal", tuple(columns), tuple(values), unit=dataset.unit)
