"""Fits of DAGs to noisy counts of all cells, and scores of families near a fit; see `kernels`.

A family is a column with its parents.  The expectation of a cell is n times the product of one
probability from each family.  A step changes the log-probabilities by Fisher scoring, with only the
diagonal of the information matrix.  If this does not raise the likelihood, a step of the EM
algorithm follows (Dempster, Laird & Rubin 1977).

A DAG is stored as one integer per column: bit i means that column i is a parent.  The probabilities
of all families are in one vector.  codes: position in this vector of the probability from each
family (row) for each cell (column).  groups: number of the parents' configuration to which each
probability belongs.
"""

from __future__ import annotations

from math import exp, lgamma, log

import numpy as np
from numba import boolean, float64, int64, types

from privcore.arrays import Integers, Vector
from privcore.kernels.arguments import Near, Noisy
from privcore.kernels.cells import NOISY, cells_likelihood
from privcore.kernels.jit import compiled

_LEAST_PROBABILITY = 1e-7
_LEAST_EXPECTED = 1e-9
# No log-probability moves further than this in a step.
_LONGEST = 1.5
# Each successful step makes the next one longer, up to this factor: information bounds the
# curvature of the likelihood, which is much flatter far from its maximum.
_GROWTH = 1.5
_MOST_STRETCH = 20.0
# A climb ends where steps add less than this to the log-likelihood.
_CONVERGED = 0.005
# Least information, for probabilities on which the counts have none.
_UNSEEN = 0.01
_SMOOTH = 1e-3
# A fit this far below the wanted score after a few steps will not reach it.
HOPELESS = 60.0
_FEW_STEPS, _MOST_STEPS = 4, 60
# For a family's counts: rows added to the effective rows of each count, so that counts with little
# information move nothing, and the least value of a count.
_RIDGE, _LEAST = 0.1, 1e-3

_NEAR = types.NamedTuple(
    (float64[:, ::1], int64[:, ::1], int64[::1], int64[::1], float64[:, ::1]), Near
)


@compiled("int64(int64, int64, int64[:, ::1], int64[::1], int64[::1])")
def place_cells(
    column: int, parents: int, places: Integers, levels: Integers, code: Integers
) -> int:
    """Number each cell by the parents' configuration and then by the column's level.

    places: level of each column (row) in each cell.  code: array for the number of each cell.
    Returns the number of configurations times the number of levels.
    """
    many = levels[column]
    for cell in range(code.size):
        code[cell] = places[column, cell]
    for parent in range(levels.size):
        if parents >> parent & 1:
            for cell in range(code.size):
                code[cell] += many * places[parent, cell]
            many *= levels[parent]
    return int(many)


@compiled("float64(float64[::1], int64)")
def spread_score(rows: Vector, own: int) -> float:
    """BDeu log-score of a family's counts minus their maximum log-likelihood.

    The equivalent sample size is 1.  rows: counts by the parents' configuration and then by the
    column's level, flat.  own: number of levels of the column.
    """
    whole, each = own / rows.size, 1.0 / rows.size
    score = 0.0
    for start in range(0, rows.size, own):
        total = 0.0
        for k in range(start, start + own):
            total += rows[k]
        score += lgamma(whole) - lgamma(whole + total)
        for k in range(start, start + own):
            score += lgamma(each + rows[k]) - lgamma(each)
            if rows[k] > 0.0:
                score -= rows[k] * log(rows[k] / total)
    return score


@compiled(float64(int64, int64, _NEAR))
def family_score(column: int, parents: int, near: Near) -> float:
    """Twice the log-score of a column and its parents, after one step of Fisher scoring from a fit.

    Each probability of the fit is moved by its slope divided by its information.  The BDeu score is
    that of a table with these probabilities and with the effective number of rows.
    """
    cells, code, room = near.cells, near.code, near.room
    own = near.levels[column]
    many = place_cells(column, parents, near.places, near.levels, code)
    room[:, :many] = 0.0
    for cell in range(code.size):
        for kind in range(3):
            room[kind, code[cell]] += cells[kind, cell]
    score = spread_score(room[1, :many], own)
    for start in range(0, many, own):
        expected = rows = seen = 0.0
        for k in range(start, start + own):
            room[1, k] += _RIDGE
            room[2, k] = max(room[2, k], _LEAST - room[1, k])
            expected += room[0, k]
            rows += room[1, k]
            seen += room[1, k] + room[2, k]
        score -= seen * log(seen / rows)
        for k in range(start, start + own):
            there, moved = room[1, k], room[2, k]
            score += (there - _RIDGE + moved) * log(room[0, k] / expected)
            score += (there + moved) * log((there + moved) / there)
    return 2.0 * score


@compiled("void(float64, int64[:, ::1], float64[::1], float64[::1])")
def expect(n: float, codes: Integers, probabilities: Vector, expected: Vector) -> None:
    """Write the expectation of each cell into `expected`."""
    expected[:] = 1.0
    for family in range(codes.shape[0]):
        for cell in range(expected.size):
            expected[cell] *= probabilities[codes[family, cell]]
    for cell in range(expected.size):
        expected[cell] = max(n * expected[cell], _LEAST_EXPECTED)


@compiled("void(float64[::1], int64[:, ::1], float64[::1])")
def sum_cells(cells: Vector, codes: Integers, sums: Vector) -> None:
    """Sum `cells` over the cells to which each probability applies; writes the sums into `sums`."""
    sums[:] = 0.0
    for family in range(codes.shape[0]):
        for cell in range(cells.size):
            sums[codes[family, cell]] += cells[cell]


@compiled("void(float64[::1], int64[::1], float64[::1])")
def normalise(probabilities: Vector, groups: Integers, totals: Vector) -> None:
    """Normalise the probabilities within each configuration; totals: a work array."""
    for least in (_LEAST_PROBABILITY, 0.0):
        totals[:] = 0.0
        for place in range(probabilities.size):
            totals[groups[place]] += probabilities[place]
        for place in range(probabilities.size):
            probabilities[place] = max(probabilities[place] / totals[groups[place]], least)


@compiled("void(float64[::1], int64[:, ::1], int64[::1], float64[::1], float64[::1])")
def count_shares(
    cells: Vector, codes: Integers, groups: Integers, shares: Vector, totals: Vector
) -> None:
    """Write the probabilities estimated from cell counts into `shares`; totals: a work array."""
    sum_cells(cells, codes, shares)
    shares += _SMOOTH
    normalise(shares, groups, totals)


@compiled("void(float64[::1], float64, float64[::1])")
def count_rows(expected: Vector, scale: float, rows: Vector) -> None:
    """Write the effective number of rows of each cell into `rows`.

    This number is m² times the information on the mean m of the cell.
    """
    wide = scale * scale
    for cell in range(expected.size):
        m = expected[cell]
        rows[cell] = m * m / (m + wide * (1.0 + m / (m + wide)))


@compiled(
    types.Tuple((float64[::1], float64[::1], float64[::1], float64))(
        NOISY, float64, int64[:, ::1], int64[::1], float64[::1], int64
    )
)
def climb(
    noisy: Noisy, n: float, codes: Integers, groups: Integers, start: Vector, most_steps: int
) -> tuple[Vector, Vector, Vector, float]:
    """Climb from `start` to a maximum of the likelihood, in at most `most_steps` steps.

    Returns the probabilities, the expectation and slope of each cell, and the log-likelihood.
    """
    probabilities, moved = start.copy(), np.empty_like(start)
    expected, then = np.empty_like(noisy.counts), np.empty_like(noisy.counts)
    slopes, new, cells = (np.empty_like(expected), np.empty_like(expected), np.empty_like(expected))
    room = np.empty((4, start.size))
    known, spread, across, along = room[0], room[1], room[2], room[3]
    expect(n, codes, probabilities, expected)
    reached = cells_likelihood(noisy, expected, slopes)
    scoring, stretch, small = True, 1.0, 0
    for _ in range(most_steps):
        if scoring:
            count_rows(expected, noisy.scale, cells)
            sum_cells(cells, codes, known)
            for cell in range(cells.size):
                cells[cell] = expected[cell] * slopes[cell]
            sum_cells(cells, codes, moved)
            across[:] = 0.0
            along[:] = 0.0
            for place in range(moved.size):
                moved[place] /= known[place] + _UNSEEN
                spread[place] = probabilities[place] / (known[place] + _UNSEEN)
                across[groups[place]] += probabilities[place] * moved[place]
                along[groups[place]] += probabilities[place] * spread[place]
            # Probabilities of a configuration still add up to 1.
            for place in range(moved.size):
                level = across[groups[place]] / along[groups[place]]
                step = stretch * (moved[place] - level * spread[place])
                moved[place] = probabilities[place] * exp(min(max(step, -_LONGEST), _LONGEST))
            normalise(moved, groups, known)
        else:
            for cell in range(cells.size):
                cells[cell] = max(expected[cell] * (1.0 + slopes[cell]), 0.0)
            count_shares(cells, codes, groups, moved, known)
        expect(n, codes, moved, then)
        total = cells_likelihood(noisy, then, new)
        if total < reached:
            if not scoring:
                break
            scoring, stretch = stretch > 1.0, 1.0
            continue
        small = small + 1 if total - reached < _CONVERGED else 0
        reached = total
        probabilities, moved = moved, probabilities
        expected, then = then, expected
        slopes, new = new, slopes
        if small >= (2 if scoring else 1):
            break
        if scoring:
            stretch = min(_GROWTH * stretch, _MOST_STRETCH)
        scoring = True
    return probabilities, expected, slopes, reached


@compiled(
    types.Tuple((float64, boolean, float64[::1], float64[::1]))(
        NOISY, float64, int64[:, ::1], int64[::1], int64[::1], float64[::1], float64
    )
)
def fit_dag(
    noisy: Noisy,
    n: float,
    places: Integers,
    levels: Integers,
    dag: Integers,
    start: Vector,
    wanted: float,
) -> tuple[float, bool, Vector, Vector]:
    """Fit a DAG to noisy counts.

    Returns the score, whether the fit ran to its end, and the expectation and slope of each cell.
    places: level of each column (row) in each cell.  start: initial counts of cells.
    wanted: the fit stops after a few steps if its score is more than `HOPELESS` below `wanted`; −∞
    for a fit that always runs to its end.
    """
    codes = np.empty_like(places)
    ends = np.empty(levels.size + 1, np.int64)
    ends[0] = 0
    for column in range(levels.size):
        many = place_cells(column, dag[column], places, levels, codes[column])
        codes[column] += ends[column]
        ends[column + 1] = ends[column] + many
    groups = np.empty(ends[-1], np.int64)
    group = 0
    for column in range(levels.size):
        for place in range(ends[column], ends[column + 1], levels[column]):
            groups[place : place + levels[column]] = group
            group += 1
    shares, held, rows = np.empty(groups.size), np.empty(groups.size), np.empty_like(start)
    count_shares(start, codes, groups, shares, held)
    first = _FEW_STEPS if wanted > -np.inf else _MOST_STEPS
    for steps in (first, _MOST_STEPS):
        shares, expected, slopes, score = climb(noisy, n, codes, groups, shares, steps)
        # The effective rows of each family in the fit.
        count_rows(expected, noisy.scale, rows)
        sum_cells(rows, codes, held)
        for column in range(levels.size):
            score += spread_score(held[ends[column] : ends[column + 1]], levels[column])
        if steps == _MOST_STEPS or 2.0 * score < wanted - HOPELESS:
            break
    return 2.0 * score, steps == _MOST_STEPS, expected, slopes
