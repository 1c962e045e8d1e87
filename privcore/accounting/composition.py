"""Composition of pure-DP steps, fixed before the run.

Every function takes the ε_i of the steps, shape (k,), and returns the ε of the whole at δ.
They hold for adaptively chosen mechanisms when the sequence of ε_i is fixed in advance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln

from privcore.rounding import shrunk_until


def basic(epsilons: Sequence[float]) -> float:
    """Σ ε_i, with δ = 0 (Dwork & Roth 2014, Theorem 3.14)."""
    return math.fsum(epsilons)


def advanced_classic(epsilons: Sequence[float], delta: float) -> float:
    """sqrt(2 ln(1/δ) Σ ε_i²) + Σ ε_i (e^{ε_i} − 1) (Dwork & Roth 2014, Theorem 3.20)."""
    _check_delta(delta)
    spread = math.sqrt(2 * math.log(1 / delta) * math.fsum(e * e for e in epsilons))
    return spread + math.fsum(e * math.expm1(e) if e < 700 else math.inf for e in epsilons)


def advanced(epsilons: Sequence[float], delta: float) -> float:
    """sqrt(2 ln(1/δ) Σ ε_i²) + Σ ε_i tanh(ε_i/2) (Kairouz, Oh & Viswanath 2015, Theorem 3.5)."""
    _check_delta(delta)
    spread = math.sqrt(2 * math.log(1 / delta) * math.fsum(e * e for e in epsilons))
    return spread + math.fsum(e * math.tanh(e / 2) for e in epsilons)


def rho_of_pure(epsilon: float) -> float:
    """ε-DP implies ε²/2-zCDP (Bun & Steinke 2016, Proposition 1.4)."""
    return epsilon * epsilon / 2


def zcdp_classic(rho: float, delta: float) -> float:
    """ρ + 2 sqrt(ρ ln(1/δ)) (Bun & Steinke 2016, Proposition 1.3)."""
    _check_delta(delta)
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def zcdp(rho: float, delta: float) -> float:
    """The ε at δ of ρ-zCDP: min over a > 1 of ρa + ln(1/(aδ))/(a−1) + ln(1−1/a).

    Canonne, Kamath & Steinke 2020, Proposition 12 with the Rényi curve of ρ-zCDP.  The
    minimum is found numerically; any a gives a valid bound, so a missed minimum is safe.
    """
    _check_delta(delta)
    if rho == 0:
        return 0.0

    def bound(log_excess: float) -> float:
        excess = math.exp(log_excess)
        a = 1 + excess
        return (
            rho * a - math.log(a * delta) / excess + (math.log1p(-1 / a) if a > 1 else log_excess)
        )

    # The minimum of the leading terms lies at a − 1 = sqrt(ln(1/δ)/ρ); search around it.
    centre = 0.5 * math.log(-math.log(delta) / rho)
    found = minimize_scalar(
        bound, bounds=(centre - 6, centre + 6), method="bounded", options={"xatol": 1e-10}
    )
    return max(0.0, min(bound(float(found.x)), bound(centre), zcdp_classic(rho, delta)))


# Runs that differ in their noise only ask the same question.
@lru_cache(maxsize=1024)
def rho_for(epsilon: float, delta: float) -> float:
    """The largest ρ (up to rounding, from below) whose `zcdp` at δ is at most ε.

    0 when δ = 0: zCDP then promises nothing.
    """
    if delta == 0:
        return 0.0
    high = epsilon + 1.0
    while zcdp(high, delta) < epsilon:
        high *= 2
    low = min(1e-12, epsilon * 1e-12)
    if zcdp(low, delta) >= epsilon:
        return 0.0
    rho = float(brentq(lambda r: zcdp(r, delta) - epsilon, low, high, xtol=1e-16, rtol=1e-14))
    return shrunk_until(lambda r: zcdp(r, delta) <= epsilon, rho)


def optimal_equal(epsilon: float, count: int, delta: float) -> float:
    """The least ε at δ that holds for any `count` steps of ε each.

    Kairouz, Oh & Viswanath 2015, Theorem 3.3: randomised response is the worst, whose δ(ε′) is
    Σ_l C(k, l) max(0, e^{(k−l)ε} − e^{ε′ + lε})/(1 + e^ε)^k; solved for ε′, from above.
    """
    _check_delta(delta)
    lies = np.arange(count + 1)
    stay, flip = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    chances = gammaln(count + 1) - gammaln(lies + 1) - gammaln(count - lies + 1)
    chances = np.exp(chances + (count - lies) * stay + lies * flip)
    losses = (count - 2.0 * lies) * epsilon

    def failure(whole: float) -> float:
        above = losses > whole
        return float(-(chances[above] * np.expm1(whole - losses[above])).sum())

    if failure(0.0) <= delta:
        return 0.0
    least = float(brentq(lambda whole: failure(whole) - delta, 0.0, count * epsilon, xtol=1e-14))
    # A hair more, so that rounding never claims less than what holds.
    return min(least * (1 + 1e-9), count * epsilon)


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta is {delta}; it must lie strictly between 0 and 1")


def published_total(epsilons: Sequence[float], delta: float) -> float:
    """What the papers report after a run: classic advanced composition, or the sum if δ = 0."""
    if not epsilons:
        return 0.0
    return advanced_classic(epsilons, delta) if delta > 0 else basic(epsilons)


def total(steps: Sequence[tuple[float, float, int]], delta: float) -> float:
    """The smallest ε at δ by basic composition or zCDP.

    steps: (ε, ρ, how many) of each kind; ρ is ε²/2 for a step of which only pure DP is known, for
    which advanced composition is tried too.
    """
    sum_epsilon = math.fsum(epsilon * count for epsilon, _, count in steps)
    if delta == 0:
        return sum_epsilon
    bounds = [sum_epsilon, zcdp(math.fsum(rho * count for _, rho, count in steps), delta)]
    if all(rho >= rho_of_pure(epsilon) for epsilon, rho, _ in steps):
        squares = math.fsum(count * epsilon * epsilon for epsilon, _, count in steps)
        drift = math.fsum(count * epsilon * math.tanh(epsilon / 2) for epsilon, _, count in steps)
        bounds.append(math.sqrt(2 * math.log(1 / delta) * squares) + drift)
    return min(bounds)
