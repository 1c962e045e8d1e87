"""What the planned steps of a run cost together.

The releases of a run, as fixed by its plan before any data are used.

An event stands for a number of equal steps. For some steps only ε is known. For others the
distribution of the noise is known, which allows sharper accounting.

Composition of steps whose ε_i or ρ_i are fixed before the run.

The functions take the ε_i of the steps, or ρ, and return the total ε at δ, rounded up. The totals
hold for adaptively chosen mechanisms if the sequence of ε_i is fixed in advance. If nothing
was spent or δ is 1, the total is 0. If δ is 0 but the theorem needs a positive δ, the total is ∞. A
negative or NaN argument, or a δ outside [0, 1], raises ParameterError.

Rényi divergences and privacy-loss distributions of planned steps.

The library dp-accounting converts Rényi divergences to ε and composes privacy-loss distributions.
Every ε here is an upper bound: Rényi divergences are exact, but ε is minimised over finitely many
orders, and privacy-loss distributions are rounded up to a grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Literal, get_args

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln

from privcore.arrays import Vector
from privcore.errors import ParameterError
from privcore.privacy.mechanisms.gaussian import check_at_least_0, check_delta, gaussian_epsilon
from privcore.rounding import largest, round_up, sum_up, up
from privcore.text import short

Kind = Literal["pure", "laplace", "discrete laplace", "gaussian", "exponential", "zcdp"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Squares of values stay within floating point, and every count is a floating-point number.
SMALLEST, LARGEST = 1e-100, 1e100
MOST_STEPS = 10**15


@dataclass(frozen=True)
class Event:
    """`count` steps of one kind, each of which may depend on earlier answers.

    value: ε for a "pure" step, for "laplace" noise on one number (sensitivity divided by scale),
        for "discrete laplace" noise on one integer of sensitivity 1, and for the "exponential"
        mechanism; σ divided by the sensitivity for "gaussian" noise; ρ for a "zcdp" step.
    delta: δ of a "pure" step for which only (ε, δ)-DP is known, or of a "zcdp" step that is
        δ-approximately ρ-zCDP (Bun & Steinke 2016, Definition 8.1).

    Raises ParameterError unless value lies in [1e-100, 1e100], count in [1, 10¹⁵] and delta in
    [0, 1), or if delta is above 0 for a kind other than "pure" and "zcdp".
    """

    kind: Kind
    value: float
    count: int = 1
    delta: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError("no-such-event", kind=self.kind, choices=", ".join(KINDS))
        if not SMALLEST <= self.value <= LARGEST:
            raise ParameterError(
                "value-of-step-out-of-range", value=self.value, smallest=SMALLEST, largest=LARGEST
            )
        if not 1 <= self.count <= MOST_STEPS:
            raise ParameterError(
                "number-of-steps-out-of-range", count=short(self.count), most_steps=MOST_STEPS
            )
        if not 0 <= self.delta < 1 or (self.delta > 0 and self.kind not in ("pure", "zcdp")):
            raise ParameterError("delta-of-step-out-of-range", delta=self.delta)

    @property
    def epsilon(self) -> float | None:
        """ε of one step, or None if the step has no finite ε at its own δ."""
        return None if self.kind in ("gaussian", "zcdp") else self.value

    @property
    def rho(self) -> float | None:
        """ρ of one step, rounded up, or None if the step has its own δ.

        Pure DP gives ε²/2 (Bun & Steinke 2016, Proposition 1.4), the exponential mechanism ε²/8
        (Cesar & Rogers 2021, Lemma 3.2), and Gaussian noise 1/(2σ²).
        """
        if self.delta > 0:
            return None
        if self.kind == "zcdp":
            return self.value
        if self.kind == "gaussian":
            return round_up(1 / (2 * Fraction(self.value) ** 2))
        return round_up(Fraction(self.value) ** 2 / (8 if self.kind == "exponential" else 2))

    def as_dict(self) -> dict[str, str | float | int]:
        """The event as a JSON-ready dictionary."""
        return {
            "kind": self.kind,
            "value": self.value,
            "count": self.count,
            "delta": self.delta,
        }


def total_rho(events: Sequence[Event]) -> float | None:
    """ρ of all steps together, or None if a step has no ρ or there are no events."""
    parts = [event.rho for event in events]
    if not events or None in parts:
        return None
    pairs = zip(parts, events, strict=True)
    return sum_up((rho, event.count) for rho, event in pairs if rho is not None)


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


# Below it the exact curves lose digits by cancellation, and αε²/2 is as good.
_SMALL = 1e-3
_INTERVAL = 1e-4
# Maximum grid points of the composition: with more, a distribution takes seconds.
_POINTS = 1e6


@cache
def orders() -> Vector:
    """The default Rényi orders of dp-accounting, and larger orders for small ε."""
    # Imported here: the library takes most of a second.
    from dp_accounting.rdp import rdp_privacy_accountant

    usual = rdp_privacy_accountant.DEFAULT_RDP_ORDERS
    return np.asarray([*usual, *(2.0**k for k in range(11, 21))], dtype=np.float64)


def renyi_curve(event: Event) -> Vector:
    """Rényi divergence of one step at each order in `orders()`, shape (k,).

    The formulas for Gaussian noise, α/(2σ²), and for Laplace noise are Propositions 7 and 6 of
    Mironov 2017. A pure-DP step gets the divergence of randomised response, which dominates every
    ε-DP step (Kairouz, Oh & Viswanath 2015, Theorem 3.1).
    """
    a = orders()
    if event.kind == "gaussian":
        return np.asarray(a / (2 * event.value**2))
    if event.kind == "zcdp":
        return np.asarray(a * event.value)
    e = event.value
    known = np.minimum(a * e * e / (8 if event.kind == "exponential" else 2), e)
    if e < _SMALL:
        return np.asarray(known)
    if event.kind == "laplace":
        curve = np.logaddexp(
            np.log(a / (2 * a - 1)) + (a - 1) * e, np.log((a - 1) / (2 * a - 1)) - a * e
        )
    else:
        likely, unlikely = -math.log1p(math.exp(-e)), -e - math.log1p(math.exp(-e))
        curve = np.logaddexp(a * likely + (1 - a) * unlikely, a * unlikely + (1 - a) * likely)
    return np.minimum(curve / (a - 1), known)


def renyi_epsilon(curve: Vector, delta: float) -> float:
    """The ε at δ that follows from a Rényi curve (Canonne, Kamath & Steinke 2020, Proposition 12).

    curve: Rényi divergences at `orders()`, shape (k,).
    """
    from dp_accounting import rdp

    return float(rdp.compute_epsilon(orders(), curve, delta)[0])


def distribution_epsilon(events: Sequence[Event], delta: float) -> float:
    """Compute ε at δ by composing the privacy-loss distributions of all steps.

    events: steps of any kind except "zcdp", which does not determine a distribution. Dominating
    distributions compose even if steps are chosen adaptively (Zhu, Dong & Wang 2022, Theorem 10).
    If all noise is Gaussian, composition is exact.  The result is never above the sum of the ε of
    all Gaussian steps together and of each other step, which the grid may exceed for small steps.
    delta: what the δ that steps have of their own leaves of the total.
    """
    gaussian = math.fsum(e.count / e.value**2 for e in events if e.kind == "gaussian")
    others = [event for event in events if event.kind != "gaussian"]
    alone = gaussian_epsilon(math.sqrt(gaussian), delta)
    if not others:
        return alone
    interval = _interval(others, math.sqrt(gaussian))
    parts = [_distribution_of(event, interval) for event in others]
    if gaussian > 0:
        from dp_accounting.pld import privacy_loss_distribution as pld

        parts.append(
            pld.from_gaussian_mechanism(
                1 / math.sqrt(gaussian), value_discretization_interval=interval
            )
        )
    # In pairs, so that few compositions have long grids.
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [*(a.compose(b) for a, b in pairs), *parts[len(parts) // 2 * 2 :]]
    added = sum_up([(alone, 1), *((event.value, event.count) for event in others)])
    return min(float(parts[0].get_epsilon_for_delta(delta)), added)


def _interval(events: Sequence[Event], mu: float) -> float:
    """The grid's step: small relative to the smallest ε, unless the grid would be too long.

    mu: μ of the Gaussian noise composed with the events; its privacy loss stays within μ²/2 ± 10μ.
    """
    finest = min(_INTERVAL, min(event.value for event in events) / 500)
    longest = math.fsum(event.value * event.count for event in events) + mu * (mu + 20)
    return max(finest, longest / _POINTS)


def _distribution_of(event: Event, interval: float) -> Any:
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    if event.kind == "laplace":
        one = pld.from_laplace_mechanism(1 / event.value, value_discretization_interval=interval)
    elif event.kind == "discrete laplace":
        one = pld.from_discrete_laplace_mechanism(
            event.value, value_discretization_interval=interval
        )
    else:
        one = pld.from_privacy_parameters(
            common.DifferentialPrivacyParameters(event.value, 0.0),
            value_discretization_interval=interval,
        )
    return one.self_compose(event.count) if event.count > 1 else one
