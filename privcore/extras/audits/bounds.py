"""Confidence bounds on probabilities, and on the ε that two probabilities imply.

If a mechanism is (ε, δ)-DP and the output lies in E with probability p on D and p′ on D′, then
p ≤ e^ε p′ + δ for every event E, so that ε ≥ ln((p − δ)/p′).  A lower bound on p and an upper bound
on p′ give a lower bound on ε.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

from privcore.arrays import Vector
from privcore.errors import ParameterError


def clopper_pearson_low(hits: int, runs: int, alpha: float) -> float:
    """Exact lower bound on the probability of an event that occurred in `hits` of `runs` runs.

    The bound is wrong with probability at most `alpha` (Clopper & Pearson 1934). Raises
    ParameterError unless 0 ≤ hits ≤ runs, runs ≥ 1 and 0 < alpha < 1.
    """
    _check(hits, runs, alpha)
    return 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, alpha))


def clopper_pearson_high(hits: int, runs: int, alpha: float) -> float:
    """Exact upper bound on the probability of an event; see `clopper_pearson_low`."""
    _check(hits, runs, alpha)
    return 1.0 if hits == runs else float(1 - betaincinv(runs - hits, hits + 1, alpha))


def epsilon_shown(low: float, high: float, delta: float) -> float:
    """The lower bound on ε that p ≥ `low` and p′ ≤ `high` imply: max(0, ln((low − δ)/high))."""
    return float(np.log((low - delta) / high)) if low - delta > high else 0.0


def rough_epsilon(
    hits: ArrayLike, other_hits: ArrayLike, runs: int, delta: float, alpha: float
) -> Vector:
    """An approximation of `epsilon_shown` for arrays, to choose events but not to test them.

    The bounds of Wilson 1927 are used, which are fast. The result is not truncated at 0, so that
    all events can be ranked.
    """
    quantile = -ndtri(alpha)
    low, _ = _wilson(np.asarray(hits, dtype=np.float64), runs, quantile)
    _, high = _wilson(np.asarray(other_hits, dtype=np.float64), runs, quantile)
    return np.asarray(np.log(np.maximum(low - delta, 1e-12)) - np.log(high))


def _wilson(hits: Vector, runs: int, quantile: float) -> tuple[Vector, Vector]:
    square = quantile * quantile
    middle = (hits + square / 2) / (runs + square)
    half = quantile / (runs + square) * np.sqrt(hits * (runs - hits) / runs + square / 4)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _check(hits: int, runs: int, alpha: float) -> None:
    if not (0 <= hits <= runs and runs >= 1):
        raise ParameterError("hits-in-runs-impossible", hits=hits, runs=runs)
    if not 0 < alpha < 1:
        raise ParameterError("error-probability-out-of-range", alpha=alpha)
