"""Compiled loops that count tables and compute statistics from them; see `kernels`."""

from __future__ import annotations

from math import log

import numpy as np
from numba import int64, types, uint16, uint32
from numpy.typing import NDArray

from privcore.arrays import Integers, Vector
from privcore.kernels.arguments import Packed
from privcore.kernels.jit import compiled

PACKED = types.NamedTuple(
    (uint16[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1]), Packed
)


@compiled("int64(int64[::1], int64[::1], int64)")
def cells_of(levels: Integers, columns: Integers, most: int) -> int:
    """Number of cells of the table over the columns; `most` + 1 if the number exceeds `most`."""
    cells = 1
    for column in columns:
        cells = min(cells * levels[column], most + 1)
    return cells


@compiled("int64(int64[:, ::1], int64[::1])")
def view_of(places: Integers, columns: Integers) -> int:
    """Position of the projection with the fewest rows that contains the columns."""
    view = 0
    while True:
        holds = True
        for column in columns:
            holds = holds and places[view, column] >= 0
        if holds:
            return view
        view += 1


@compiled(int64(PACKED, int64, int64[::1], uint32[::1], int64[::1]))
def count_cells(
    packed: Packed, view: int, columns: Integers, keys: NDArray[np.uint32], table: Integers
) -> int:
    """Count the rows of a projection in a table over the columns; returns the number of cells.

    The first column varies slowest.  keys: a work array with one number per row.  table: the flat
    table to fill, which must contain zeros.
    """
    rows, start, levels = packed.sizes[view], packed.starts[view], packed.levels
    first = packed.weight_starts[view]
    weights = packed.weights[first : first + rows]
    cells = 1
    for position in range(columns.size):
        # Slices and unsigned numbers avoid checks for negative indices, and are vectorised.
        begin = start + packed.places[view, columns[position]] * rows
        column = packed.codes[begin : begin + rows]
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
        # Four tables in turn: a repeated cell does not wait for its last sum.
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


@compiled("Tuple((float64, int64))(int64[::1], int64, int64, int64, boolean, int64[::1])")
def statistic(
    table: Integers,
    strata: int,
    rx: int,
    ry: int,
    g_squared: bool,
    sums: Integers,
) -> tuple[float, int]:
    """G² or χ², and its degrees of freedom, as in `table_scores.tested`.

    table: counts as a flat array, in the order of the shape (strata, rx, ry).  sums: work array for
    the sums of rx rows and ry columns.
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


@compiled(int64[:, :, ::1](PACKED, int64[::1], int64))
def stratum_tables(packed: Packed, columns: Integers, cells: int) -> Integers:
    """Tables of the last two columns, in each stratum of the other columns that is not empty.

    cells: number of cells of the table over all columns.
    """
    levels = packed.levels
    table = np.zeros(cells, dtype=np.int64)
    keys = np.empty(packed.sizes[0], dtype=np.uint32)
    count_cells(packed, 0, columns, keys, table)
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


@compiled("Tuple((int64[:], int64[:]))(int64[:, :, ::1])")
def concordance(tables: Integers) -> tuple[Integers, Integers]:
    """Number of concordant minus discordant pairs, and number of rows, in each stratum.

    Both arrays have shape (strata,).
    """
    strata, rx, ry = tables.shape
    difference = np.zeros(strata, dtype=np.int64)
    totals = np.zeros(strata, dtype=np.int64)
    larger = np.empty(ry, dtype=np.int64)
    for stratum in range(strata):
        # By y: number of records with a larger x than the row.
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


@compiled("float64[:](int64[:, :, ::1])")
def z_star_terms(tables: Integers) -> Vector:
    """The terms F of `table_scores.z_star`, for strata with several records."""
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


@compiled("Tuple((float64[::1], float64[::1]))(int64[:, :, ::1])")
def kendall_terms(
    tables: Integers,
) -> tuple[Vector, Vector]:
    """The weights w and terms w·τ of `table_scores.kendall`, for strata with several records."""
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
