"""Composition of steps whose ε_i or ρ_i are fixed before the run.

The functions take the ε_i of the steps, or ρ, and return the total ε at δ, rounded up. The totals
hold for adaptively chosen mechanisms if the sequence of ε_i is fixed in advance. If nothing
was spent or δ is 1, the total is 0. If δ is 0 but the theorem needs a positive δ, the total is ∞. A
negative or NaN argument, or a δ outside [0, 1], raises ParameterError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln

from privcore.privacy.mechanisms.gaussian import check_at_least_0, check_delta
from privcore.rounding import largest, round_up, sum_up, up

# Beyond it e^ε − 1 overflows.
_MOST = 700.0


def basic(epsilons: Sequence[float]) -> float:
    """Basic composition: the total Σ ε_i at δ = 0 (Dwork & Roth 2014, Theorem 3.14)."""
    _check_epsilons(epsilons)
    return sum_up((epsilon, 1) for epsilon in epsilons)


def advanced_classic(epsilons: Sequence[float], delta: float) -> float:
    """Classic advanced composition: the total sqrt(2 ln(1/δ) Σ ε_i²) + Σ ε_i (e^{ε_i} − 1).

    Dwork & Roth 2014, Theorem 3.20.
    """
    return classic_of([(e, 1) for e in epsilons], delta)


def classic_of(steps: Sequence[tuple[float, int]], delta: float) -> float:
    """`advanced_classic` for steps given as (ε, number of steps)."""
    drift = [k * e * math.expm1(e) if e < _MOST else math.inf for e, k in steps]
    return _spread_and_drift(steps, delta, drift)


def advanced(epsilons: Sequence[float], delta: float) -> float:
    """Advanced composition: the total sqrt(2 ln(1/δ) Σ ε_i²) + Σ ε_i tanh(ε_i/2).

    Kairouz, Oh & Viswanath 2015, Theorem 3.5.
    """
    return advanced_of([(e, 1) for e in epsilons], delta)


def advanced_of(steps: Sequence[tuple[float, int]], delta: float) -> float:
    """`advanced` for steps given as (ε, number of steps)."""
    return _spread_and_drift(steps, delta, [k * e * math.tanh(e / 2) for e, k in steps])


def _spread_and_drift(
    steps: Sequence[tuple[float, int]], delta: float, drift: Sequence[float]
) -> float:
    _check_epsilons([epsilon for epsilon, _ in steps])
    check_delta(delta)
    if delta == 1 or not any(epsilon * count > 0 for epsilon, count in steps):
        return 0.0
    if delta == 0:
        return math.inf
    squares = math.fsum(count * epsilon * epsilon for epsilon, count in steps)
    return up(math.sqrt(2 * -math.log(delta) * squares) + math.fsum(drift))


def rho_of_pure(epsilon: float) -> float:
    """The ρ at which ε-DP implies ρ-zCDP: ε²/2, rounded up (Bun & Steinke 2016, Prop. 1.4)."""
    return round_up(Fraction(epsilon) ** 2 / 2) if math.isfinite(epsilon) else math.inf


def zcdp_classic(rho: float, delta: float) -> float:
    """The ε at δ that ρ-zCDP implies: ρ + 2 sqrt(ρ ln(1/δ)) (Bun & Steinke 2016, Prop. 1.3)."""
    check_at_least_0("rho", rho)
    check_delta(delta)
    if delta == 1 or rho == 0:
        return 0.0
    return up(rho + 2 * math.sqrt(rho * -math.log(delta))) if delta > 0 else math.inf


def zcdp(rho: float, delta: float) -> float:
    """The ε at δ that ρ-zCDP implies: min over a > 1 of ρa + ln(1/(aδ))/(a−1) + ln(1−1/a).

    This is Proposition 12 of Canonne, Kamath & Steinke 2020 with the Rényi curve of ρ-zCDP.  The
    minimum is found numerically; any a gives a valid bound, so a missed minimum is safe.
    """
    classic = zcdp_classic(rho, delta)
    if classic in (0.0, math.inf):
        return classic

    def bound(log_excess: float) -> float:
        excess = math.exp(log_excess)
        a = 1 + excess
        return (
            rho * a - math.log(a * delta) / excess + (math.log1p(-1 / a) if a > 1 else log_excess)
        )

    # The minimum of the leading terms lies at a − 1 = sqrt(ln(1/δ)/ρ); search around it.
    square = -math.log(delta) / rho
    if square == math.inf:
        return classic
    centre = 0.5 * math.log(square)
    minimum = minimize_scalar(
        bound, bounds=(centre - 6, centre + 6), method="bounded", options={"xatol": 1e-10}
    )
    best = float(minimum.x) if bound(float(minimum.x)) < bound(centre) else centre
    return max(0.0, min(_exact_bound(rho, delta, best), classic))


def _exact_bound(rho: float, delta: float, log_excess: float) -> float:
    """The bound of `zcdp` at one value of a, computed with many digits and rounded up."""
    # Imported here: only few pages and commands need it.
    from mpmath import mp

    # Terms as large as 1/(a − 1) cancel.
    with mp.workprec(120 + 3 * math.ceil(abs(log_excess))):
        excess = mp.exp(log_excess)
        a = 1 + excess
        exact = rho * a - mp.log(a * delta) / excess + mp.log(excess / a)
        return math.nextafter(float(exact), math.inf)


# Runs that differ only in their noise need the same value.
@lru_cache(maxsize=1024)
def rho_for(epsilon: float, delta: float) -> float:
    """The largest ρ, rounded down, at which ρ-zCDP implies (ε, δ)-DP by `zcdp`.

    Returns ∞ if δ is 1 or ε is ∞, and otherwise 0 if δ or ε is 0.
    """
    check_at_least_0("epsilon", epsilon)
    check_delta(delta)
    if delta == 1 or epsilon == math.inf:
        return math.inf
    if delta == 0 or epsilon == 0:
        return 0.0
    # Start from the classic conversion, which never allows more.
    root = math.sqrt(-math.log(delta))
    guess = (epsilon / (root + math.sqrt(root * root + epsilon))) ** 2
    return largest(lambda rho: zcdp(rho, delta) <= epsilon, guess)


def optimal_equal(epsilon: float, count: int, delta: float) -> float:
    """The smallest total ε at δ that holds for any k = `count` steps that are ε-DP each.

    Kairouz, Oh & Viswanath 2015, Theorem 3.3: the worst case is randomised response, for which
    δ(ε′) is Σ_l C(k, l) max(0, e^{(k−l)ε} − e^{ε′ + lε})/(1 + e^ε)^k. The result is the ε′ with
    δ(ε′) = δ, rounded up.
    """
    check_at_least_0("epsilon", epsilon)
    check_at_least_0("count", count)
    check_delta(delta)
    if delta == 1 or epsilon * count == 0 or math.isnan(epsilon * count):
        return 0.0
    whole = sum_up([(epsilon, count)])
    if delta == 0 or whole == math.inf:
        return whole
    lies = np.arange(count + 1)
    stay, flip = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    chances = gammaln(count + 1) - gammaln(lies + 1) - gammaln(count - lies + 1)
    chances = np.exp(chances + (count - lies) * stay + lies * flip)
    losses = (count - 2.0 * lies) * epsilon

    def excess(total: float) -> float:
        above = losses > total
        failure = -(chances[above] * np.expm1(total - losses[above])).sum()
        # Logarithms of the chances are right to about 10⁻⁸.
        return float(failure) * (1 + 1e-7) - delta

    if excess(0.0) <= 0:
        return 0.0
    if excess(whole) >= 0:
        return whole
    return min(float(brentq(excess, 0.0, whole, xtol=1e-14)) * (1 + 1e-9), whole)


def _check_epsilons(epsilons: Sequence[float]) -> None:
    for epsilon in epsilons:
        check_at_least_0("epsilon", epsilon)


def published_total(epsilons: Sequence[float], delta: float) -> float:
    """The total ε that papers report: classic advanced composition, or Σ ε_i if δ = 0."""
    if not epsilons:
        return 0.0
    return advanced_classic(epsilons, delta) if delta > 0 else basic(epsilons)


def total(steps: Sequence[tuple[float, float, int]], delta: float) -> float:
    """The smallest total ε at δ that basic composition, zCDP or advanced composition gives.

    steps: (ε, ρ, number of steps) for each kind of step; ρ is ε²/2 if only pure DP is known for the
    step. Advanced composition is tried only if ρ is at least ε²/2 for all steps.
    """
    for epsilon, rho, count in steps:
        check_at_least_0("epsilon", epsilon)
        check_at_least_0("rho", rho)
        check_at_least_0("count", count)
    check_delta(delta)
    sum_epsilon = sum_up((epsilon, count) for epsilon, _, count in steps)
    if delta == 0:
        return sum_epsilon
    bounds = [sum_epsilon, zcdp(sum_up((rho, count) for _, rho, count in steps), delta)]
    if all(rho >= epsilon * epsilon / 2 for epsilon, rho, _ in steps):
        bounds.append(advanced_of([(epsilon, count) for epsilon, _, count in steps], delta))
    return min(bounds)
