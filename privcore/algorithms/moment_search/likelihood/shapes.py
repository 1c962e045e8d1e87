"""Whether numbers depend on each other in lines, from noisy counts of pairs that are cut evenly.

Columns that are normal, and depend on each other linearly, have one table of a pair for each
correlation.  What the noisy tables of all pairs hold beside the nearest of these is dependence that
second moments do not see.  Shares are of φ², as sums over the pairs with noise taken off.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri

from privcore.algorithms.moment_search.release.features import sum_zero_basis
from privcore.algorithms.moment_search.release.moments import Moments
from privcore.arrays import Matrix, Vector

# Part of the dependence that may be missed by moments before levels see more, although levels
# spread rows and noise over more numbers: chosen on random graphs, docs/experiments/numbers.md.
_MISSED = 0.03
# How many standard deviations it must be above what noise and sampling alone would show.
_CLEAR = 3.0
_STEPS = 60


def even_points(centre: Vector, scale: Vector, intervals: int) -> list[Vector]:
    """Per column, points that cut a normal column of that middle and spread evenly."""
    quantiles = ndtri(np.arange(1, intervals) / intervals)
    return [m + s * quantiles for m, s in zip(centre, scale, strict=True)]


def in_lines(pairs: Moments) -> bool:
    """Whether moments of the numbers see nearly all of the dependence that the pairs hold.

    pairs: noisy moments of all pairs of columns, each cut by `even_points` into as many intervals.
    """
    intervals, columns = pairs.levels[0], range(len(pairs.levels))
    numbers = (intervals - 1) ** 2
    lines = normal_tables(intervals) * pairs.n
    whole = missed = variance = 0.0
    for a, b in combinations(columns, 2):
        dependence = pairs.sums(a, b) - np.multiply.outer(pairs.sums(a), pairs.sums(b)) / pairs.n
        # Variance of each moment: of the noise, that on the margins included, and of sampling where
        # nothing depends on anything.
        chance = pairs.variance(a, b) + pairs.n / intervals**2
        chance += pairs.variance(a) * pairs.variance(b) / pairs.n**2
        whole += float(np.sum(dependence**2)) - numbers * chance
        beside = float(np.min(np.sum((dependence - lines) ** 2, axis=(1, 2))))
        missed += beside - (numbers - 1) * chance
        variance += 2 * numbers * chance * chance
    return missed <= max(_MISSED * whole, _CLEAR * math.sqrt(variance))


@lru_cache(maxsize=8)
def normal_tables(intervals: int) -> Matrix:
    """Moments of a pair of normal columns cut evenly, (correlations, intervals − 1, intervals − 1).

    In the coordinates of `features`, as probabilities; correlations from −0.99 to 0.99.
    """
    basis = sum_zero_basis(intervals)
    # Midpoints of equal probability stand for the values within an interval.
    within = ndtri((np.arange(40 * intervals) + 0.5) / (40 * intervals))
    edges = ndtri(np.arange(intervals + 1) / intervals)
    tables = []
    for correlation in np.linspace(-0.99, 0.99, 2 * _STEPS + 1):
        left = math.sqrt(1 - correlation * correlation)
        below = ndtr((edges - correlation * within[:, None]) / left)
        conditional = np.diff(below, axis=1).reshape(intervals, 40, intervals).mean(axis=1)
        tables.append(basis.T @ (conditional / intervals) @ basis)
    known = np.array(tables)
    known.setflags(write=False)
    return known
