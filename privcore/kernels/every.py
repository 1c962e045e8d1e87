"""The compiled loop over tests of pairs given subsets of their neighbours; see `kernels`."""

from __future__ import annotations

from math import log

import numpy as np
from numba import boolean, float64, int64
from numpy.typing import NDArray

from privcore.arrays import Integers, Vector
from privcore.kernels.arguments import Packed
from privcore.kernels.jit import compiled
from privcore.kernels.scan import neighbours
from privcore.kernels.tables import PACKED, cells_of, count_cells, statistic, view_of

# A number of sets too large for any array.
_MANY = 1 << 40


@compiled("int64[:, ::1](int64, int64)")
def _choices(n: int, k: int) -> Integers:
    """Binomial coefficients up to n choose k, each at most `_MANY`."""
    choices = np.zeros((n + 1, k + 1), dtype=np.int64)
    for i in range(n + 1):
        choices[i, 0] = 1
        for j in range(1, min(i, k) + 1):
            choices[i, j] = min(choices[i - 1, j - 1] + choices[i - 1, j], _MANY)
    return choices


@compiled("float64(int64, float64[::1])")
def _n_log_n(count: int, known: Vector) -> float:
    return known[count] if count < known.size else count * log(count)


@compiled("Tuple((float64, int64))(int64[::1], int64, int64, int64, float64[::1], int64[::1])")
def _g_squared(
    table: Integers,
    strata: int,
    rx: int,
    ry: int,
    known: Vector,
    sums: Integers,
) -> tuple[float, int]:
    """G² as in `statistic`, but from a table of n log n; the two results agree to within 1e-9."""
    value = 0.0
    degrees = 0
    for stratum in range(strata):
        base = stratum * rx * ry
        sums[: rx + ry] = 0
        own = 0.0
        total = 0
        for i in range(rx):
            row = 0
            for j in range(ry):
                count = table[base + i * ry + j]
                if count:
                    row += count
                    sums[rx + j] += count
                    own += _n_log_n(count, known)
            sums[i] = row
            total += row
        if total == 0:
            continue
        rows = columns = 0
        for i in range(rx):
            rows += sums[i] > 0
            own -= _n_log_n(sums[i], known)
        for j in range(ry):
            columns += sums[rx + j] > 0
            own -= _n_log_n(sums[rx + j], known)
        degrees += (rows - 1) * (columns - 1)
        value += 2.0 * (own + _n_log_n(total, known))
    return max(value, 0.0), degrees


@compiled("int64(int64[:, ::1], int64[::1], int64, int64)")
def _sets(choices: Integers, counts: Integers, first: int, last: int) -> int:
    """Number of sets of `first` to `last` − 1 neighbours of either end, at most `_MANY`."""
    sets = 0
    for order in range(first, last):
        for side in range(2):
            if order <= counts[side]:
                sets = min(sets + choices[counts[side], order], _MANY)
    return sets


@compiled("int64(int64[:, ::1], int64[::1], int64, int64, int64[::1])")
def _position(choices: Integers, counts: Integers, side: int, first: int, chosen: Integers) -> int:
    """Position of a set of one end's neighbours in the order of the results of `test_every`."""
    n, size = counts[side], chosen.size
    position = _sets(choices, counts, first, size)
    if side == 1 and size <= counts[0]:
        position += choices[counts[0], size]
    before = -1
    for k in range(size):
        for skipped in range(before + 1, chosen[k]):
            position += choices[n - 1 - skipped, size - 1 - k]
        before = chosen[k]
    return position


@compiled("void(int64[::1], int64, int64, int64, int64, int64)")
def _sum_out(table: Integers, begin: int, end: int, before: int, count: int, after: int) -> None:
    """Sum out a column with `count` levels, from the table at `begin` into the table at `end`.

    before, after: numbers of cells of the columns before and after the summed column.
    """
    for a in range(before):
        to = table[end + a * after : end + (a + 1) * after]
        source = begin + a * count * after
        to[:] = 0
        for _ in range(count):
            for cell in range(after):
                to[cell] += table[source + cell]
            source += after


@compiled(
    int64(
        PACKED,
        int64[:, ::1],
        boolean[:, ::1],
        int64,
        int64,
        boolean,
        int64,
        int64,
        float64[::1],
        int64[::1],
        float64[::1],
        int64[::1],
    )
)
def test_every(
    packed: Packed,
    pairs: Integers,
    adjacent: NDArray[np.bool_],
    first: int,
    last: int,
    g_squared: bool,
    cells: int,
    most: int,
    known: Vector,
    tests: Integers,
    values: Vector,
    degrees: Integers,
) -> int:
    """Test each pair given all sets of `first` to `last` neighbours.

    A table over the pair and its neighbours is counted once, and neighbours are summed out one at a
    time, so that most tables are computed from a table that is only slightly larger.

    pairs: shape (k, 2).  adjacent: shape (p, p).  cells: maximum number of cells of a table.
    most: maximum number of cells of a table from which neighbours are summed out.
    known: n log n for n = 0, 1, 2, ….
    tests (output): number of tests of each pair; -1 if a table has too many cells, or if `values`
    is too short for the tests of this pair alone.
    values, degrees (outputs): statistic and degrees of freedom of the tests of all pairs, in order
    of the size of the set and then as in `conditioning_sets`.
    Returns the number of finished pairs; the loop ends early when the rest of `values` is too short
    for the tests of the next pair.
    """
    levels = packed.levels
    degree = 0
    for node in range(levels.size):
        degree = max(degree, adjacent[node].sum())
    choices = _choices(degree, last)
    table = np.zeros(4 * max(cells, most), dtype=np.int64)
    # Each summed-out table follows the table from which it is made, and is at most half as large.
    summed = np.empty(2 * most, dtype=np.int64)
    keys = np.empty(packed.sizes[-1], dtype=np.uint32)
    sums = np.empty(2 * levels.max(), dtype=np.int64)
    around = np.empty((2, degree), dtype=np.int64)
    counts = np.empty(2, dtype=np.int64)
    columns = np.empty(degree + 2, dtype=np.int64)
    # The neighbours included, and the state of each: left out, then included, then done.
    chosen = np.empty(degree, dtype=np.int64)
    turn = np.empty(degree + 1, dtype=np.int64)
    # By number of decided neighbours: start of the table over all that are not left out, -1 if
    # it is too large, and its number of cells.
    begins = np.empty(degree + 1, dtype=np.int64)
    held = np.empty(degree + 1, dtype=np.int64)
    used = 0
    for pair in range(pairs.shape[0]):
        x, y = pairs[pair]
        rx, ry = levels[x], levels[y]
        for side in range(2):
            node, other = pairs[pair, side], pairs[pair, 1 - side]
            counts[side] = neighbours(adjacent, node, other, around[side])
        wanted = _sets(choices, counts, first, last + 1)
        if wanted > values.size - used:
            if used > 0:
                return pair
            tests[pair] = -1
            continue
        degrees[used : used + wanted] = -1
        fits = True
        for side in range(2):
            n = counts[side]
            for k in range(n):
                columns[k] = around[side, k]
            columns[n], columns[n + 1] = x, y
            view = view_of(packed.places, columns[: n + 2])
            depth = into = 0
            begins[0], turn[0] = -1, 0
            while depth >= 0 and fits:
                if begins[depth] < 0:
                    size = 0
                    for k in range(into):
                        columns[size] = around[side, chosen[k]]
                        size += 1
                    for k in range(depth, n):
                        columns[size] = around[side, k]
                        size += 1
                    columns[size], columns[size + 1] = x, y
                    room = cells_of(levels, columns[: size + 2], max(cells, most))
                    if room <= most and turn[depth] == 0:
                        count_cells(packed, view, columns[: size + 2], keys, table)
                        begins[depth], held[depth] = 0, room
                        for cell in range(room):
                            summed[cell] = table[cell]
                            table[cell] = 0
                if depth == n:
                    fresh = side == 0
                    for k in range(into):
                        fresh = fresh or not adjacent[x, around[side, chosen[k]]]
                    if fresh and into >= first:
                        position = used + _position(choices, counts, side, first, chosen[:into])
                        begin = begins[depth]
                        if begin >= 0:
                            own = summed[begin : begin + held[depth]]
                        elif room <= cells:
                            count_cells(packed, view, columns[: into + 2], keys, table)
                            own = table[:room]
                        else:
                            fits = False
                            break
                        strata = own.size // (rx * ry)
                        if g_squared:
                            value = _g_squared(own, strata, rx, ry, known, sums)
                        else:
                            value = statistic(own, strata, rx, ry, False, sums)
                        values[position], degrees[position] = value
                        if begin < 0:
                            table[:room] = 0
                    depth -= 1
                elif turn[depth] == 0:
                    turn[depth] = 1
                    # Only if the remaining neighbours can complete the set.
                    if into + n - depth - 1 >= first:
                        begin = begins[depth]
                        begins[depth + 1] = begin
                        if begin >= 0:
                            before = 1
                            for k in range(into):
                                before *= levels[around[side, chosen[k]]]
                            count = levels[around[side, depth]]
                            after = held[depth] // (before * count)
                            end = begin + held[depth]
                            begins[depth + 1], held[depth + 1] = end, before * after
                            fits = end + before * after <= summed.size
                            if fits:
                                _sum_out(summed, begin, end, before, count, after)
                        turn[depth + 1] = 0
                        depth += 1
                elif turn[depth] == 1:
                    turn[depth] = 2
                    if into < last:
                        chosen[into] = depth
                        into += 1
                        begins[depth + 1], held[depth + 1] = begins[depth], held[depth]
                        turn[depth + 1] = 0
                        depth += 1
                else:
                    if into > 0 and chosen[into - 1] == depth:
                        into -= 1
                    depth -= 1
        if not fits:
            tests[pair] = -1
            continue
        # Sets of neighbours of both ends are not tested again from the second end.
        kept = used
        for position in range(used, used + wanted):
            if degrees[position] >= 0:
                values[kept], degrees[kept] = values[position], degrees[position]
                kept += 1
        tests[pair] = kept - used
        used = kept
    return len(pairs)
