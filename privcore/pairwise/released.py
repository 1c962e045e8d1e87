"""What a mechanism hands back for one score, and probabilities that all of them need."""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.optimize import brentq

from privcore.pairwise.correct_decision import four_laplace_probability, laplace_probability
from privcore.pairwise.model import Interval, LogRanges

# t with P(|Lap(1) + Lap(1)| > t) = (1 + t/2)e^{−t} = 0.05.
_TWO_NOISES = float(brentq(lambda t: (1 + t / 2) * math.exp(-t) - 0.05, 0.0, 20.0))


class Released(NamedTuple):
    """The fields of `ScoreRelease` that depend on the mechanism; why: it refuses, if it does."""

    released: tuple[float | None, float | None]
    scale: float
    intervals: tuple[Interval | None, Interval | None]
    probability: float
    parts: LogRanges | None = None
    why: str = ""


def order_kept(gap: float, scale: float, noises: int = 1) -> float:
    """Probability that one Laplace draw on each of two scores, or two, leave their order."""
    known = laplace_probability if noises == 1 else four_laplace_probability
    return float(known(abs(gap), scale))


def exceeds(value: float, threshold: float, scale: float) -> float:
    """P(value + Lap(scale) > threshold)."""
    beyond = (threshold - value) / scale
    return 0.5 * math.exp(-beyond) if beyond > 0 else 1 - 0.5 * math.exp(beyond)


def two_noises_interval(value: float, scale: float) -> Interval:
    """Around a sum with two Laplace draws; it holds the exact sum with probability 95 %."""
    return value - _TWO_NOISES * scale, value + _TWO_NOISES * scale
