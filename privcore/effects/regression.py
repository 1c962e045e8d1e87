"""The effect of one numeric column on another, from noisy second moments.

In a linear model the effect of raising X by one unit is its coefficient in the regression of Y on X
and a valid adjustment set (Wright 1921; Pearl 2009).  The interval contains every coefficient b
that the test of Anderson & Rubin (1949) does not reject: the partial covariance of X and Y − bX is
no further from 0 than sampling and noise explain.  The variance in the test includes the noise in
every moment.  If noise hides the variance of X given the adjustment set, the interval is wide but
remains valid.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.stats import norm

from privcore.algorithms.search.result import NoisyMoments
from privcore.arrays import Columns, Matrix, Vector
from privcore.effects.standardisation import Estimate
from privcore.independence.fisher import residual

# Residual variance of a column from rounding alone.
_NOTHING = 1e-10


def coefficient(
    moments: NoisyMoments, n: int, cause: int, outcome: int, others: Columns, level: float = 0.95
) -> Estimate | None:
    """The change in the outcome for one more unit of the cause, with its interval.

    n: the number of rows, which is public.  others: the adjustment set.  level: the confidence
    level.  The interval is unbounded if noise hides the residual variance of the cause.  The result
    is None if the cause has no positive residual variance, or if the adjustment set is collinear.
    """
    try:
        left_cause, left_outcome = (
            residual(moments.covariance, moments.means, moments.mean_share, column, others)
            for column in (cause, outcome)
        )
    except np.linalg.LinAlgError:
        return None  # One of the others is a linear combination of the rest.
    across = left_cause[1:] @ moments.covariance
    own, both = float(across @ left_cause[1:]), float(across @ left_outcome[1:])
    rest = float(left_outcome[1:] @ moments.covariance @ left_outcome[1:])
    if own <= _NOTHING * float(moments.covariance[cause, cause]):
        return None
    # The covariance of X and Y − bX is both − b own; its variance is quadratic in b, too.
    rows = max(n - len(others) - 2, 1)
    spread = partial(_spread, moments.squares)
    noise = moments.sigma**2 * np.array(
        [
            spread(left_cause, left_outcome, left_cause, left_outcome),
            -2 * spread(left_cause, left_outcome, left_cause, left_cause),
            spread(left_cause, left_cause, left_cause, left_cause),
        ]
    )
    # Under the null the residuals have covariance 0, so sampling adds own × var(Y − bX).
    sampled = own * np.array([rest, -2 * both, own]) / rows
    variance = sampled + noise
    z = float(norm.ppf((1 + level) / 2))
    unit = float(moments.scale[outcome] / moments.scale[cause])
    low, high = map(float, _solved(own, both, variance * z * z))
    value = both / own
    return Estimate(value * unit, min(low, value) * unit, max(high, value) * unit)


def _spread(squares: float, a: Vector, b: Vector, c: Vector, d: Vector) -> float:
    """Covariance of aᵀNb and cᵀNd for a symmetric N with independent entries.

    An entry has variance 1, but `squares` on the diagonal, and 0 at (0, 0).
    """

    def symmetric(x: Vector, y: Vector) -> Matrix:
        """The weight of each entry of N, on and above the diagonal, in xᵀNy."""
        both = np.outer(x, y)
        return np.triu(both + both.T) - np.diag(np.diag(both))

    first, second = symmetric(a, b), symmetric(c, d)
    np.fill_diagonal(first, squares * np.diag(first))
    first[0, 0] = 0.0
    return float((first * second).sum())


def _solved(own: float, both: float, allowed: Vector) -> tuple[float, float]:
    """The b for which (both − b own)² is at most allowed[0] + allowed[1] b + allowed[2] b²."""
    a = own * own - allowed[2]
    b = -2 * own * both - allowed[1]
    c = both * both - allowed[0]
    inside = b * b - 4 * a * c
    if a <= 0 or inside < 0:
        return -math.inf, math.inf
    root = math.sqrt(inside)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)
