"""Rényi divergences and privacy-loss distributions of planned steps.

The library dp-accounting converts Rényi divergences to ε and composes privacy-loss distributions.
Every ε here is an upper bound: Rényi divergences are exact, but ε is minimised over finitely many
orders, and privacy-loss distributions are rounded up to a grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from privcore.arrays import Vector
from privcore.privacy.accounting.events import Event
from privcore.privacy.mechanisms.gaussian import gaussian_epsilon

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
    If all noise is Gaussian, composition is exact.
    """
    gaussian = math.fsum(e.count / e.value**2 for e in events if e.kind == "gaussian")
    others = [event for event in events if event.kind != "gaussian"]
    if not others:
        return gaussian_epsilon(math.sqrt(gaussian), delta)
    interval = _interval(others, math.sqrt(gaussian))
    parts = [_distribution(event, interval) for event in others]
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
    return float(parts[0].get_epsilon_for_delta(delta))


def _interval(events: Sequence[Event], mu: float) -> float:
    """The grid's step: small relative to the smallest ε, unless the grid would be too long.

    mu: μ of the Gaussian noise composed with the events; its privacy loss stays within μ²/2 ± 10μ.
    """
    finest = min(_INTERVAL, min(event.value for event in events) / 500)
    longest = math.fsum(event.value * event.count for event in events) + mu * (mu + 20)
    return max(finest, longest / _POINTS)


def _distribution(event: Event, interval: float) -> Any:
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
