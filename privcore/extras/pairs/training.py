"""The sensitivity of the scores to one *training* record, and releases that protect this record.

Training records affect the scores only through the regressions: replacing one training record moves
every residual by at most `shift` (`ridge.residual_shift`).  These releases do not protect the test
records, on which exact scores and gaps between residuals depend.  Proofs:
docs/proofs/training_side.md.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from privcore.arrays import Vector
from privcore.errors import ParameterError
from privcore.extras.pairs.scores import LEAST_IQR, quartile_ranks
from privcore.privacy.mechanisms import NoiseSource

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
