"""Release one score for both directions, either with noise or exactly if the score is stable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from scipy.optimize import brentq

from privcore.extras.pairs.evaluation import (
    Sample,
    Sides,
    four_laplace_probability,
    laplace_interval,
    laplace_probability,
)
from privcore.extras.pairs.iqr import chosen_log_iqr
from privcore.extras.pairs.pair import Interval, LogRanges, ScoreRelease, smaller
from privcore.extras.pairs.plan import Plan
from privcore.extras.pairs.propose_test_release import (
    intervals_around,
    noise_epsilon,
    release_log_iqr,
    release_threshold,
)
from privcore.extras.pairs.scores import (
    floored_log,
    iqr_of,
    iqr_shift,
    noisy_iqr,
    rank_distance,
    shifts_to_leave,
    stable_release,
    stable_threshold,
    test_sensitivity,
    training_sensitivity,
)
from privcore.privacy.mechanisms import NoiseSource

# t with P(|Lap(1) + Lap(1)| > t) = (1 + t/2)e^{−t} = 0.05.
_TWO_NOISES = float(brentq(lambda t: (1 + t / 2) * math.exp(-t) - 0.05, 0.0, 20.0))


class Released(NamedTuple):
    """Fields of `ScoreRelease` that depend on the mechanism; why: reason for a refusal."""

    released: tuple[float | None, float | None]
    scale: float
    intervals: tuple[Interval | None, Interval | None]
    probability: float
    parts: LogRanges | None = None
    why: str = ""


def order_kept(gap: float, scale: float, noises: int = 1) -> float:
    """The probability that two scores keep their order when each has `noises` Laplace draws."""
    known = laplace_probability if noises == 1 else four_laplace_probability
    return float(known(abs(gap), scale))


def exceeds(value: float, threshold: float, scale: float) -> float:
    """Return P(value + Lap(scale) > threshold)."""
    beyond = (threshold - value) / scale
    return 0.5 * math.exp(-beyond) if beyond > 0 else 1 - 0.5 * math.exp(beyond)


def two_noises_interval(value: float, scale: float) -> Interval:
    """A 95 % interval for an exact sum, given `value`: the sum plus two Laplace draws."""
    return value - _TWO_NOISES * scale, value + _TWO_NOISES * scale


# Releases of scores that add up logarithms of interquartile ranges.
#
# A test record affects all four ranges, so each range is noisy. A training record affects only the
# two ranges of the residuals, and the ranges of the variables are then exact.


Logs = Sequence[float | None]

_LEAVING = (
    "A few records could change an interquartile range too much for a release; use more rows, a "
    "larger epsilon or delta, or the score iqr."
)


def _quantiles(now: Sides, plan: Plan, noise: NoiseSource) -> Released:
    """Selects both quartiles of each range on a public grid; ε-DP without refusals."""
    epsilon, _ = plan.share(4)
    logs = [
        chosen_log_iqr(sample.quartile_utilities, sample.grid, epsilon, noise)
        for sample in now.ranges
    ]
    return Released(_sums(logs), math.nan, (None, None), math.nan, _parts(now, logs))


def _noisy_ranges(now: Sides, plan: Plan, noise: NoiseSource) -> Released:
    """Adds Laplace noise to the interquartile ranges of the residuals."""
    epsilon, _ = plan.share(2)
    scale = iqr_shift(plan.shift) / epsilon
    logs: list[float | None] = [sample.log_iqr for sample in now.ranges[:2]]
    intervals = []
    for known, sample in zip(now.ranges[:2], now.ranges[2:], strict=True):
        noisy = noisy_iqr(iqr_of(sample.values), plan.shift, epsilon, noise)
        logs.append(floored_log(noisy))
        ends = (known.log_iqr + floored_log(end) for end in laplace_interval(noisy, scale))
        intervals.append((next(ends), next(ends)))
    return Released(_sums(logs), scale, (intervals[0], intervals[1]), math.nan, _parts(now, logs))


def _propose_test_release(now: Sides, plan: Plan, noise: NoiseSource) -> Released:
    """Adds Laplace noise to the logarithm of each range that passes the test (as in the paper)."""
    share, delta = plan.share(plan.ranges_seen)
    epsilon = noise_epsilon(share) if plan.calibration == "proven" else share
    exact = 4 - plan.ranges_seen
    logs: list[float | None] = [sample.log_iqr for sample in now.ranges[:exact]]
    probability = 1.0
    for sample in now.ranges[exact:]:
        distance = _distance(sample, plan)
        logs.append(release_log_iqr(sample.log_iqr, distance, epsilon, delta, noise))
        threshold = release_threshold(epsilon, delta)
        tests = (distance(around) for around in intervals_around(sample.log_iqr))
        refused = (1 - exceeds(test, threshold, 1 / epsilon) for test in tests)
        probability *= 1 - math.prod(refused)
    first, second = now.scores("iqr-ptr")
    noises = 1 if exact else 2
    probability *= order_kept(second - first, 1 / epsilon, noises)
    released = _sums(logs)
    around = laplace_interval if noises == 1 else two_noises_interval
    intervals = tuple(None if s is None else around(s, 1 / epsilon) for s in released)
    return Released(
        released,
        1 / epsilon,
        (intervals[0], intervals[1]),
        probability,
        _parts(now, logs),
        _LEAVING,
    )


def _distance(sample: Sample, plan: Plan) -> Callable[[Interval], int]:
    """Number of protected records that must change for the log IQR to leave an interval."""
    if plan.protects == "training":
        return partial(shifts_to_leave, iqr_of(sample.values), plan.shift)
    return sample.changes_to_leave


def _sums(logs: Logs) -> tuple[float | None, float | None]:
    """log IQR(x′) + log IQR(r_Y) and log IQR(y′) + log IQR(r_X)."""
    x, y, rest_y, rest_x = logs
    return _sum(x, rest_y), _sum(y, rest_x)


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _parts(now: Sides, logs: Logs) -> LogRanges:
    a, b, c, d = (sample.log_iqr for sample in now.ranges)
    x, y, rest_y, rest_x = logs
    return LogRanges((a, b, c, d), (x, y, rest_y, rest_x))


MAKERS: dict[str, Callable[[Sides, Plan, NoiseSource], Released]] = {
    "quantiles": _quantiles,
    "laplace-range": _noisy_ranges,
    "propose-test-release": _propose_test_release,
}


_UNSTABLE = (
    "Two residuals are so close that a training record could change their order, so the exact "
    "score is not released; choose the score hsic-root."
)


def release(score: str, now: Sides, exact: Sides, plan: Plan, noise: NoiseSource) -> ScoreRelease:
    """Release one score for both directions.

    now, exact: the test records under the regressions in use, and under the exact regressions.
    """
    mechanism = plan.mechanism(score)
    if mechanism == "laplace":
        made = _laplace(score, now, plan, noise)
    elif mechanism == "stability":
        made = _stable(score, now, plan, noise)
    else:
        made = MAKERS[mechanism](now, plan, noise)
    return ScoreRelease(
        score=score,
        mechanism=mechanism,
        exact=exact.scores(score),
        before_noise=now.scores(score),
        released=made.released,
        scale=made.scale,
        intervals=made.intervals,
        decision=smaller(*made.released),
        exact_decision=smaller(*exact.scores(score)),
        probability=made.probability,
        parts=made.parts,
        refused=made.why if None in made.released else "",
    )


def _laplace(score: str, now: Sides, plan: Plan, noise: NoiseSource) -> Released:
    epsilon, _ = plan.share(2)
    rest = now.forward.rest
    m = rest.values.size
    if plan.protects == "training":
        sensitivity = training_sensitivity(score, m, rest.width, plan.shift, plan.calibration)
    else:
        sensitivity = test_sensitivity(score, m, plan.calibration)
    scale = sensitivity / epsilon
    first, second = now.scores(score)
    noisy = noise.laplace(first, scale), noise.laplace(second, scale)
    return Released(
        noisy,
        scale,
        (laplace_interval(noisy[0], scale), laplace_interval(noisy[1], scale)),
        order_kept(second - first, scale),
    )


def _stable(score: str, now: Sides, plan: Plan, noise: NoiseSource) -> Released:
    epsilon, delta = plan.share(2)
    threshold = stable_threshold(epsilon, delta)
    released: list[float | None] = []
    probability = 1.0
    for side in now:
        distance = rank_distance(side.rest.values, plan.shift, plan.calibration)
        released.append(stable_release(side.score(score), distance, epsilon, delta, noise))
        probability *= exceeds(distance, threshold, 1 / epsilon)
    first, second = released
    return Released(
        (first, second), math.nan, (_point(first), _point(second)), probability, why=_UNSTABLE
    )


def _point(value: float | None) -> Interval | None:
    """The interval of an exactly released score: a single point."""
    return None if value is None else (value, value)
