"""Rows that have nothing of a table but what is public, to try a run on before it is paid for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from privcore.data import Dataset
from privcore.data.model import Described
from privcore.data.sampling import MAX_ROWS


def rehearsal_rows(dataset: Described) -> Dataset:
    """As many rows, at most 10,000,000, over the same columns.

    Each column follows the one before it in half of the rows, so that a search has something to
    do; otherwise its levels, or the values between its bounds, are equally probable.
    """
    drawn = np.random.default_rng(1)
    rows = min(dataset.n, MAX_ROWS)
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
