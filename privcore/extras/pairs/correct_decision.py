"""The probability that noisy scores have the same order as the exact scores (Kusner et al. 2016).

Theorem 2 is for one Laplace draw per direction and Theorem 4.2 for two draws. Two misprints in
Theorem 4.2 are corrected here: γ = Q_y + Q_rX − Q_x − Q_rY (printed + Q_rY), and the exponential
is e^{−γ/σ} (printed e^{−σ/σ³}).
"""

from __future__ import annotations

import math
from typing import TypeVar, cast

import numpy as np
from numpy.polynomial.polynomial import polyval

from privcore.arrays import Vector
from privcore.errors import ParameterError

Numbers = TypeVar("Numbers", float, Vector)

# Coefficients of p(t) in P(wrong order) = p(t) e^{−t}, t = gap/scale.
_TWO = np.array([2.0, 1.0]) / 4
_FOUR = np.array([48.0, 33.0, 9.0, 1.0]) / 96

# e^{−t} is 0 in double precision.
_BEYOND = 750.0


def laplace_probability(gap: Numbers | float, scale: Numbers | float) -> Numbers:
    """Return P(s₁ + Lap(scale) < s₂ + Lap(scale)) for gap = s₂ − s₁ of either sign (Theorem 2).

    The arguments are numbers or arrays that broadcast. With scale 0 the probability is 1 for a
    positive gap, 0 for a negative gap, and ½ for equal scores.
    """
    return _probability(gap, scale, _TWO)


def four_laplace_probability(gap: Numbers | float, scale: Numbers | float) -> Numbers:
    """Return P(first sum < second sum) for two sums of two noisy terms each (Theorem 4.2).

    Each of the four terms has noise Lap(scale). gap: the second exact sum minus the first,
    Q_y + Q_rX − Q_x − Q_rY for the direction x → y.
    """
    return _probability(gap, scale, _FOUR)


def laplace_interval(value: float, scale: float, level: float = 0.95) -> tuple[float, float]:
    """An interval around a noisy `value` that contains the exact value with probability `level`.

    Raises ParameterError unless 0 ≤ level < 1.
    """
    if not 0 <= level < 1:
        raise ParameterError("level-of-interval-out-of-range", level=level)
    half = -scale * math.log1p(-level)
    return value - half, value + half


def _probability(gap: Numbers | float, scale: Numbers | float, wrong: Vector) -> Numbers:
    gaps, scales = np.broadcast_arrays(
        np.asarray(gap, dtype=np.float64), np.asarray(scale, dtype=np.float64)
    )
    exact = np.where(gaps == 0, 0.0, _BEYOND)
    # Capped before the division, which would overflow.
    ratio = np.minimum(np.abs(gaps), _BEYOND * scales)
    ratio = np.divide(ratio, scales, out=exact, where=scales > 0)
    tail = polyval(ratio, wrong) * np.exp(-ratio)
    return cast(Numbers, np.where(gaps < 0, tail, 1 - tail)[()])
