"""Compiled loops that count tables, compute statistics from them and test pairs; see `kernels`."""

from __future__ import annotations

from math import log, log1p

import numpy as np
from numba import boolean, float64, int64, types, uint16, uint32
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


@compiled("boolean(int64[::1], int64, int64, int64, float64)")
def determined(table: Integers, strata: int, rx: int, ry: int, least: float) -> bool:
    """Whether the strata of a table leave less than the share `least` of the variance of x or y.

    table: as for `statistic`.  Each stratum fits one mean, so k strata of n rows leave n − k rows
    to judge by; one more row may disagree, so that few rows in many strata show nothing.
    """
    sums, whole = np.zeros(rx + ry, dtype=np.int64), np.zeros(rx + ry, dtype=np.int64)
    left_x = left_y = 0.0
    rows = filled = 0
    for stratum in range(strata):
        sums[:] = 0
        for i in range(rx):
            for j in range(ry):
                count = table[(stratum * rx + i) * ry + j]
                sums[i] += count
                sums[rx + j] += count
        total = sums[:rx].sum()
        if total == 0:
            continue
        filled += 1
        rows += total
        left_x += total
        left_y += total
        for level in range(rx + ry):
            square = float(sums[level]) ** 2 / total
            if level < rx:
                left_x -= square
            else:
                left_y -= square
            whole[level] += sums[level]
    if rows == 0:
        return False
    shares = whole / rows
    allowed = least * (rows - filled)
    return bool(
        left_x + 1 < allowed * (1 - (shares[:rx] ** 2).sum())
        or left_y + 1 < allowed * (1 - (shares[rx:] ** 2).sum())
    )


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
        float64,
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
    least: float,
    cells: int,
    verdicts: Integers,
    tests: Integers,
    values: Vector,
    degrees: Integers,
) -> int:
    """Test each pair given sets of `first` to `last` neighbours, ordered as `conditioning_sets`.

    pairs: shape (k, 2).  adjacent: shape (p, p).  every: whether to test every set; otherwise a
    pair is done when a set separates it.  least: see `determined`; a set that determines x or y
    separates no pair, and has −1 degrees of freedom with `every`.
    critical: the critical value for each number of degrees of freedom.
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
                    strata = filled // (rx * ry)
                    value, free = statistic(table, strata, rx, ry, g_squared, sums)
                    found = decided(value, free, critical)
                    if found == 0 and order > 0 and determined(table, strata, rx, ry, least):
                        found, free = DEPENDENT, -1 if every else free
                    table[:filled] = 0
                    values[used], degrees[used] = value, free
                    used += 1
                    if not every:
                        verdict = used - begin - 1 if found == 0 else found
        if verdict == UNDECIDED:
            used = begin
        verdicts[pair] = verdict
        tests[pair] = used - begin
    return len(pairs)


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
