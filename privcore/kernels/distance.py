"""The compiled loop that removes records greedily for EM-PC's distance; see `kernels`."""

from __future__ import annotations

from math import log, log1p

import numpy as np
from numba import njit
from numpy.typing import NDArray

DEPENDENT, INDEPENDENT, UNCLEAR = 0, 1, 2


@njit("float64(int64)", cache=True, nogil=True)
def drop(n: int) -> float:
    """(n − 1) ln(n − 1) − n ln n, and 0 at n = 0."""
    return (n - 1) * log1p(-1.0 / n) - log(n) if n > 1 else 0.0


@njit(
    "Tuple((float64, int64, float64, int64))(int64[:, ::1], float64, int64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def examine(
    table: NDArray[np.int64], sign: float, rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> tuple[float, int, float, int]:
    """G² of one stratum, its degrees of freedom, and the largest gain with the cell it comes from.

    The gain is `sign` times half of what removing one record of a cell adds to G²; −∞ where there
    is no record.  rows, columns: room for the sums.
    """
    rx, ry = table.shape
    rows[:] = 0
    columns[:] = 0
    total = 0
    for i in range(rx):
        for j in range(ry):
            rows[i] += table[i, j]
            columns[j] += table[i, j]
        total += rows[i]
    used_rows = used_columns = 0
    for i in range(rx):
        used_rows += rows[i] > 0
    for j in range(ry):
        used_columns += columns[j] > 0
    degrees = max(used_rows - 1, 0) * max(used_columns - 1, 0)
    value = 0.0
    best, cell = -np.inf, 0
    of_total = drop(total)
    for i in range(rx):
        of_row = drop(rows[i])
        for j in range(ry):
            count = table[i, j]
            if count == 0:
                continue
            expected = float(rows[i]) * float(columns[j]) / total
            value += 2.0 * count * log(count / expected)
            # Equal counts cancel, in numpy as here, so that ties are exact.
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


@njit("int64(float64[::1], int64[::1], float64[::1])", cache=True, nogil=True)
def verdict(
    values: NDArray[np.float64], degrees: NDArray[np.int64], critical: NDArray[np.float64]
) -> int:
    """Whether G² summed over the strata counts as independent; UNCLEAR if rounding may matter."""
    value = max(values.sum(), 0.0)
    free = degrees.sum()
    if free == 0:
        return INDEPENDENT
    if free >= critical.size or abs(value - critical[free]) <= 1e-8 * (1 + critical[free]):
        return UNCLEAR
    return INDEPENDENT if value < critical[free] else DEPENDENT


@njit("Tuple((int64, boolean))(int64[:, :, ::1], float64[::1], int64)", cache=True, nogil=True)
def greedy_removals(
    tables: NDArray[np.int64], critical: NDArray[np.float64], stride: int
) -> tuple[int, bool]:
    """The result of `greedy_distance`, and whether every verdict on the way was clear.

    tables: are used up.  critical: by degrees of freedom, the largest G² that counts as
    independent.  stride: a step removes at most this part of what was removed before.
    """
    strata, rx, ry = tables.shape
    rows = np.empty(rx, dtype=np.int64)
    columns = np.empty(ry, dtype=np.int64)
    values = np.empty(strata)
    degrees = np.empty(strata, dtype=np.int64)
    gains = np.empty(strata)
    cells = np.empty(strata, dtype=np.int64)
    for b in range(strata):
        values[b], degrees[b], gains[b], cells[b] = examine(tables[b], 1.0, rows, columns)
    before = verdict(values, degrees, critical)
    sign = 1.0
    if before == DEPENDENT:
        sign = -1.0
        for b in range(strata):
            values[b], degrees[b], gains[b], cells[b] = examine(tables[b], sign, rows, columns)
    now = before
    left = tables.sum()
    removed = 0
    while now == before and now != UNCLEAR and left > 2:
        b = int(np.argmax(gains))
        i, j = divmod(cells[b], ry)
        step = max(1, min(tables[b, i, j] - 1, removed // stride))
        tables[b, i, j] -= step
        removed += step
        left -= step
        values[b], degrees[b], gains[b], cells[b] = examine(tables[b], sign, rows, columns)
        now = verdict(values, degrees, critical)
        while now != before and now != UNCLEAR and step > 1:
            # Go back half of the last step, unless that undoes the crossing.
            back = step // 2
            tables[b, i, j] += back
            values[b], degrees[b], _, _ = examine(tables[b], sign, rows, columns)
            halfway = verdict(values, degrees, critical)
            if halfway == before:
                tables[b, i, j] -= back
            else:
                now = halfway
                removed -= back
            step -= back
    return (-removed if before == DEPENDENT else removed), now != UNCLEAR
