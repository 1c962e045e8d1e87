"""Compiled loops that count tables and make statistics of them; see `kernels`."""

from __future__ import annotations

from math import log

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(
    "int64(uint16[::1], int64, int64[::1], int64[::1], int64[::1], int64[::1], uint32[::1],"
    "int64[::1])",
    cache=True,
    nogil=True,
)
def count_cells(
    codes: NDArray[np.uint16],
    start: int,
    weights: NDArray[np.int64],
    places: NDArray[np.int64],
    levels: NDArray[np.int64],
    columns: NDArray[np.int64],
    keys: NDArray[np.uint32],
    table: NDArray[np.int64],
) -> int:
    """Add the weights of rows to the cells of `table` (first column slowest); the cells used.

    codes: flat, of which the column at place k starts at start + k · rows.  places: of each column.
    columns: those of the table.  keys: room for the rows' keys.  table: zeros.
    """
    rows = weights.size
    cells = 1
    for position in range(columns.size):
        # Slices and unsigned numbers spare a check for negative indices, and are vectorised.
        begin = start + places[columns[position]] * rows
        column = codes[begin : begin + rows]
        count = np.uint32(levels[columns[position]])
        cells *= levels[columns[position]]
        if position == 0:
            for row in range(rows):
                keys[row] = column[row]
        else:
            for row in range(rows):
                keys[row] = np.uint32(keys[row] * count) + np.uint32(column[row])
    done = 0
    if 4 * cells <= table.size and rows > 16 * cells:
        # Four tables in turn: a cell that repeats need not wait for its last sum.
        second, third, fourth = table[cells:], table[2 * cells :], table[3 * cells :]
        done = rows // 4 * 4
        for row in range(0, done, 4):
            table[keys[row]] += weights[row]
            second[keys[row + 1]] += weights[row + 1]
            third[keys[row + 2]] += weights[row + 2]
            fourth[keys[row + 3]] += weights[row + 3]
        for cell in range(cells):
            table[cell] += second[cell] + third[cell] + fourth[cell]
        table[cells : 4 * cells] = 0
    for row in range(done, rows):
        table[keys[row]] += weights[row]
    return cells


@njit(
    "Tuple((float64, int64))(int64[::1], int64, int64, int64, boolean, int64[::1])",
    cache=True,
    nogil=True,
)
def statistic(
    table: NDArray[np.int64],
    strata: int,
    rx: int,
    ry: int,
    g_squared: bool,
    sums: NDArray[np.int64],
) -> tuple[float, int]:
    """G² or χ², and its degrees of freedom, as in `frequencies`.

    table: flat, (strata, rx, ry).  sums: room for the sums of rx rows and ry columns.
    """
    value = 0.0
    degrees = 0
    for stratum in range(strata):
        base = stratum * rx * ry
        sums[: rx + ry] = 0
        total = 0
        for i in range(rx):
            for j in range(ry):
                count = table[base + i * ry + j]
                sums[i] += count
                sums[rx + j] += count
                total += count
        if total == 0:
            continue
        rows = columns = 0
        for i in range(rx):
            rows += sums[i] > 0
        for j in range(ry):
            columns += sums[rx + j] > 0
        degrees += (rows - 1) * (columns - 1)
        for i in range(rx):
            for j in range(ry):
                count = table[base + i * ry + j]
                expected = float(sums[i]) * float(sums[rx + j]) / total
                if g_squared:
                    # Near 0 where x and y are independent, so that nothing large cancels.
                    if count > 0:
                        value += 2.0 * count * log(count / expected)
                elif expected > 0:
                    value += (count - expected) ** 2 / expected
    return max(value, 0.0), degrees


@njit(
    "int64[:, :, ::1](uint16[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64)",
    cache=True,
    nogil=True,
)
def stratum_tables(
    codes: NDArray[np.uint16],
    weights: NDArray[np.int64],
    places: NDArray[np.int64],
    levels: NDArray[np.int64],
    columns: NDArray[np.int64],
    cells: int,
) -> NDArray[np.int64]:
    """The table of the last two columns in each stratum of the others that has rows.

    codes, places: as in `count_cells`, from position 0.  cells: of the table over all columns.
    """
    table = np.zeros(cells, dtype=np.int64)
    keys = np.empty(weights.size, dtype=np.uint32)
    count_cells(codes, 0, weights, places, levels, columns, keys, table)
    rx, ry = levels[columns[-2]], levels[columns[-1]]
    strata = cells // (rx * ry)
    if strata == 1:
        return table.reshape(1, rx, ry)
    kept = 0
    for stratum in range(strata):
        begin = stratum * rx * ry
        if table[begin : begin + rx * ry].any():
            for cell in range(rx * ry):
                table[kept * rx * ry + cell] = table[begin + cell]
            kept += 1
    return table[: kept * rx * ry].copy().reshape(kept, rx, ry)


@njit("Tuple((int64[:], int64[:]))(int64[:, :, ::1])", cache=True, nogil=True)
def concordance(tables: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """As `ranks.concordance`: concordant minus discordant pairs of each stratum, and its size."""
    strata, rx, ry = tables.shape
    difference = np.zeros(strata, dtype=np.int64)
    totals = np.zeros(strata, dtype=np.int64)
    larger = np.empty(ry, dtype=np.int64)
    for stratum in range(strata):
        # By their y, how many records have a larger x than the row.
        larger[:] = 0
        for i in range(rx - 1, -1, -1):
            right = larger.sum()
            left = 0
            for j in range(ry):
                right -= larger[j]
                difference[stratum] += tables[stratum, i, j] * (right - left)
                left += larger[j]
            for j in range(ry):
                larger[j] += tables[stratum, i, j]
        totals[stratum] = larger.sum()
    return difference, totals


@njit("float64[:](int64[:, :, ::1])", cache=True, nogil=True)
def z_star_terms(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """F of each stratum with more than one record, as in `ranks.z_star`."""
    difference, totals = concordance(tables)
    terms = np.empty(totals.size)
    kept = 0
    for stratum in range(totals.size):
        if totals[stratum] > 1:
            shifted = totals[stratum] + 0.75
            s = difference[stratum]
            terms[kept] = np.sign(s) * (np.sqrt(shifted * shifted + 2.0 * abs(s)) - shifted)
            kept += 1
    return terms[:kept].copy()


@njit("Tuple((float64[::1], float64[::1]))(int64[:, :, ::1])", cache=True, nogil=True)
def kendall_terms(
    tables: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """w and w·τ of each stratum with more than one record, as in `ranks.kendall`."""
    difference, totals = concordance(tables)
    weights = np.empty(totals.size)
    terms = np.empty(totals.size)
    kept = 0
    for stratum in range(totals.size):
        if totals[stratum] > 1:
            m = float(totals[stratum])
            pairs = m * (m - 1)
            weights[kept] = 9 * pairs / (2 * (2 * m + 5))
            terms[kept] = weights[kept] * 2 * difference[stratum] / pairs
            kept += 1
    return weights[:kept].copy(), terms[:kept].copy()
