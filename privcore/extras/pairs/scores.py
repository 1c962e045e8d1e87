"""Dependence scores between an input and a residual, and their sensitivity to one test record.

The scores are from Kusner, Sun, Sridharan & Weinberger 2016, Section 3.3; a smaller score means
less dependence. Every score takes two arrays of shape (m,), m ≥ 2, and does not depend on the order
of the records.
Proofs: docs/proofs/rank_scores.md and docs/proofs/hsic.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from scipy.stats import kendalltau, rankdata

from privcore.arrays import Matrix, Vector
from privcore.errors import ParameterError
from privcore.extras.pairs.features import gaussian_features

# The smallest interquartile range that is resolved, in units of variables scaled to [−1, 1]:
# the logarithm needs a public floor.
LEAST_IQR = 1e-3

# Records whose features are in memory at a time.
_BLOCK = 1 << 15

_SENSITIVITIES: dict[str, dict[str, Callable[[int], float]]] = {
    "proven": {
        "spearman": lambda m: 6 / (m + 1),
        "kendall": lambda m: 4 / m,
        "hsic": lambda m: math.sqrt(6) / (m - 1),
        "hsic-root": lambda m: math.sqrt(6) / m,
    },
    "published": {
        "spearman": lambda m: 30 / m,
        "kendall": lambda m: 4 / m,
        "hsic": lambda m: (12 * m - 11) / (m - 1) ** 2,
    },
}


def test_sensitivity(score: str, m: int, calibration: str) -> float:
    """The largest change in a score when one of the m test records is replaced.

    proven: derived in docs/proofs. published: Theorem 1 of Kusner et al. 2016, and Theorem 3 with
    the constant given below that theorem. hsic and hsic-root assume kernels of public width with
    values between 0 and 1. Raises ParameterError for m < 2, and if the calibration has no constant
    for the score.
    """
    _check_count(m)
    known = _SENSITIVITIES.get(calibration, {})
    if score not in known:
        raise ParameterError(
            "calibration-no-sensitivity-score", calibration=calibration, score=score
        )
    return known[score](m)


def spearman(a: Vector, b: Vector) -> float:
    """Return |ρ|, where ρ = 12/(m(m² − 1)) Σ (R_i − c)(S_i − c) with midranks R and S.

    c = (m + 1)/2. The denominator is always the one for data without ties: with tie-corrected
    variances, one record could change the score by more than 1.
    """
    m = _check_count(a.size)
    middle = (m + 1) / 2
    total = float(np.dot(rankdata(a) - middle, rankdata(b) - middle))
    return abs(12 * total / (m * (m * m - 1.0)))


def kendall(a: Vector, b: Vector) -> float:
    """Return |τ-a| = |C − D|/(m(m − 1)/2) for C concordant and D discordant pairs.

    Tied pairs are neither concordant nor discordant.
    """
    m = _check_count(a.size)
    levels = min(np.unique(a).size, np.unique(b).size)
    if levels == 1:
        return 0.0
    # τ-c = 2(C − D)/(m²(levels − 1)/levels), and C − D is an integer.
    stuart = float(kendalltau(a, b, variant="c").statistic)
    difference = round(stuart * m * m * (levels - 1) / (2 * levels))
    return abs(difference) / (m * (m - 1) / 2)


def hsic(
    a: Vector, b: Vector, width_a: float, width_b: float, reach_a: float, reach_b: float
) -> float:
    """Return trace(KHLH)/(m − 1)² for Gaussian kernels K and L of public widths (equation 4).

    reach_a, reach_b: public bounds on |a| and |b|.  Takes time m·D² (see `features`).
    Raises ParameterError for a width below its public limit.
    """
    return hsic_root(a, b, width_a, width_b, reach_a, reach_b) ** 2


def hsic_root(
    a: Vector, b: Vector, width_a: float, width_b: float, reach_a: float, reach_b: float
) -> float:
    """Return √HSIC = (m/(m − 1))·|C|, where C is the cross-covariance of the features.

    The arguments are as in `hsic`. The root orders two directions as HSIC does. Near independence,
    HSIC and the noise added to HSIC are both of order 1/m; the root is of order 1/√m, and the noise
    added to the root of order 1/m.
    """
    _check_count(a.size)
    return _root(
        (
            gaussian_features(a[start : start + _BLOCK], width_a, reach_a),
            gaussian_features(b[start : start + _BLOCK], width_b, reach_b),
        )
        for start in range(0, a.size, _BLOCK)
    )


def hsic_root_of_features(features_a: Matrix, features_b: Matrix) -> float:
    """Return `hsic_root` from precomputed features, shapes (m, D_a) and (m, D_b)."""
    _check_count(len(features_a))
    return _root([(features_a, features_b)])


def log_iqr(values: Vector) -> float:
    """Return log(x_(⌈3m/4⌉) − x_(⌈m/4⌉)) for m ≥ 1 sorted values x, at least log LEAST_IQR."""
    first, third = quartile_ranks(values.size)
    ordered = np.partition(values, (first - 1, third - 1))
    return floored_log(float(ordered[third - 1] - ordered[first - 1]))


def floored_log(iqr: float) -> float:
    """The logarithm of an interquartile range, at least log LEAST_IQR."""
    return math.log(max(iqr, LEAST_IQR))


def quartile_ranks(m: int) -> tuple[int, int]:
    """The ranks ⌈m/4⌉ and ⌈3m/4⌉ of the quartiles, counted from 1."""
    return (m + 3) // 4, (3 * m + 3) // 4


def _root(blocks: Iterable[tuple[Matrix, Matrix]]) -> float:
    count = 0
    sum_a: Vector | float = 0.0
    sum_b: Vector | float = 0.0
    products: Matrix | float = 0.0
    for one, other in blocks:
        count += len(one)
        sum_a = sum_a + one.sum(axis=0)
        sum_b = sum_b + other.sum(axis=0)
        products = products + one.T @ other
    covariance = products / count - np.outer(sum_a, sum_b) / count**2
    return float(np.linalg.norm(covariance)) * count / (count - 1)


def _check_count(m: int) -> int:
    if m < 2:
        raise ParameterError("score-needs-least-2-test-records", m=m)
    return m
