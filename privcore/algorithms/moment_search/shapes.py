"""Whether numeric columns depend on each other linearly, from noisy counts of evenly cut columns.

For jointly normal columns, the correlation determines the table of a pair. The deviation of the
noisy tables from the nearest tables of normal columns is dependence that second moments miss. For a
numeric and a yes/no column, the missed part is orthogonal to the tables of a normal column and a
dichotomised normal column. For two yes/no columns, second moments capture all dependence.
Dependence is measured by φ², summed over the pairs and corrected for noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri

from privcore.algorithms.moment_search.features import sum_zero_basis
from privcore.algorithms.moment_search.moments import Moments
from privcore.algorithms.moment_search.released import YES_NO
from privcore.arrays import Matrix, Vector

# Share of the dependence that moments may miss before levels have more power, although levels
# spread rows and noise over more numbers: chosen on random graphs, docs/experiments/numbers.md.
_MISSED = 0.03
# Missed dependence that noise and sampling error alone explain, in standard deviations.
_CLEAR = 3.0
_STEPS = 60
# The share of yes is rounded to twentieths.
_SHARES = 20


def even_points(
    centre: Vector, scale: Vector, intervals: int, own_levels: Sequence[int] = ()
) -> list[Vector]:
    """The cut points of each column, which divide a normal distribution into equal parts.

    centre, scale: mean and standard deviation of each distribution. own_levels: see `NumberSource`;
    the cut points of a column with levels lie between its levels.
    """
    quantiles = ndtri(np.arange(1, intervals) / intervals)
    return [
        np.arange(1, 2 * (r - 1), 2) / (r - 1) - 1 if r else m + s * quantiles
        for m, s, r in zip(centre, scale, own_levels or (0,) * len(centre), strict=True)
    ]


def in_lines(pairs: Moments) -> bool:
    """Whether second moments capture nearly all of the dependence in the pairs.

    pairs: noisy moments of all pairs of columns; each column is yes/no or cut by `even_points`. All
    cut columns have the same number of intervals, at least three.
    """
    whole = missed = variance = 0.0
    for a, b in combinations(range(len(pairs.levels)), 2):
        r, s = pairs.levels[a], pairs.levels[b]
        parts = (r - 1) * (s - 1)
        dependence = pairs.sums(a, b) - np.multiply.outer(pairs.sums(a), pairs.sums(b)) / pairs.n
        # Variance of each moment: of the noise, including that on the margins, and of sampling
        # under independence.
        chance = pairs.variance(a, b) + pairs.n / (r * s)
        chance += pairs.variance(a) * pairs.variance(b) / pairs.n**2
        size = float(np.sum(dependence**2))
        whole += size - parts * chance
        if min(r, s) > YES_NO:
            lines = normal_tables(r, s) * pairs.n
            residual = float(np.min(np.sum((dependence - lines) ** 2, axis=(1, 2))))
        else:
            # The units of the other column as a number are not known: only directions count.
            first = 0.5 + float(pairs.sums(a if r == YES_NO else b)[0]) / pairs.n / math.sqrt(2)
            share = min(max(round(first * _SHARES), 1), _SHARES - 1) / _SHARES
            tables = normal_tables(max(r, s), YES_NO, share).reshape(-1, parts)
            directions = np.delete(tables, _STEPS, axis=0)
            along = directions @ dependence.ravel() / np.linalg.norm(directions, axis=1)
            residual = size - float(np.max(along**2))
        missed += residual - (parts - 1) * chance
        variance += 2 * (parts if min(r, s) > YES_NO else parts - 1) * chance * chance
    return missed <= max(_MISSED * whole, _CLEAR * math.sqrt(variance))


@lru_cache(maxsize=32)
def normal_tables(rows: int, columns: int, share: float = 0.5) -> Matrix:
    """Moments of two evenly cut normal columns, shape (correlations, rows − 1, columns − 1).

    rows, columns: numbers of intervals. share: probability of the first interval if `columns` is 2.
    The moments are joint probabilities in the coordinates of `features`; the correlations
    range from −0.99 to 0.99.
    """
    # Midpoints of equal probability stand for the values within an interval.
    within = ndtri((np.arange(40 * rows) + 0.5) / (40 * rows))
    parted = np.array([0, share, 1]) if columns == YES_NO else np.arange(columns + 1) / columns
    edges = ndtri(parted)
    tables = []
    for correlation in np.linspace(-0.99, 0.99, 2 * _STEPS + 1):
        left = math.sqrt(1 - correlation * correlation)
        below = ndtr((edges - correlation * within[:, None]) / left)
        conditional = np.diff(below, axis=1).reshape(rows, 40, columns).mean(axis=1)
        tables.append(sum_zero_basis(rows).T @ (conditional / rows) @ sum_zero_basis(columns))
    known = np.array(tables)
    known.setflags(write=False)
    return known
