"""Counts over numeric columns that are cut into levels at points chosen during a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privcore.arrays import Vector
from privcore.counts.encoding import merged_rows
from privcore.counts.memory import InMemoryCounts
from privcore.counts.source import NumberSource


def cut_numbers(source: NumberSource, cuts: Sequence[Vector]) -> InMemoryCounts:
    """Counts over the columns of a source of numbers, each column cut at its own points.

    cuts: for each column, increasing cut points on its scale in `NumberSource.moments`, where its
    bounds are −1 and 1.  A column with k points has k + 1 levels, even if some levels have no rows.
    """
    rows, multiplicities = source.rows()
    levels = tuple(len(points) + 1 for points in cuts)
    codes = [
        np.searchsorted(points, column, side="right").astype(np.uint16)
        for points, column in zip(cuts, rows.T, strict=True)
    ]
    merged, counts = merged_rows(codes, levels, multiplicities.astype(np.int64))
    return InMemoryCounts(source.names, levels, tuple(merged), counts, source.caveats)
