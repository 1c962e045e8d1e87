"""The compiled loop over tests of pairs given subsets of their neighbours; see `kernels`."""

from __future__ import annotations

from math import log

import numpy as np
from numba import njit
from numpy.typing import NDArray

from privcore.kernels.tables import count_cells, statistic

# A number of sets that is too large for any room.
_MANY = 1 << 40


@njit("int64[:, ::1](int64, int64)", cache=True, nogil=True)
def _choices(n: int, k: int) -> NDArray[np.int64]:
    """Binomial coefficients up to n over k, or `_MANY`."""
    choices = np.zeros((n + 1, k + 1), dtype=np.int64)
    for i in range(n + 1):
        choices[i, 0] = 1
        for j in range(1, min(i, k) + 1):
            choices[i, j] = min(choices[i - 1, j - 1] + choices[i - 1, j], _MANY)
    return choices


@njit("float64(int64, float64[::1])", cache=True, nogil=True, inline="always")
def _n_log_n(count: int, known: NDArray[np.float64]) -> float:
    return known[count] if count < known.size else count * log(count)


@njit(
    "Tuple((float64, int64))(int64[::1], int64, int64, int64, float64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def _g_squared(
    table: NDArray[np.int64],
    strata: int,
    rx: int,
    ry: int,
    known: NDArray[np.float64],
    sums: NDArray[np.int64],
) -> tuple[float, int]:
    """As `statistic`, from n log n of all counts: no logarithm, and up to 1e-9 the same value."""
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


@njit(
    "int64(uint16[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1],"
    "int64[::1], int64[:, ::1], boolean[:, ::1], int64, int64, boolean, int64,"
    "int64, float64[::1], int64[::1], float64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def test_every(
    codes: NDArray[np.uint16],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    weights: NDArray[np.int64],
    weight_starts: NDArray[np.int64],
    places: NDArray[np.int64],
    levels: NDArray[np.int64],
    pairs: NDArray[np.int64],
    adjacent: NDArray[np.bool_],
    first: int,
    last: int,
    g_squared: bool,
    cells: int,
    most: int,
    known: NDArray[np.float64],
    tests: NDArray[np.int64],
    values: NDArray[np.float64],
    degrees: NDArray[np.int64],
) -> int:
    """Test each pair given all sets of `first` to `last` neighbours; how many pairs were done.

    A table over the pair and its neighbours is counted once, and neighbours are summed out one at
    a time, so that most tables come from one that is hardly larger.

    codes, …, places: the projections, by size; places[v, c] is -1 where v lacks c.  pairs: shape
    (k, 2).  adjacent: (p, p).  cells: of the largest table that there is room for.
    most: of a table from which neighbours are summed out.
    known: n log n of the numbers from 0.
    tests: per pair, how many were made, by size and then in the order of `conditioning_sets`; -1
    where there is no room for a table, or for all tests.  values, degrees: of all tests in turn;
    when they are full the loop ends with the last pair that fits in.
    """
    p = levels.size
    degree = 0
    for node in range(p):
        degree = max(degree, adjacent[node].sum())
    choices = _choices(degree, last)
    table = np.zeros(4 * max(cells, most), dtype=np.int64)
    # Each table that is summed out comes after the one that it is made from, and is half as large.
    summed = np.empty(2 * most, dtype=np.int64)
    keys = np.empty(sizes[-1], dtype=np.uint32)
    sums = np.empty(2 * levels.max(), dtype=np.int64)
    around = np.empty((2, degree), dtype=np.int64)
    counts = np.empty(2, dtype=np.int64)
    columns = np.empty(degree + 2, dtype=np.int64)
    # The neighbours that are put in, and what becomes of each: left out, then put in, then done.
    chosen = np.empty(degree, dtype=np.int64)
    turn = np.empty(degree + 1, dtype=np.int64)
    # By how many of them are decided: where the table over all that are not left out begins, -1
    # where it is too large, and how many cells it has.
    begins = np.empty(degree + 1, dtype=np.int64)
    held = np.empty(degree + 1, dtype=np.int64)
    used = 0
    for pair in range(pairs.shape[0]):
        x, y = pairs[pair]
        rx, ry = levels[x], levels[y]
        for side in range(2):
            n = 0
            for node in range(p):
                if adjacent[pairs[pair, side], node] and node != pairs[pair, 1 - side]:
                    around[side, n] = node
                    n += 1
            counts[side] = n
        wanted = 0
        for order in range(first, last + 1):
            for side in range(2):
                if order <= counts[side]:
                    wanted = min(wanted + choices[counts[side], order], _MANY)
        if wanted > values.size - used:
            if used > 0:
                return pair
            tests[pair] = -1
            continue
        degrees[used : used + wanted] = -1
        fits = True
        for side in range(2):
            n = counts[side]
            view = 0
            while True:
                holds = places[view, x] >= 0 and places[view, y] >= 0
                for k in range(n):
                    holds = holds and places[view, around[side, k]] >= 0
                if holds:
                    break
                view += 1
            rows = weights[weight_starts[view] : weight_starts[view] + sizes[view]]
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
                    room = 1
                    for k in range(size + 2):
                        room = min(room * levels[columns[k]], max(cells, most) + 1)
                    if room <= most and turn[depth] == 0:
                        count_cells(
                            codes,
                            starts[view],
                            rows,
                            places[view],
                            levels,
                            columns[: size + 2],
                            keys,
                            table,
                        )
                        begins[depth], held[depth] = 0, room
                        summed[:room] = table[:room]
                        table[:room] = 0
                if depth == n:
                    fresh = side == 0
                    for k in range(into):
                        fresh = fresh or not adjacent[x, around[side, chosen[k]]]
                    if fresh and into >= first:
                        position = used
                        for order in range(first, into):
                            for other in range(2):
                                if order <= counts[other]:
                                    position += choices[counts[other], order]
                        if side == 1 and into <= counts[0]:
                            position += choices[counts[0], into]
                        before = -1
                        for k in range(into):
                            for skipped in range(before + 1, chosen[k]):
                                position += choices[n - 1 - skipped, into - 1 - k]
                            before = chosen[k]
                        begin = begins[depth]
                        if begin >= 0:
                            own = summed[begin : begin + held[depth]]
                        elif room <= cells:
                            count_cells(
                                codes,
                                starts[view],
                                rows,
                                places[view],
                                levels,
                                columns[: into + 2],
                                keys,
                                table,
                            )
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
                    # Only if those that follow can make up the number.
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
                            for a in range(before if fits else 0):
                                to = summed[end + a * after : end + (a + 1) * after]
                                source = begin + a * count * after
                                to[:] = summed[source : source + after]
                                for _ in range(1, count):
                                    source += after
                                    for cell in range(after):
                                        to[cell] += summed[source + cell]
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
        # Sets of the second end's neighbours that the first has, too, are not tested again.
        kept = used
        for position in range(used, used + wanted):
            if degrees[position] >= 0:
                values[kept], degrees[kept] = values[position], degrees[position]
                kept += 1
        tests[pair] = kept - used
        used = kept
    return len(pairs)
