"""Synthetic rows, drawn from the public domain alone, to rehearse a run before it is charged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from privcore.data import Dataset
from privcore.data.model import Described
from privcore.data.sampling import MAX_ROWS


def rehearsal_rows(dataset: Described) -> Dataset:
    """Draw a synthetic row over the same columns for each row of the table, up to 10,000,000 rows.

    In half of the rows, a column has the same relative position in its range as the previous
    column, so that there are edges to find.  In the other rows, the column is uniform over its
    levels, or between its bounds.
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
