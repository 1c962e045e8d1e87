"""One score of both directions, released with Laplace noise or only if it is stable.

Ranges have mechanisms of their own (`range_releases`).
"""

from __future__ import annotations

import math

from privcore.pairwise.correct_decision import laplace_interval
from privcore.pairwise.evaluation import Sides
from privcore.pairwise.model import Interval, ScoreRelease, smaller
from privcore.pairwise.plan import Plan
from privcore.pairwise.range_releases import MAKERS
from privcore.pairwise.released import Released, exceeds, order_kept
from privcore.pairwise.scores import test_sensitivity
from privcore.pairwise.training import (
    rank_distance,
    stable_release,
    stable_threshold,
    training_sensitivity,
)
from privcore.privacy.mechanisms import NoiseSource

_UNSTABLE = (
    "Two residuals are so close that training records could change their order, so the exact "
    "score is not released; choose the score hsic-root."
)


def release(score: str, now: Sides, exact: Sides, plan: Plan, noise: NoiseSource) -> ScoreRelease:
    """One score; now: under the regressions in use, exact: under the non-private ones."""
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
    """What is known of a score that is released as it is."""
    return None if value is None else (value, value)
