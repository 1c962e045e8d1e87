"""The compiled loop that removes records greedily for EM-PC's distance; see `kernels`."""

from __future__ import annotations

from math import log, log1p

import numpy as np

from privcore.arrays import Integers, Vector
from privcore.kernels.jit import compiled
from privcore.kernels.tables import statistic


@compiled("float64(int64)")
def drop(n: int) -> float:
    """The change in n ln n if n falls by 1: (n − 1) ln(n − 1) − n ln n, and 0 for n ≤ 1."""
    return (n - 1) * log1p(-1.0 / n) - log(n) if n > 1 else 0.0


@compiled("Tuple((float64, int64, float64, int64))(int64[:, ::1], float64, int64[::1])")
def examine(table: Integers, sign: float, sums: Integers) -> tuple[float, int, float, int]:
    """G² of one stratum, its degrees of freedom, the largest gain, and the cell with this gain.

    The gain of a cell is `sign` times half the change in G² if one record of the cell is removed.
    In an empty stratum the largest gain is −∞.  sums: work array as for `statistic`.
    """
    rx, ry = table.shape
    value, degrees = statistic(table.ravel(), 1, rx, ry, True, sums)
    rows, columns = sums[:rx], sums[rx : rx + ry]
    best, cell = -np.inf, 0
    of_total = drop(rows.sum())
    for i in range(rx):
        of_row = drop(rows[i])
        for j in range(ry):
            count = table[i, j]
            if count == 0:
                continue
            # Equal counts cancel, so that ties are exact.
            if count == columns[j]:
                gain = of_total - of_row
            elif count == rows[i]:
                gain = of_total - drop(columns[j])
            else:
                gain = (drop(count) + of_total) - (of_row + drop(columns[j]))
            gain *= sign
            if gain > best:
                best, cell = gain, i * ry + j
    return value, degrees, best, cell


@compiled("boolean(float64[::1], int64[::1], float64[::1])")
def independent(values: Vector, degrees: Integers, critical: Vector) -> bool:
    """Whether the pair counts as independent, by G² summed over the strata."""
    free = degrees.sum()
    return bool(free == 0 or values.sum() <= critical[free])


@compiled("int64(int64[:, :, ::1], float64[::1], int64)")
def greedy_removals(tables: Integers, critical: Vector, stride: int) -> int:
    """The compiled part of `greedy_distance`; returns the signed number of removed records.

    tables: shape (strata, levels of x, levels of y), overwritten.  critical: the critical value of
    G² for each number of degrees of freedom.  stride: a step removes at most 1/stride of the number
    of records removed before, but at least one record.
    """
    strata, rx, ry = tables.shape
    sums = np.empty(rx + ry, dtype=np.int64)
    values = np.empty(strata)
    degrees = np.empty(strata, dtype=np.int64)
    gains = np.empty(strata)
    cells = np.empty(strata, dtype=np.int64)
    for b in range(strata):
        values[b], degrees[b], gains[b], cells[b] = examine(tables[b], 1.0, sums)
    before = independent(values, degrees, critical)
    sign = 1.0 if before else -1.0
    if not before:
        for b in range(strata):
            values[b], degrees[b], gains[b], cells[b] = examine(tables[b], sign, sums)
    left = tables.sum()
    removed = 0
    while left > 2:
        b = int(np.argmax(gains))
        i, j = divmod(cells[b], ry)
        step = max(1, min(tables[b, i, j] - 1, removed // stride))
        tables[b, i, j] -= step
        removed += step
        left -= step
        values[b], degrees[b], gains[b], cells[b] = examine(tables[b], sign, sums)
        if independent(values, degrees, critical) == before:
            continue
        while step > 1:
            # Go back half of the last step, unless that undoes the crossing.
            back = step // 2
            tables[b, i, j] += back
            values[b], degrees[b], _, _ = examine(tables[b], sign, sums)
            if independent(values, degrees, critical) == before:
                tables[b, i, j] -= back
            else:
                removed -= back
            step -= back
        break
    return removed if before else -removed
