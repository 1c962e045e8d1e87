"""Compiled tests of independence within strata and of a model's fit, and scores of families.

All are computed from noisy tables.  Sums are added in a fixed order, so repeated fits of margins
are equal bit for bit.  See `noisy_parts` for the weights of the parts of a statistic, and
`moment_search.statistic` for the numbers that a test returns.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Integers, Matrix, Vector
from privcore.kernels.jit import compiled
from privcore.kernels.noisy_parts import paired_statistic, product, weighed, whitening

Places = NDArray[np.int32]

# Smallest variance distinct from 0.
_TINY = 1e-9
# Up to this number of parts in different strata, all covariances of the noise are used.
_MOST_STRATA = 150
# A stratum is used if it has this many rows, and this many standard deviations of its noise.
_LEAST_EXPECTED = 5.0
_CLEAR = 4.0
# Largest share of the rows in a stratum that is lost in the noise.
_MOST_HIDDEN = 0.002


@compiled("int32[:, ::1](int64[::1], boolean[:, ::1])")
def margin_places(levels: NDArray[np.int64], members: NDArray[np.bool_]) -> Places:
    """The position of each cell (column) in each margin (row).

    members: whether each axis belongs to each margin.
    """
    places = np.zeros((members.shape[0], levels.prod()), np.int32)
    for margin in range(members.shape[0]):
        known, stride = 1, 1
        for axis in range(levels.size - 1, -1, -1):
            step = stride if members[margin, axis] else 0
            for cell in range(known, known * levels[axis]):
                places[margin, cell] = places[margin, cell - known] + step
            known *= levels[axis]
            if members[margin, axis]:
                stride *= levels[axis]
    return places


@compiled(
    "int64(float64[::1], int64[::1], boolean[:, ::1], int64[::1], float64[::1], float64, int64)"
)
def fit_margins(
    cells: Vector,
    levels: NDArray[np.int64],
    members: NDArray[np.bool_],
    starts: NDArray[np.int64],
    wanted: Vector,
    enough: float,
    most: int,
) -> int:
    """Fit `cells`, in place, by iterative proportional fitting; returns the number of rounds.

    wanted: the target margins, one after the other. starts: position at which each margin begins,
    and the end of the last margin. enough: fitting ends if the absolute deviations add up to less
    than this. most: maximum number of rounds.
    """
    places, sums = margin_places(levels, members), np.empty_like(wanted)
    margins = places.shape[0]
    ratios = np.ones(1)
    before = np.zeros(cells.size, np.int32)
    for round_ in range(most):
        gap = 0.0
        for margin in range(margins):
            first, last = starts[margin], starts[margin + 1]
            part, aim, place = sums[first:last], wanted[first:last], places[margin]
            part[:] = 0.0
            # Scale the cells to the last margin, and sum them for this one.
            for cell in range(cells.size):
                cells[cell] *= ratios[before[cell]]
                part[place[cell]] += cells[cell]
            for k in range(part.size):
                gap += abs(aim[k] - part[k])
                part[k] = aim[k] / part[k] if part[k] > 0.0 else 0.0
            ratios, before = part.copy(), place
        if gap < enough:
            most = round_ + 1
            break
    for cell in range(cells.size):
        cells[cell] *= ratios[before[cell]]
    return most


@compiled("float64[:, ::1](float64[:, ::1], int64[::1])")
def between_strata(variances: Matrix, levels: Integers) -> Matrix:
    """Covariance of the noise on the moments in two strata.

    variances: noise variances of the moments with each subset of the conditioning columns.  A
    subset is an integer with one bit per conditioning column, the highest for the first column.
    In the result, which has the same shape, a subset contains the conditioning columns that have
    the same level in both strata.
    """
    covariances = variances.copy()
    for place in range(levels.size):
        bit, r = 1 << (levels.size - 1 - place), levels[place]
        for kind in range(covariances.shape[0]):
            for subset in range(covariances.shape[1]):
                if subset & bit == 0:
                    without = covariances[kind, subset] / (r * r)
                    with_it = covariances[kind, subset | bit]
                    covariances[kind, subset] = without - with_it / r
                    covariances[kind, subset | bit] = without + with_it * (1 - 1 / r)
    return covariances


@compiled(
    'void(float64[::1], float64, Array(float64, 2, "C", readonly=True), float64[:, ::1],'
    "float64[::1])"
)
def _code(counts: Vector, deviation: float, basis: Matrix, codes: Matrix, means: Vector) -> None:
    """Write the whitening matrix for the codes of one column in a stratum, and their means."""
    r, a = basis.shape
    share = np.empty(r)
    total = 0.0
    for i in range(r):
        share[i] = max(counts[i], max(deviation, 0.5))
        total += share[i]
    mean, sampling = np.zeros(a), np.zeros((a, a))
    for i in range(r):
        for k in range(a):
            weighted = share[i] / total * basis[i, k]
            mean[k] += weighted
            for m in range(k + 1):
                sampling[k, m] += weighted * basis[i, m]
    for k in range(a):
        for m in range(k + 1):
            sampling[k, m] -= mean[k] * mean[m]
            sampling[m, k] = sampling[k, m]
    whiten = whitening(sampling, _TINY)
    for k in range(a):
        means[k] = 0.0
        for m in range(a):
            codes[k, m] = whiten[k, m]
            means[k] += whiten[k, m] * mean[m]


@compiled("float64(float64[::1])")
def _variety(counts: Vector) -> float:
    """1 − Σ p², the sum of the variances of a column's codes; `counts`: rows with each level."""
    total = squares = 0.0
    for count in counts:
        if count > 0:
            total += count
            squares += count * count
    return 1 - squares / (total * total) if total > 0 else 1.0


@compiled(
    "Tuple((boolean, float64, float64, float64, float64))(float64[:, :, ::1], int64[::1],"
    'float64[:, ::1], float64, Array(float64, 2, "C", readonly=True),'
    'Array(float64, 2, "C", readonly=True))'
)
def strata_test(
    tables: Matrix,
    levels: Integers,
    variances: Matrix,
    n: float,
    basis_x: Matrix,
    basis_y: Matrix,
) -> tuple[bool, float, float, float, float]:
    """Test the independence of x and y within strata.

    Returns whether the test is possible, and value, first, second and residual_share of
    `moment_search.statistic`.  tables: table of x by y in each stratum of the conditioning columns;
    the first conditioning column varies slowest.  levels: number of levels of each conditioning
    column.  variances: noise variances of the moments of both x and y, of x, of y and of neither
    (rows), with every subset of the conditioning columns; see `between_strata`.
    """
    covariances = between_strata(variances, levels)
    same = covariances.shape[1] - 1
    rx, ry = basis_x.shape[0], basis_y.shape[0]
    a, b = rx - 1, ry - 1
    unclear = _CLEAR * sqrt(covariances[3, same])
    of_x = sqrt(covariances[1, same] * (1 - 1 / rx) + covariances[3, same] / (rx * rx))
    of_y = sqrt(covariances[2, same] * (1 - 1 / ry) + covariances[3, same] / (ry * ry))
    clear = np.empty(len(tables), np.int64)
    strata = 0
    for stratum in range(len(tables)):
        if tables[stratum].sum() > max(_LEAST_EXPECTED, unclear):
            clear[strata] = stratum
            strata += 1
    if strata < len(tables) and unclear > _MOST_HIDDEN * n:
        return False, 0.0, 0.0, 0.0, 0.0
    if strata == 0:
        return True, 0.0, 0.0, 0.0, 0.0
    sizes, parts = np.zeros(strata), np.empty((strata, a, b))
    codes_x, codes_y = np.empty((strata, a, a)), np.empty((strata, b, b))
    means_x, means_y = np.empty((strata, a)), np.empty((strata, b))
    all_x, all_y = np.zeros(rx), np.zeros(ry)
    within = total_size = 0.0
    for s in range(strata):
        table = tables[clear[s]]
        rows, columns = np.zeros(rx), np.zeros(ry)
        for i in range(rx):
            for j in range(ry):
                rows[i] += table[i, j]
                columns[j] += table[i, j]
        for i in range(rx):
            sizes[s] += rows[i]
            all_x[i] += rows[i]
        for j in range(ry):
            all_y[j] += columns[j]
        total_size += sizes[s]
        within += _variety(rows) * _variety(columns) * sizes[s]
        _code(rows, of_x, basis_x, codes_x[s], means_x[s])
        _code(columns, of_y, basis_y, codes_y[s], means_y[s])
        half = np.zeros((a, ry))
        for i in range(rx):
            for j in range(ry):
                apart = (table[i, j] - rows[i] * columns[j] / sizes[s]) / sqrt(sizes[s])
                for k in range(a):
                    half[k, j] += basis_x[i, k] * apart
        covariance = product(half, basis_y.T)
        whitened = product(codes_x[s], product(codes_y[s], covariance))
        for k in range(a):
            for j in range(b):
                parts[s, k, j] = whitened[k, j]
    residual_share = within / total_size / max(_variety(all_x) * _variety(all_y), 1e-12)
    if strata * a * b > _MOST_STRATA:
        # The noise of different strata is treated as independent.
        value = first = second = 0.0
        ones, others = np.empty((2, a, a)), np.empty((2, b, b))
        for s in range(strata):
            own, both = product(codes_x[s], codes_x[s]), product(codes_y[s], codes_y[s])
            for i in range(a):
                for k in range(a):
                    ones[0, i, k], ones[1, i, k] = own[i, k], means_x[s, i] * means_x[s, k]
            for j in range(b):
                for m in range(b):
                    mean = means_y[s, j] * means_y[s, m]
                    for kind in range(2):
                        code = covariances[2 * kind, same] * both[j, m]
                        code += covariances[2 * kind + 1, same] * mean
                        others[kind, j, m] = code / sizes[s]
            more = paired_statistic(parts[s], ones, others)
            value, first, second = value + more[0], first + more[1], second + more[2]
        return True, value, first, second, residual_share
    total = np.zeros((strata * a * b, strata * a * b))
    for row in range(strata * a * b):
        total[row, row] = 1.0
    for s in range(strata):
        for t in range(s + 1):
            agreeing, place, other = 0, clear[s], clear[t]
            for k in range(levels.size - 1, -1, -1):
                if place % levels[k] == other % levels[k]:
                    agreeing |= 1 << (levels.size - 1 - k)
                place, other = place // levels[k], other // levels[k]
            scale = sqrt(sizes[s] * sizes[t])
            of_both, x_alone = covariances[0, agreeing] / scale, covariances[1, agreeing] / scale
            y_alone, neither = covariances[2, agreeing] / scale, covariances[3, agreeing] / scale
            # With N the noise in the basis (1/√r, Q) of x and of y, it enters a covariance as
            # (−√r m_x, 1) N (−√s m_y, 1)ᵀ, to first order.
            x_codes, y_codes = product(codes_x[s], codes_x[t]), product(codes_y[s], codes_y[t])
            for i in range(a):
                for k in range(a):
                    code, mean = x_codes[i, k], means_x[s, i] * means_x[t, k]
                    by_code = of_both * code + y_alone * mean
                    by_mean = x_alone * code + neither * mean
                    for j in range(b):
                        row = (s * a + i) * b + j
                        for m in range(b):
                            column = (t * a + k) * b + m
                            more = by_code * y_codes[j, m]
                            more += by_mean * means_y[s, j] * means_y[t, m]
                            total[row, column] += more
                            if s != t:
                                total[column, row] += more
    value, first, second = weighed(parts.reshape(-1), total)
    return True, value, first, second, residual_share


@compiled(
    "Tuple((float64, float64, float64, float64[:, ::1], float64[:, ::1]))(float64[::1],"
    "int64[::1], boolean[:, ::1], int64[::1], float64[::1], int64[::1], float64[::1],"
    "float64[::1], float64, float64)"
)
def model_test(
    cells: Vector,
    levels: Integers,
    members: Any,
    starts: Integers,
    codes: Vector,
    ends: Integers,
    variances: Vector,
    difference: Vector,
    n: float,
    floor: float,
) -> tuple[float, float, float, Matrix, Matrix]:
    """Test whether moments fit a model; returns value, first and second, and two matrices.

    The matrices are n times the covariances of the sampling error and of the noise on the tested
    moments.  The model's terms are fitted to released moments, so the deviation of a tested moment
    is its own error minus the regression of this error on the errors of the released moments: the
    efficient score of the omitted term.

    cells: the model's probabilities.  levels, members, starts: the layout of the margin of each
    term, then of the margin of the tested moments; see `log_linear.MarginLayout`.  codes: for each
    margin, a matrix of the products of codes (rows) that are in no earlier margin, in each cell of
    the margin (column); all matrices in one flat array.  ends: cumulative number of these products.
    variances: n times the noise variance of each product's moment.  difference: the deviations of
    the tested moments from the model.
    """
    places = margin_places(levels, members)
    margins = places.shape[0]
    size, known = ends[-1], ends[-2]
    products = np.empty((size, size))
    begin = np.zeros(margins, np.int64)
    for k in range(margins - 1):
        begin[k + 1] = begin[k] + (ends[k + 1] - ends[k]) * (starts[k + 1] - starts[k])
    for one in range(margins):
        height, rows = starts[one + 1] - starts[one], ends[one + 1] - ends[one]
        turn = codes[begin[one] : begin[one] + height * rows].reshape((rows, height))
        for other in range(one + 1):
            width, columns = starts[other + 1] - starts[other], ends[other + 1] - ends[other]
            both = np.zeros((height, width))
            for cell in range(cells.size):
                both[places[one, cell], places[other, cell]] += cells[cell]
            opposite = codes[begin[other] : begin[other] + width * columns].reshape(columns, width)
            block = product(turn, product(opposite, both))
            for i in range(rows):
                for j in range(columns):
                    products[ends[one] + i, ends[other] + j] = block[i, j]
                    products[ends[other] + j, ends[one] + i] = block[i, j]
    among = products[:known, :known].copy()
    for i in range(known):
        among[i, i] += 1e-9  # for codes that are nearly determined by the others
    slopes = product(products[known:, :known], np.linalg.inv(among))
    explained = product(slopes, products[known:, :known])
    sampling, weighted = np.empty(explained.shape), np.empty(slopes.shape)
    for i in range(size - known):
        for k in range(known):
            weighted[i, k] = slopes[i, k] * variances[k]
        for j in range(i + 1):
            both_ways = (explained[i, j] + explained[j, i]) / 2
            sampling[i, j] = sampling[j, i] = products[known + i, known + j] - both_ways
    noise = product(weighted, slopes)
    for i in range(size - known):
        noise[i, i] += variances[known + i]
    whiten = whitening(sampling, floor)
    covariance, parts = product(product(whiten, noise), whiten), np.zeros(size - known)
    for i in range(size - known):
        covariance[i, i] += 1.0
        for j in range(size - known):
            parts[i] += sqrt(n) * whiten[i, j] * difference[j]
    value, first, second = weighed(parts, covariance)
    return value, first, second, sampling, noise


@compiled("float64[::1](int64[::1], boolean[:, ::1], int64[::1], float64[::1], float64, int64)")
def informations(
    levels: Integers,
    members: Any,
    starts: Integers,
    wanted: Vector,
    enough: float,
    most: int,
) -> Vector:
    """Mutual information between each axis and all other axes jointly, shape (axes,).

    The table is the maximum-entropy table with the margins in `wanted`; see `fit_margins`.
    """
    cells = np.full(levels.prod(), 1 / levels.prod())
    fit_margins(cells, levels, members, starts, wanted, enough, most)
    whole = 0.0
    for cell in cells:
        whole += cell * log(max(cell, 1e-300))
    shown = np.empty(levels.size)
    width = 1
    for axis in range(levels.size - 1, -1, -1):
        own, r = np.zeros(levels[axis]), levels[axis]
        information = whole
        for first in range(0, cells.size, r * width):
            for place in range(first, first + width):
                total = 0.0
                for level in range(r):
                    own[level] += cells[place + level * width]
                    total += cells[place + level * width]
                information -= total * log(max(total, 1e-300))
        for total in own:
            information -= total * log(max(total, 1e-300))
        shown[axis] = max(information, 0.0)
        width *= r
    return shown


@compiled("float64(float64[:, ::1], float64[::1], float64, float64, float64)")
def family_score(
    strata: Matrix, probabilities: Vector, deviation: float, variance: float, penalty: float
) -> float:
    """G² of a column and its parents, minus `penalty` per degree of freedom.

    strata: counts of the column's levels for each configuration of the parents (row).
    probabilities: shares of the column's levels in all rows.  deviation: standard deviation of the
    noise on the size of a stratum.  variance: variance of the noise on a cell.

    Noise of variance v on a cell with count m adds about v/m to the deviance, as if the cell had
    1 + v/m degrees of freedom.  Without noise the score has the form of BIC, with `penalty` in
    place of log n.
    """
    r = strata.shape[1]
    unclear = _CLEAR * deviation
    # Strata too small to be distinguished from noise are merged into one, if that is large enough.
    rest, hidden, used = np.zeros(r), 0, 0
    deviance, dof = 0.0, 0.0
    for stratum in range(len(strata) + 1):
        if stratum < len(strata):
            counts = strata[stratum]
            if not counts.sum() > max(1.0, unclear):
                rest += counts
                hidden += 1
                continue
        else:
            counts = rest
            if not rest.sum() > max(1.0, unclear * sqrt(hidden)):
                continue
        used += 1
        size = 0.0
        for count in counts:
            size += max(count, 0.0)
        for level in range(r):
            count = max(counts[level], 0.0)
            if count > 0.0:
                deviance += 2 * count * log(count / (size * probabilities[level]))
            dof += (1 - 1 / r) * (1 + variance / max(count, max(sqrt(variance), 1.0)))
    return deviance - penalty * (dof - (r - 1)) if used else 0.0
