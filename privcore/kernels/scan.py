"""The compiled loop over the tests of one order of a skeleton search; see `kernels`."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64
from numpy.typing import NDArray

from privcore.arrays import Integers, Vector
from privcore.kernels.arguments import Packed
from privcore.kernels.jit import compiled
from privcore.kernels.tables import PACKED, cells_of, count_cells, statistic, view_of

# Results for a pair other than the number of the set that separated it.
DEPENDENT = -1
UNDECIDED = -2


@compiled("boolean(int64[::1], int64)")
def next_combination(chosen: Integers, n: int) -> bool:
    """Change `chosen` to the next sorted combination of numbers below n.

    Returns False if `chosen` is the last combination.
    """
    k = chosen.size
    for place in range(k - 1, -1, -1):
        if chosen[place] < n - k + place:
            chosen[place] += 1
            for after in range(place + 1, k):
                chosen[after] = chosen[after - 1] + 1
            return True
    return False


@compiled("int64(boolean[:, ::1], int64, int64, int64[::1])")
def neighbours(adjacent: NDArray[np.bool_], node: int, besides: int, out: Integers) -> int:
    """Write all neighbours of `node` except `besides` into `out`; returns their number."""
    n = 0
    for other in range(adjacent.shape[0]):
        if adjacent[node, other] and other != besides:
            out[n] = other
            n += 1
    return n


@compiled(
    int64(
        PACKED,
        int64[:, ::1],
        boolean[:, ::1],
        int64,
        boolean,
        float64[::1],
        int64,
        int64[::1],
        int64[::1],
        float64[::1],
        int64[::1],
    )
)
def scan_pairs(
    packed: Packed,
    pairs: Integers,
    adjacent: NDArray[np.bool_],
    order: int,
    g_squared: bool,
    critical: Vector,
    cells: int,
    verdicts: Integers,
    tests: Integers,
    values: Vector,
    degrees: Integers,
) -> int:
    """Test each pair given sets of `order` neighbours until a set separates the pair.

    pairs: shape (k, 2).  adjacent: adjacencies before this order of the search, shape (p, p).
    critical: the critical value for each number of degrees of freedom.
    verdicts (output): position of the separating set of each pair, DEPENDENT if no set separates
    the pair, or UNDECIDED if a value is so close to the critical value that rounding may matter, or
    if a table has more than `cells` cells.  tests (output): number of tests of each pair.
    values, degrees (outputs): statistic and degrees of freedom of the tests of all pairs.
    Returns the number of finished pairs; the scan ends early when the rest of `values` is too short
    for the tests of the next pair.
    """
    levels = packed.levels
    table = np.zeros(4 * cells, dtype=np.int64)
    keys = np.empty(packed.sizes[-1], dtype=np.uint32)
    sums = np.empty(2 * levels.max(), dtype=np.int64)
    columns = np.empty(order + 2, dtype=np.int64)
    chosen = np.empty(order, dtype=np.int64)
    around = np.empty(levels.size, dtype=np.int64)
    used = 0
    for pair in range(pairs.shape[0]):
        x, y = pairs[pair]
        begin = used
        verdict = DEPENDENT
        for side in range(2):
            n = neighbours(adjacent, pairs[pair, side], pairs[pair, 1 - side], around)
            if n < order:
                continue
            for k in range(order):
                chosen[k] = k
            while True:
                fresh = side == 0
                for k in range(order):
                    columns[k] = around[chosen[k]]
                    fresh = fresh or not adjacent[x, columns[k]]
                if fresh:
                    columns[order], columns[order + 1] = x, y
                    if cells_of(levels, columns, cells) > cells:
                        verdict = UNDECIDED
                        break
                    if used == values.size:
                        if begin > 0:
                            return pair
                        verdict = UNDECIDED
                        break
                    view = view_of(packed.places, columns)
                    filled = count_cells(packed, view, columns, keys, table)
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
            # Without conditioning there is one test, the same from either end.
            if verdict != DEPENDENT or order == 0:
                break
        if verdict == UNDECIDED:
            used = begin
        verdicts[pair] = verdict
        tests[pair] = used - begin
    return len(pairs)
