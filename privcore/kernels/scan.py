"""The compiled loop over the tests of one order of a skeleton search; see `kernels`."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from privcore.kernels.tables import count_cells, statistic

# What became of a pair, where it is not the number of the set that separated it.
DEPENDENT = -1
UNDECIDED = -2


@njit("boolean(int64[::1], int64)", cache=True, nogil=True)
def next_combination(chosen: NDArray[np.int64], n: int) -> bool:
    """Step to the next choice of positions below n in sorted order; False after the last."""
    k = chosen.size
    for place in range(k - 1, -1, -1):
        if chosen[place] < n - k + place:
            chosen[place] += 1
            for after in range(place + 1, k):
                chosen[after] = chosen[after - 1] + 1
            return True
    return False


@njit(
    "int64(uint16[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1],"
    "int64[::1], int64[:, ::1], boolean[:, ::1], int64, boolean, float64[::1], int64,"
    "int64[::1], int64[::1], float64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def scan_pairs(
    codes: NDArray[np.uint16],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    weights: NDArray[np.int64],
    weight_starts: NDArray[np.int64],
    places: NDArray[np.int64],
    levels: NDArray[np.int64],
    pairs: NDArray[np.int64],
    adjacent: NDArray[np.bool_],
    order: int,
    g_squared: bool,
    critical: NDArray[np.float64],
    cells: int,
    verdicts: NDArray[np.int64],
    tests: NDArray[np.int64],
    values: NDArray[np.float64],
    degrees: NDArray[np.int64],
) -> int:
    """Test each pair given sets of its neighbours until one separates it; how many pairs were done.

    codes, starts, sizes, weights, weight_starts, places: the projections, by size; places[v, c]
    is -1 where v lacks c.  pairs: shape (k, 2).  adjacent: (p, p), as it was before the order.
    critical: by degrees of freedom, the largest value that counts as independent; values so close
    to it that rounding may matter are left UNDECIDED, as are tables above `cells` cells.
    verdicts, tests: per pair, the number of the set that separated it (or a constant above), and
    how many were tested.  values, degrees: of all tests in turn; when they are full the scan ends
    with the last pair that fits in.
    """
    p = levels.size
    table = np.zeros(4 * cells, dtype=np.int64)
    keys = np.empty(sizes[-1], dtype=np.uint32)
    sums = np.empty(2 * levels.max(), dtype=np.int64)
    columns = np.empty(order + 2, dtype=np.int64)
    chosen = np.empty(order, dtype=np.int64)
    around = np.empty(p, dtype=np.int64)
    used = 0
    for pair in range(pairs.shape[0]):
        x, y = pairs[pair]
        begin = used
        verdict = DEPENDENT
        for side in range(2):
            end, other = (x, y) if side == 0 else (y, x)
            n = 0
            for node in range(p):
                if adjacent[end, node] and node != other:
                    around[n] = node
                    n += 1
            if n < order:
                continue
            chosen[:] = np.arange(order)
            while True:
                fresh = side == 0
                for k in range(order):
                    columns[k] = around[chosen[k]]
                    fresh = fresh or not adjacent[x, columns[k]]
                if fresh:
                    columns[order], columns[order + 1] = x, y
                    room = 1
                    for column in columns:
                        room *= levels[column]
                        if room > cells:
                            break
                    if room > cells:
                        verdict = UNDECIDED
                        break
                    if used == values.size:
                        if begin > 0:
                            return pair
                        verdict = UNDECIDED
                        break
                    view = 0
                    while True:
                        holds = True
                        for column in columns:
                            holds = holds and places[view, column] >= 0
                        if holds:
                            break
                        view += 1
                    rows = sizes[view]
                    first = weight_starts[view]
                    filled = count_cells(
                        codes,
                        starts[view],
                        weights[first : first + rows],
                        places[view],
                        levels,
                        columns,
                        keys,
                        table,
                    )
                    rx, ry = levels[x], levels[y]
                    value, free = statistic(table, filled // (rx * ry), rx, ry, g_squared, sums)
                    table[:filled] = 0
                    values[used], degrees[used] = value, free
                    used += 1
                    if free == 0:
                        verdict = used - begin - 1
                        break
                    if free >= critical.size:
                        verdict = UNDECIDED
                        break
                    bound = critical[free]
                    if abs(value - bound) <= 1e-8 * (1 + bound):
                        verdict = UNDECIDED
                        break
                    if value < bound:
                        verdict = used - begin - 1
                        break
                if order == 0 or not next_combination(chosen, n):
                    break
            # With no conditioning set there is one test, and it is the same from either end.
            if verdict != DEPENDENT or order == 0:
                break
        if verdict == UNDECIDED:
            used = begin
        verdicts[pair] = verdict
        tests[pair] = used - begin
    return len(pairs)
