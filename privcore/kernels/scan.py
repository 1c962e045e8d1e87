"""The compiled loop over the tests of pairs given sets of their neighbours; see `kernels`."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, uint32
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


@compiled("int64[::1](boolean[:, ::1], int64, int64)")
def neighbours(adjacent: NDArray[np.bool_], node: int, besides: int) -> Integers:
    """All neighbours of `node` except `besides`."""
    around = np.flatnonzero(adjacent[node])
    return np.asarray(around[around != besides])


@compiled(PACKED(PACKED, int64[::1], int64, uint32[::1], int64[::1]))
def merged(
    packed: Packed, columns: Integers, most: int, keys: NDArray[np.uint32], table: Integers
) -> Packed:
    """The rows merged over some columns, or all rows if the columns have more than `most` cells.

    keys, table: work arrays as for `count_cells`.
    """
    levels = packed.levels
    if cells_of(levels, columns, most) > most:
        return packed
    cells = count_cells(packed, view_of(packed.places, columns), columns, keys, table)
    size = np.count_nonzero(table[:cells])
    weights = np.empty(size, dtype=np.int64)
    codes = np.empty((columns.size, size), dtype=np.uint16)
    digits = np.zeros(columns.size, dtype=np.uint16)
    row = 0
    for cell in range(cells):
        if table[cell]:
            weights[row] = table[cell]
            table[cell] = 0
            codes[:, row] = digits
            row += 1
        for place in range(columns.size - 1, -1, -1):
            digits[place] += 1
            if digits[place] < levels[columns[place]]:
                break
            digits[place] = 0
    places = np.full((1, levels.size), -1)
    places[0, columns] = np.arange(columns.size)
    start = np.zeros(1, dtype=np.int64)
    return Packed(codes.ravel(), start, np.full(1, size), weights, start, places, levels)


@compiled("int64(float64, int64, float64[::1])")
def decided(value: float, degrees: int, critical: Vector) -> int:
    """0 if a test finds independence, else DEPENDENT or UNDECIDED; see `test_pairs`."""
    if degrees == 0:
        return 0
    if degrees >= critical.size:
        return UNDECIDED
    bound = critical[degrees]
    if abs(value - bound) <= 1e-8 * (1 + bound):
        return UNDECIDED
    return 0 if value < bound else DEPENDENT


@compiled(
    int64(
        PACKED,
        int64[:, ::1],
        boolean[:, ::1],
        int64,
        int64,
        boolean,
        boolean,
        float64[::1],
        int64,
        int64[::1],
        int64[::1],
        float64[::1],
        int64[::1],
    )
)
def test_pairs(
    packed: Packed,
    pairs: Integers,
    adjacent: NDArray[np.bool_],
    first: int,
    last: int,
    every: bool,
    g_squared: bool,
    critical: Vector,
    cells: int,
    verdicts: Integers,
    tests: Integers,
    values: Vector,
    degrees: Integers,
) -> int:
    """Test each pair given sets of `first` to `last` neighbours, ordered as `conditioning_sets`.

    pairs: shape (k, 2).  adjacent: shape (p, p).  every: whether to test every set; otherwise a
    pair is done when a set separates it.
    critical: the critical value for each number of degrees of freedom; not used with `every`.
    verdicts (output): position of the separating set of each pair, DEPENDENT if no set separates
    the pair, or UNDECIDED if a value is so close to the critical value that rounding may matter, or
    if a table has more than `cells` cells.  tests (output): number of tests of each pair.
    values, degrees (outputs): statistic and degrees of freedom of the tests of all pairs.
    Returns the number of finished pairs; the loop ends early when the rest of `values` is too short
    for the tests of the next pair.
    """
    levels = packed.levels
    table = np.zeros(4 * cells, dtype=np.int64)
    keys = np.empty(packed.sizes[-1], dtype=np.uint32)
    sums = np.empty(2 * levels.max(), dtype=np.int64)
    columns = np.empty(last + 2, dtype=np.int64)
    used = 0
    for pair in range(pairs.shape[0]):
        x, y = pairs[pair]
        rx, ry = levels[x], levels[y]
        around = neighbours(adjacent, x, y), neighbours(adjacent, y, x)
        begin, verdict = used, DEPENDENT
        # All sets are taken from the neighbours of either end, so rows merged over them are enough.
        rows = (packed, packed)
        if every:
            rows = (
                merged(packed, np.append(around[0], pairs[pair]), cells, keys, table),
                merged(packed, np.append(around[1], pairs[pair]), cells, keys, table),
            )
        # Without conditioning there is one test, the same from either end.
        for turn in range(2 * first, 2 * last + 2):
            order, side = turn // 2, turn % 2
            candidates = around[side]
            more = candidates.size >= order and turn != 1
            wanted, chosen = columns[: order + 2], np.arange(order)
            wanted[order], wanted[order + 1] = x, y
            while more and verdict == DEPENDENT:
                fresh = side == 0
                for k in range(order):
                    wanted[k] = candidates[chosen[k]]
                    fresh = fresh or not adjacent[x, wanted[k]]
                more = next_combination(chosen, candidates.size)
                if not fresh:
                    continue
                if cells_of(levels, wanted, cells) > cells:
                    verdict = UNDECIDED
                elif used == values.size:
                    if begin > 0:
                        return pair
                    verdict = UNDECIDED
                else:
                    own = rows[side]
                    filled = count_cells(own, view_of(own.places, wanted), wanted, keys, table)
                    value, free = statistic(table, filled // (rx * ry), rx, ry, g_squared, sums)
                    table[:filled] = 0
                    values[used], degrees[used] = value, free
                    used += 1
                    if not every:
                        verdict = decided(value, free, critical)
                        if verdict == 0:
                            verdict = used - begin - 1
        if verdict == UNDECIDED:
            used = begin
        verdicts[pair] = verdict
        tests[pair] = used - begin
    return len(pairs)
