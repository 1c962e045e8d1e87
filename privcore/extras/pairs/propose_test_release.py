"""Release the log interquartile range by propose-test-release.

Dwork & Lei 2009; Kusner et al. 2016.

The log scale is divided into intervals of length 1 in two ways, offset by half an interval. A
private test checks whether, in one of the two ways, many records must change before the value
leaves its interval. If so, values on neighbouring data sets differ by less than 1, and the value is
released with Laplace noise. Otherwise nothing is released. Proof for test and training records:
docs/proofs/log_iqr.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from privcore.arrays import Vector
from privcore.errors import ParameterError
from privcore.extras.pairs.scores import floored_log, quartile_ranks
from privcore.privacy.mechanisms.noise import NoiseSource

Interval = tuple[float, float]

# ε of one release, in units of the ε of its noise.
_COST = {"proven": 2, "published": 3}


def release_cost(epsilon: float, calibration: Literal["proven", "published"]) -> float:
    """The privacy loss ε of one release whose noise is drawn at `epsilon`; δ is unchanged.

    proven: 2ε. published: 3ε (Kusner et al. 2016, Section 4.3), valid but larger than necessary.
    """
    return _COST[calibration] * epsilon


def noise_epsilon(share: float) -> float:
    """The `epsilon` of the noise for which a release has the proven cost `share`."""
    return share / _COST["proven"]


def release_log_iqr(
    value: float,
    distance: Callable[[Interval], int],
    epsilon: float,
    delta: float,
    noise: NoiseSource,
) -> float | None:
    """Return `value` + Lap(1/ε) if the test passes, otherwise None; (2ε, δ)-DP.

    distance: maps an interval [low, high) to the least number of records that must change for the
        value to leave the interval. A lower bound ≥ 0 on this number may be used instead. The bound
        must change by at most 1 between neighbouring data sets with values in the interval, and
        must be at most 1 if the value of a neighbouring data set is outside.
    Raises ParameterError unless 0 < ε < ∞ and 0 < δ < 1.
    """
    threshold = release_threshold(epsilon, delta)
    tests = [noise.laplace(float(distance(b)), 1 / epsilon) for b in intervals_around(value)]
    if max(tests) <= threshold:
        return None
    return noise.laplace(value, 1 / epsilon)


def release_threshold(epsilon: float, delta: float) -> float:
    """Return the threshold 1 + ln(1/δ)/ε, which a noisy distance must exceed.

    Raises ParameterError unless 0 < ε < ∞ and 0 < δ < 1.
    """
    if not 0 < epsilon < math.inf:
        raise ParameterError("epsilon-of-release-out-of-range", epsilon=epsilon)
    if not 0 < delta < 1:
        raise ParameterError("propose-test-release-needs-delta")
    return 1 - math.log(delta) / epsilon


def intervals_around(value: float) -> tuple[Interval, Interval]:
    """The intervals [k, k + 1) and [k − ½, k + ½), for whole numbers k, that contain the value."""
    whole = float(math.floor(value))
    half = math.floor(value + 0.5) - 0.5
    return (whole, whole + 1), (half, half + 1)


def changes_to_leave(values: Vector, interval: Interval) -> int:
    """How many of m values must be replaced, by any numbers, for `log_iqr` to leave [low, high).

    The number is exact for m ≥ 2, and is 0 if `log_iqr` is already outside. The computation takes
    time O(m log m).

    Let r = ⌈3m/4⌉ − ⌈m/4⌉. After k replacements, the interquartile range is at most the widest
    distance between two order statistics whose ranks differ by r + k and whose lower rank is
    between ⌈m/4⌉ − k and ⌈m/4⌉. It is at least the narrowest distance between two order statistics
    whose ranks differ by r − k and whose lower rank is between ⌈m/4⌉ and ⌈m/4⌉ + k.
    """
    low, high = interval
    ordered = np.sort(values)

    def left(k: int) -> bool:
        below, above = _extremes(ordered, k)
        return floored_log(above) >= high or floored_log(below) < low

    # With ⌈m/4⌉ replacements the lower quartile can be any number, so the value can leave.
    least, enough = -1, quartile_ranks(values.size)[0]
    while enough - least > 1:
        middle = (least + enough) // 2
        least, enough = (least, middle) if left(middle) else (middle, enough)
    return enough


def _extremes(ordered: Vector, k: int) -> tuple[float, float]:
    """The smallest and the largest interquartile range after k replacements."""
    m = ordered.size
    first, third = quartile_ranks(m)
    starts = np.arange(first - k, first + 1) - 1
    ends = starts + third - first + k
    inside = (starts >= 0) & (ends < m)
    largest = math.inf
    if inside.all():
        largest = float((ordered[ends] - ordered[starts]).max())
    if k >= third - first:
        return 0.0, largest
    starts = np.arange(first, first + k + 1) - 1
    return float((ordered[starts + third - first - k] - ordered[starts]).min()), largest
