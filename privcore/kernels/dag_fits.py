"""The compiled fit of a DAG to noisy counts of all cells; see `posterior.table_score`."""

from __future__ import annotations

from math import lgamma, log

import numpy as np
from numba import boolean, float64, int64, types

from privcore.arrays import Integers, Vector
from privcore.kernels.arguments import Noisy
from privcore.kernels.cells import NOISY
from privcore.kernels.climb import climb, count_rows, count_shares, sum_cells
from privcore.kernels.dags import place_cells
from privcore.kernels.jit import compiled

# A fit that is so much below what is wanted after a few steps does not come up to it.
HOPELESS = 60.0
_FEW_STEPS, _MOST_STEPS = 4, 60


@compiled("float64(int64[:, ::1], int64[::1], int64[::1], int64[::1], float64[::1], float64)")
def spread_of_fit(
    codes: Integers,
    groups: Integers,
    levels: Integers,
    sizes: Integers,
    expected: Vector,
    scale: float,
) -> float:
    """BDeu's log-score of the rows that a fit has information of, less their log-likelihood.

    sizes: of each family's probabilities.
    """
    rows, held = np.empty_like(expected), np.empty(groups.size)
    count_rows(expected, scale, rows)
    sum_cells(rows, codes, held)
    totals = np.zeros(groups[-1] + 1)
    for place in range(held.size):
        totals[groups[place]] += held[place]
    score = 0.0
    place = 0
    for column in range(levels.size):
        own = levels[column]
        whole, each = own / sizes[column], 1.0 / sizes[column]
        for _ in range(sizes[column] // own):
            total = totals[groups[place]]
            score += lgamma(whole) - lgamma(whole + total)
            for _ in range(own):
                count = held[place]
                score += lgamma(each + count) - lgamma(each)
                if count > 0.0:
                    score -= count * log(count / total)
                place += 1
    return score


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
    """The score of a DAG, whether the fit came to its end, and expectations and slopes of cells.

    places: the level of each column (row) in each cell.  start: counts of cells to begin with.
    wanted: a fit that is `HOPELESS` below it after a few steps ends there; −∞ for none.
    """
    p, size = places.shape
    codes = np.empty((p, size), np.int64)
    sizes = np.empty(p, np.int64)
    many = 0
    for column in range(p):
        sizes[column] = place_cells(column, dag[column], places, levels, codes[column])
        codes[column] += many
        many += sizes[column]
    groups = np.empty(many, np.int64)
    place = group = 0
    for column in range(p):
        for k in range(sizes[column]):
            groups[place + k] = group + k // levels[column]
        place += sizes[column]
        group += sizes[column] // levels[column]
    shares = np.empty(many)
    count_shares(start, codes, groups, shares, np.empty(many))
    first = _FEW_STEPS if wanted > -np.inf else _MOST_STEPS
    for steps in (first, _MOST_STEPS):
        shares, expected, slopes, reached = climb(noisy, n, codes, groups, shares, steps)
        score = reached + spread_of_fit(codes, groups, levels, sizes, expected, noisy.scale)
        if steps == _MOST_STEPS or 2.0 * score < wanted - HOPELESS:
            break
    return 2.0 * score, steps == _MOST_STEPS, expected, slopes
