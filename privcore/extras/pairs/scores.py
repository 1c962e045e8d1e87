"""Scores of a direction, and their sensitivities.

The Gaussian kernel on an interval as an inner product of a few explicit features.

With these features, a kernel regression or HSIC takes time m·D² instead of m² or more (m values, D
features) and agrees with the dense computation up to rounding. The choice of the features does not
depend on the data.

exp(−d²/(2h²)), repeated with a period P > 2·reach, has a Fourier series with positive coefficients
c_k = (h√(2π)/P) exp(−h²ω²k²/2), ω = 2π/P.  cos ω(a − b)k = cos ωka cos ωkb + sin ωka sin ωkb turns
each term into two features.  For |d| ≤ 2·reach the error has two parts, and each is at most half
the tolerance:
- the repetitions: with g = P − 2·reach they add at most 2Σ_{j≥1} q^j = 2q/(1 − q), where
  q = exp(−g²/(2h²)), since the j-th repetition on either side is at least j·g away;
- the frequencies k > K left out: 2Σ_{k>K} c_k ≤ 2Φ(−hωK), by comparison with the integral.
The Taylor features e^{−a²/(2h²)} (a/h)^j/√j! would need P(Poisson(reach²/h²) ≥ D) ≤ tolerance, so
that D grows with (reach/h)². Here D grows with reach/h, and no feature exceeds √(1 + tolerance).

Dependence scores between an input and a residual, and their sensitivity to one test record.

The scores are from Kusner, Sun, Sridharan & Weinberger 2016, Section 3.3; a smaller score means
less dependence. Every score takes two arrays of shape (m,), m ≥ 2, and does not depend on the order
of the records.
Proofs: docs/proofs/rank_scores.md and docs/proofs/hsic.md.

The sensitivity of the scores to one *training* record, and releases that protect this record.

Training records affect the scores only through the regressions: replacing one training record moves
every residual by at most `shift` (`ridge.residual_shift`).  These releases do not protect the test
records, on which exact scores and gaps between residuals depend.  Proofs:
docs/proofs/training_side.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
from scipy.special import ndtri
from scipy.stats import kendalltau, rankdata

from privcore.arrays import Matrix, Vector
from privcore.errors import ParameterError
from privcore.privacy.mechanisms import NoiseSource

# The least width of a kernel, as a share of the reach: 249 features at the default tolerance.
LEAST_WIDTH = 0.02


def feature_count(width: float, reach: float, tolerance: float = 1e-12) -> int:
    """Return D = 2K + 1, the number of features that `gaussian_features` computes.

    The error of the kernel is proven to be at most `tolerance`; rounding adds less than 1e-13.
    Raises ParameterError unless LEAST_WIDTH·reach ≤ width < ∞, reach > 0 and 0 < tolerance < 1.
    """
    return 2 * _series(width, reach, tolerance)[1] + 1


def gaussian_features(
    values: Vector, width: float, reach: float, tolerance: float = 1e-12
) -> Matrix:
    """Features φ, shape (m, D), with |φ(a)·φ(b) − exp(−(a − b)²/(2·width²))| ≤ `tolerance`.

    values: shape (m,); values outside [−reach, reach] are moved to the nearer bound.
    width, reach: public numbers, in the unit of the values.
    Raises ParameterError as `feature_count` does.
    """
    period, last = _series(width, reach, tolerance)
    frequency = 2 * math.pi / period
    steps = np.arange(last + 1)
    weights = np.exp(-0.5 * (width * frequency * steps) ** 2)
    weights *= width * math.sqrt(2 * math.pi) / period
    weights[1:] *= 2
    # Powers of e^{iωa} by doubling: as exact as separate cosines, at a fraction of the time.
    powers = np.ones((last + 1, values.size), dtype=np.complex128)
    powers[1] = np.exp(1j * frequency * np.clip(values, -reach, reach))
    known = 1
    while known < last:
        more = min(known, last - known)
        np.multiply(powers[1 : more + 1], powers[known], out=powers[known + 1 : known + more + 1])
        known += more
    roots = np.sqrt(weights)[:, None]
    return np.concatenate((powers.real * roots, powers.imag[1:] * roots[1:])).T


def _series(width: float, reach: float, tolerance: float) -> tuple[float, int]:
    """The period P and the last frequency K ≥ 1 of the series."""
    if not (0 < reach < math.inf and LEAST_WIDTH * reach <= width < math.inf):
        raise ParameterError(
            "kernel-width", width=width, reach=reach, least_width=LEAST_WIDTH * reach
        )
    if not 0 < tolerance < 1:
        raise ParameterError("tolerance-out-of-range", tolerance=tolerance)
    # 2q/(1 − q) = tolerance/2 at q = tolerance/(4 + tolerance).
    period = 2 * reach + width * math.sqrt(2 * math.log1p(4 / tolerance))
    last = math.ceil(-float(ndtri(tolerance / 4)) * period / (2 * math.pi * width))
    return period, last


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


Interval = tuple[float, float]

# Larger distances are capped here, so that they stay whole numbers in floating point.
_FAR = 10**9


def training_sensitivity(
    score: str,
    m: int,
    width: float,
    shift: float,
    calibration: Literal["proven", "published"],
) -> float:
    """The largest change in hsic or hsic-root when all m residuals move by at most `shift`.

    width: width of the residuals' Gaussian kernel. published: 32 L √m · shift with the kernel's
    Lipschitz constant L = e^{−½}/width (Kusner et al. 2016, Theorem 7). Raises ParameterError for a
    score without such a constant.
    """
    ratio = m / (m - 1)
    known = {
        ("hsic", "proven"): ratio * ratio * math.exp(-0.5) * shift / width,
        ("hsic-root", "proven"): ratio * shift / (width * math.sqrt(2)),
        ("hsic", "published"): 32 * math.exp(-0.5) / width * math.sqrt(m) * shift,
    }
    if (score, calibration) not in known:
        raise ParameterError(
            "no-sensitivity-to-training-records", calibration=calibration, score=score
        )
    return known[score, calibration]


def rank_distance(
    residuals: Vector, shift: float, calibration: Literal["proven", "published"]
) -> int:
    """Number of training records that can certainly be replaced without changing residual ranks.

    γ is the smallest gap between two residuals. proven: ⌈γ/(2·shift)⌉ − 1, at least 0; a further
    replacement could make two residuals equal. published: ⌊γ/(2·shift)⌋.
    """
    gap = float(np.diff(np.sort(residuals)).min()) / (2 * shift)
    gap = min(gap, _FAR)
    return math.floor(gap) if calibration == "published" else max(math.ceil(gap) - 1, 0)


def stable_threshold(epsilon: float, delta: float) -> float:
    """Return the threshold ln(1/δ)/ε, which a noisy distance must exceed.

    Raises ParameterError unless ε > 0 and 0 < δ < 1.
    """
    if not 0 < epsilon < math.inf:
        raise ParameterError("epsilon-of-release-out-of-range", epsilon=epsilon)
    if not 0 < delta < 1:
        raise ParameterError("if-training-records-protected-rank-scores")
    return -math.log(delta) / epsilon


def stable_release(
    value: float, distance: int, epsilon: float, delta: float, noise: NoiseSource
) -> float | None:
    """Return the exact `value` if distance + Lap(1/ε) > ln(1/δ)/ε, otherwise None; (ε, δ)-DP.

    Dwork & Roth 2014, Algorithm 13.  Raises ParameterError as `stable_threshold` does.
    """
    threshold = stable_threshold(epsilon, delta)
    return value if noise.laplace(float(distance), 1 / epsilon) > threshold else None


def iqr_of(values: Vector) -> float:
    """The interquartile range from the same order statistics as `log_iqr`, without a floor."""
    first, third = quartile_ranks(values.size)
    ordered = np.partition(values, (first - 1, third - 1))
    return float(ordered[third - 1] - ordered[first - 1])


def iqr_shift(shift: float) -> float:
    """The largest change in the residuals' interquartile range: both quartiles move by `shift`."""
    return 2 * shift


def shifts_to_leave(iqr: float, shift: float, interval: Interval) -> int:
    """Number of training records whose replacement certainly keeps the log IQR in [low, high).


    The number is ⌊(distance of the IQR to the nearer end)/(2·shift)⌋, or 0 if the IQR lies outside
    the interval. An end below the floor of the logarithm is never crossed.
    """
    low, high = (math.exp(end) for end in interval)
    held = max(iqr, LEAST_IQR)
    if not low <= held < high:
        return 0
    room = high - held if low <= LEAST_IQR else min(high - held, held - low)
    return math.floor(min(room / iqr_shift(shift), _FAR))


def noisy_iqr(iqr: float, shift: float, epsilon: float, noise: NoiseSource) -> float:
    """The interquartile range plus Laplace noise of scale 2·shift/ε; ε-DP for training records."""
    return noise.laplace(iqr, iqr_shift(shift) / epsilon)
