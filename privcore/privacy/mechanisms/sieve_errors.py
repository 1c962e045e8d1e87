"""How often sieve-and-examine decides wrongly (after Wang, Pang & Song 2020, Theorem 2).

Probabilities for the first question of a round, exact where the theorem bounds them; the theorem's
own exponent for type II errors is four times too large.  docs/proofs/sieve_errors.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from privcore.privacy.mechanisms.sieve_examine import SieveScales


class ErrorProbabilities(NamedTuple):
    """type_one: an independent pair is kept; type_two: a dependent pair is deleted."""

    type_one: float
    type_two: float


def error_probabilities(scales: SieveScales, tweak: float, distance: float) -> ErrorProbabilities:
    """For scores that lie `distance` above (type I) or below (type II) the threshold, or beyond.

    tweak, distance: at least 0, in units of the score.  Sub-sampling is left aside: the score on
    the sub-sample is taken for that on all rows.
    """
    a, b = scales.first.threshold, scales.first.query
    passed = 1 - _tail(distance + tweak, a, b)
    kept = 1 - passed * (1 - 0.5 * math.exp(-distance / scales.examine))
    deleted = _tail(distance - tweak, a, b) * 0.5 * math.exp(-distance / scales.examine)
    return ErrorProbabilities(kept, deleted)


def _tail(x: float, a: float, b: float) -> float:
    """P(A + B > x) of independent Laplace variables of scales a ≠ b."""
    if x < 0:
        return 1 - _tail(-x, a, b)
    return (b * b * math.exp(-x / b) - a * a * math.exp(-x / a)) / (2 * (b * b - a * a))
