"""The compiled fit of a DAG to noisy counts of all cells; see `kernels`.

For `moment_search.posterior.table_score`: its numpy path takes the same steps.
"""

from __future__ import annotations

from math import lgamma, log

import numpy as np
from numba import njit
from numpy.typing import NDArray

from privcore.arrays import Matrix, Vector
from privcore.kernels.climb import climb, normalise, sum_cells
from privcore.kernels.dags import place_cells

Codes = NDArray[np.int64]


@njit(
    "float64(int64[:, ::1], int64[::1], int64[::1], int64[::1], float64[::1], int64, float64)",
    cache=True,
    nogil=True,
)
def spread_of_fit(
    codes: Codes,
    groups: Codes,
    levels: Codes,
    sizes: Codes,
    expected: Vector,
    many: int,
    scale: float,
) -> float:
    """BDeu's log-score of the rows that a fit has information of, less their log-likelihood.

    sizes: of each family's probabilities.  many: of all of them.
    """
    rows = np.empty_like(expected)
    wide = scale * scale
    for cell in range(expected.size):
        m = expected[cell]
        rows[cell] = m * m / (m + wide * (1.0 + m / (m + wide)))
    held = np.empty(many)
    sum_cells(rows, codes, held)
    totals = np.zeros(groups[-1] + 1)
    for place in range(many):
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


@njit(
    "Tuple((float64, boolean, float64[::1], float64[::1]))("
    "float64[::1], float64[:, ::1], float64[::1], float64, float64, float64,"
    "float64, int64[:, ::1], int64[::1], int64[::1], float64[::1], float64, float64,"
    "int64, int64, float64, float64, float64, float64, float64, float64, float64, float64)",
    cache=True,
    nogil=True,
)
def fit_dag(
    counts: Vector,
    noise: Matrix,
    factor: Vector,
    scale: float,
    summed: float,
    least: float,
    n: float,
    places: Codes,
    levels: Codes,
    dag: Codes,
    start: Vector,
    wanted: float,
    hopeless: float,
    few_steps: int,
    most_steps: int,
    converged: float,
    least_share: float,
    least_expected: float,
    longest: float,
    ridge: float,
    smooth: float,
    growth: float,
    most_stretch: float,
) -> tuple[float, bool, Vector, Vector]:
    """The score of a DAG, whether the fit came to its end, and expectations and slopes of cells.

    counts to least: of the likelihood.  places: see `kernels.dags`.  start: counts of cells to
    begin with.  wanted: a fit that is `hopeless` below it after `few_steps` ends there; −∞ for
    none.  The rest: `table_climb.NUMBERS`.
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
    sum_cells(start, codes, shares)
    shares += smooth
    normalise(shares, groups, least_share, np.empty(many))
    base = np.full(size, n)
    first = few_steps if wanted > -np.inf else most_steps
    for steps in (first, most_steps):
        shares, expected, slopes, reached = climb(
            counts,
            noise,
            factor,
            scale,
            summed,
            least,
            base,
            codes,
            groups,
            shares,
            steps,
            converged,
            least_share,
            least_expected,
            longest,
            ridge,
            smooth,
            growth,
            most_stretch,
        )
        score = reached + spread_of_fit(codes, groups, levels, sizes, expected, many, scale)
        if steps == most_steps or 2.0 * score < wanted - hopeless:
            break
    return 2.0 * score, steps == most_steps, expected, slopes
