"""The ε of one plan under every accountant, side by side.

Each figure is a valid ε at the requested δ, even for adaptively chosen steps, if the list of events
was fixed before the run. If an accountant has no result, the reason is given instead.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.errors import ParameterError
from privcore.privacy.accounting import composition
from privcore.privacy.accounting.composition import (
    Event,
    distribution_epsilon,
    renyi_curve,
    renyi_epsilon,
    total_rho,
)
from privcore.rounding import sum_up, up

# Number of counts at which a curve by privacy-loss distributions is computed: each takes up to a
# second.
_FEW = 6
_MANY = 1_000_000
# e^ε is a floating-point number.
_LARGEST_EPSILON = 700.0
# Maximum number of distributions to compose, which takes some seconds.
_DISTRIBUTIONS = 50


class Account(NamedTuple):
    """The total ε under one accountant.

    note: the theorem or library behind ε, or, if ε is None, why the accountant has no result.
    """

    name: str
    epsilon: float | None
    note: str = ""


class Curve(NamedTuple):
    """The total ε under one accountant for each number of steps in `counts`, both of shape (k,)."""

    name: str
    counts: NDArray[np.int64]
    epsilons: NDArray[np.float64]


class _Undefined(Exception):
    """The reason why an accountant has no result."""


def side_by_side(events: Sequence[Event], delta: float) -> list[Account]:
    """Compute the total ε of all events at δ under each accountant; the order is fixed.

    Basic composition adds up ε.  The other accountants trade a small δ for a smaller ε, since the
    privacy losses of many steps are rarely all large: the total over k steps grows with √k rather
    than k.

    The steps' own δ_i are first subtracted from δ: with probability 1 − Σδ_i the steps are ε_i-DP
    (Kairouz, Oh & Viswanath 2015, Theorem 3.3 and after), or ρ_i-zCDP (Bun & Steinke 2016, Lemma
    8.2). Raises ParameterError if there are no events, or if δ lies outside [0, 1).

    Example: 100 steps that are 0.1-DP each.

        >>> from privcore.privacy.accounting.composition import Event
        >>> accounts = side_by_side([Event("pure", 0.1, count=100)], delta=1e-6)
        >>> [f"{account.name}: {account.epsilon:.2f}" for account in (accounts[0], accounts[-1])]
        ['basic: 10.00', 'privacy-loss distribution: 4.77']
    """
    if not events:
        raise ParameterError("there-no-steps-account")
    if not 0 <= delta < 1:
        raise ParameterError("delta-out-of-range", delta=delta)
    own = math.fsum(event.delta * event.count for event in events)
    left = delta - own
    accounts = []
    for name, account in _ACCOUNTANTS.items():
        try:
            if left < 0 or (own > 0 and left == 0 and name != "basic"):
                raise _Undefined(
                    f"the steps' own δ add up to {own:.3g}, which leaves no δ for composition"
                )
            if left == 0 and name != "basic":
                raise _Undefined("this accountant needs δ above 0")
            accounts.append(Account(name, *_answer(account, events, left)))
        except _Undefined as reason:
            accounts.append(Account(name, None, f"not defined: {reason}"))
    return accounts


def by_rounds(
    event: Event, counts: Sequence[int], delta: float, names: Collection[str] | None = None
) -> list[Curve]:
    """Compute ε for each number of steps of one event, as one curve per accountant.

    counts: numbers of steps; the curve by privacy-loss distributions has at most six of them.
    names: the accountants to use; all by default. Accountants that are not defined for the event
    are left out. Raises ParameterError unless all counts are at least 1 and δ lies in (0, 1).
    """
    if not counts or min(counts) < 1:
        raise ParameterError("step-numbers-too-small")
    if not 0 < delta < 1:
        raise ParameterError("delta-not-inside", delta=delta)
    numbers = np.unique(np.asarray(counts, dtype=np.int64))
    few = np.unique(np.linspace(0, numbers.size - 1, _FEW).round().astype(np.int64))
    curves = []
    for name, account in _ACCOUNTANTS.items():
        if names is not None and name not in names:
            continue
        chosen = numbers[few] if name == "privacy-loss distribution" else numbers
        if event.delta > 0:
            chosen = chosen[chosen * event.delta < delta]
        try:
            values = [
                _answer(account, [replace(event, count=int(k))], delta - int(k) * event.delta)[0]
                for k in chosen
            ]
        except _Undefined:
            continue
        curves.append(Curve(name, chosen, np.asarray(values, dtype=np.float64)))
    return curves


def _answer(
    account: Callable[[Sequence[Event], float], tuple[float, str]],
    events: Sequence[Event],
    delta: float,
) -> tuple[float, str]:
    """The ε and the note of an accountant; raises _Undefined if the accountant gives no ε."""
    try:
        epsilon, note = account(events, delta)
    except ArithmeticError:
        epsilon, note = math.inf, ""
    if not math.isfinite(epsilon):
        raise _Undefined("the numbers are too large or too small for floating point")
    return epsilon, note


def _epsilons(events: Sequence[Event]) -> list[tuple[float, int]]:
    """(ε, number of steps) for each event; raises _Undefined if an event has no ε."""
    epsilons = []
    for event in events:
        if event.epsilon is None:
            raise _Undefined(
                "each step needs an ε at δ = 0, which Gaussian noise does not have"
                if event.kind == "gaussian"
                else "each step needs an ε at δ = 0, which a zCDP step does not have"
            )
        epsilons.append((event.epsilon, event.count))
    return epsilons


def _rho(events: Sequence[Event]) -> float:
    """Total ρ of all steps, without the steps' own δ, which were subtracted from δ before."""
    rho = total_rho([replace(event, delta=0.0) for event in events])
    return 0.0 if rho is None else rho


def _basic(events: Sequence[Event], delta: float) -> tuple[float, str]:
    return _sum(events), "Dwork & Roth 2014, Theorem 3.14"


def _sum(events: Sequence[Event]) -> float:
    return sum_up(_epsilons(events))


def _advanced_classic(events: Sequence[Event], delta: float) -> tuple[float, str]:
    total = composition.classic_of(_epsilons(events), delta)
    return total, "Dwork & Roth 2014, Theorem 3.20"


def _advanced(events: Sequence[Event], delta: float) -> tuple[float, str]:
    """The smallest of the three terms in Kairouz, Oh & Viswanath 2015, Theorem 3.5."""
    steps = _epsilons(events)
    squares = math.fsum(k * e * e for e, k in steps)
    drift = math.fsum(k * e * math.tanh(e / 2) for e, k in steps)
    logarithm = math.log(min(1 / delta, math.e + math.sqrt(squares) / delta))
    closed = drift + math.sqrt(2 * logarithm * squares)
    return min(_sum(events), up(closed)), "Kairouz et al. 2015, Theorem 3.5"


def _optimal(events: Sequence[Event], delta: float) -> tuple[float, str]:
    steps = _epsilons(events)
    if len({epsilon for epsilon, _ in steps}) > 1:
        raise _Undefined("exact composition of steps that differ in ε is #P-hard")
    epsilon, count = steps[0][0], sum(k for _, k in steps)
    if count > _MANY:
        raise _Undefined(f"more than {_MANY:,} steps take too long")
    return composition.optimal_equal(epsilon, count, delta), (
        "Kairouz et al. 2015, Theorem 3.3: the smallest bound if only the ε of each step is known"
    )


def _zcdp_classic(events: Sequence[Event], delta: float) -> tuple[float, str]:
    rho = _rho(events)
    return composition.zcdp_classic(rho, delta), f"ρ = {rho:.4g}; Bun & Steinke 2016"


def _zcdp(events: Sequence[Event], delta: float) -> tuple[float, str]:
    rho = _rho(events)
    return composition.zcdp(rho, delta), f"ρ = {rho:.4g}; Canonne, Kamath & Steinke 2020"


def _renyi(events: Sequence[Event], delta: float) -> tuple[float, str]:
    curve = np.sum([event.count * renyi_curve(event) for event in events], axis=0)
    return renyi_epsilon(curve, delta), "Mironov 2017; dp-accounting"


def _distribution(events: Sequence[Event], delta: float) -> tuple[float, str]:
    kinds = {event.kind for event in events}
    if "zcdp" in kinds:
        raise _Undefined("zCDP is a bound and does not determine the distribution of the noise")
    counts: Counter[Event] = Counter()
    for event in events:
        if event.kind != "gaussian":
            counts[replace(event, count=1)] += event.count
    if len(counts) > _DISTRIBUTIONS:
        raise _Undefined(f"more than {_DISTRIBUTIONS} different steps take too long")
    if counts.total() > _MANY:
        raise _Undefined(f"more than {_MANY:,} steps take too long")
    if any(event.value > _LARGEST_EPSILON for event in counts):
        raise _Undefined(f"a step's ε is above {_LARGEST_EPSILON:g}")
    gaussian = [event for event in events if event.kind == "gaussian"]
    others = [replace(event, count=count) for event, count in counts.items()]
    epsilon = distribution_epsilon([*gaussian, *others], delta)
    if kinds == {"gaussian"}:
        return epsilon, "exact for Gaussian noise: Balle & Wang 2018, Theorem 8"
    if kinds <= {"pure", "exponential"}:
        return epsilon, "from randomised response, the worst case of pure DP; dp-accounting"
    return epsilon, "from the exact distribution of the noise; dp-accounting"


_ACCOUNTANTS: dict[str, Callable[[Sequence[Event], float], tuple[float, str]]] = {
    "basic": _basic,
    "advanced, classic": _advanced_classic,
    "advanced, exact form": _advanced,
    "optimal for equal steps": _optimal,
    "zCDP, classic conversion": _zcdp_classic,
    "zCDP, optimal conversion": _zcdp,
    "Rényi": _renyi,
    "privacy-loss distribution": _distribution,
}
NAMES: tuple[str, ...] = tuple(_ACCOUNTANTS)
