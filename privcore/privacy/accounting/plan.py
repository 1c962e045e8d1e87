"""How a total is split before a run, and how the run keeps to it.

A privacy filter: adaptive spending that never exceeds a total fixed before the run.

Each ε_i may depend on all earlier outputs. The total is in one of two units:

- "epsilon": Σ ε_i ≤ ε, pure DP (Rogers, Roth, Ullman & Vadhan 2016);
- "rho": Σ ε_i²/2 ≤ ρ, zCDP (Feldman & Zrnic 2021), which is then converted once to (ε, δ).

Advanced composition instead requires ε_i that are fixed in advance (see `plan`).

Plans: the split of a total (ε, δ) into equal rounds before any data are used.

Accounting of Gaussian tests on sub-samples, each drawn anew without replacement.

T tests with σ = c·sensitivity are together one Gaussian mechanism, whose ε at δ is computed
exactly. This ε also holds for tests on sub-samples, but the Rényi bound for sampling without
replacement (Wang, Balle & Kasiviswanathan 2019, Theorem 9, as computed by dp-accounting) is often
smaller. The smaller of the two bounds is used. Proof: docs/proofs/subsampled_gaussian.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, sqrt
from typing import Literal

from privcore.errors import BudgetError, ParameterError
from privcore.privacy.accounting import composition
from privcore.privacy.accounting.composition import rho_of_pure
from privcore.privacy.mechanisms.gaussian import check_at_least_0, gaussian_epsilon, planned_mu
from privcore.rounding import down, largest, up

BudgetUnit = Literal["epsilon", "rho"]

# Every finite double is a whole number of 2⁻¹⁰⁷⁴, the smallest of them.
_PLACES = 1074
_ONE = 1 << _PLACES


class PrivacyFilter:
    """Accepts charges while their exact sum stays within the total.

    The sum is kept exactly, as an integer, so small charges can never exceed the total by rounding.
    """

    def __init__(self, unit: BudgetUnit, total: float) -> None:
        if not total > 0:
            raise BudgetError("no-budget")
        self.unit = unit
        self.total = total
        self._total = _exactly(total)
        self._used = 0

    @property
    def used(self) -> float:
        return self._used / _ONE

    @property
    def left(self) -> float:
        """The remaining amount, rounded down slightly so that it can be charged."""
        return down((self._total - self._used) / _ONE)

    def cost(self, epsilon: float, rho: float | None = None) -> float:
        """The cost of an ε-DP step in this filter's unit, rounded up.

        rho: the step's cost in zCDP, rounded up, if known to be less than ε²/2.
        """
        if self.unit == "epsilon":
            return epsilon
        return rho_of_pure(epsilon) if rho is None else rho

    def charge(self, epsilon: float, rho: float | None = None) -> float:
        """Charge one ε-DP step *before* it runs; returns the cost in the filter's unit.

        Raises BudgetError, without any charge, if the total would be exceeded.
        """
        if not epsilon > 0:
            raise ValueError(f"a charge must be positive, not {epsilon}")
        cost = self.cost(epsilon, rho)
        exact = _exactly(cost)
        if self._used + exact > self._total:
            raise BudgetError("privacy-budget-not-cover-another-step")
        self._used += exact
        return float(cost)


def _exactly(amount: float) -> int:
    """The amount as an exact multiple of 2⁻¹⁰⁷⁴."""
    numerator, denominator = amount.as_integer_ratio()
    # The denominator is a power of two.
    return numerator << _PLACES + 1 - denominator.bit_length()


# An ε-DP step is ½ε²-zCDP.
_RHO = 0.5


@dataclass(frozen=True)
class RoundsPlan:
    """A plan of equal rounds that are (ε, δ)-DP together.

    step_epsilons: ε of each step of a round. total: the budget of the filter, in `unit`.
    """

    epsilon: float
    delta: float
    rounds: int
    step_epsilons: tuple[float, ...]
    accountant: str
    unit: BudgetUnit
    total: float

    def epsilon_of(self, rounds: int) -> float:
        """The total ε of `rounds` rounds, at this plan's δ."""
        return composition.total(
            [(e, _RHO * e * e, rounds) for e in self.step_epsilons], self.delta
        )

    def new_filter(self) -> PrivacyFilter:
        """A filter that accepts exactly the plan's steps.

        Under advanced composition the filter covers no other steps, since the theorem requires a
        sequence of ε_i that is fixed in advance.
        """
        return PrivacyFilter(self.unit, self.total)


def plan_rounds(
    epsilon: float, delta: float, rounds: int, shares: Sequence[float] = (1.0,)
) -> RoundsPlan:
    """Split (ε, δ) over `rounds` rounds, each with steps in proportion to `shares`.

    The accountant that allows the largest steps is chosen among basic composition, advanced
    composition and zCDP. The choice uses public numbers only, so it costs no privacy.

    Raises ParameterError if a parameter is out of range.
    """
    return _planned(epsilon, delta, rounds, tuple(shares))


# Runs that differ only in their noise have the same plan.
@lru_cache(maxsize=1024)
def _planned(epsilon: float, delta: float, rounds: int, shares: tuple[float, ...]) -> RoundsPlan:
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError("epsilon-out-of-range", epsilon=epsilon)
    if not 0 <= delta < 1:
        raise ParameterError("delta-out-of-range", delta=delta)
    if rounds < 1:
        raise ParameterError("number-of-rounds-out-of-range", rounds=rounds)
    weights = [share / math.fsum(shares) for share in shares]
    squares = math.fsum(w * w for w in weights)

    candidates: list[tuple[float, str, BudgetUnit]] = [
        (epsilon / rounds, "basic composition", "epsilon")
    ]
    if delta > 0:
        rho = composition.rho_for(epsilon, delta)
        candidates.append((math.sqrt(rho / (_RHO * rounds * squares)), "zCDP", "rho"))
        step = _advanced_step(epsilon, delta, rounds, weights)
        candidates.append((step, "advanced composition", "rho"))
    size, name, unit = max(candidates)
    # Shares round down, so that in exact arithmetic all steps stay within the total.
    steps = tuple(down(size * w) for w in weights)
    if unit == "epsilon":
        total = epsilon
    elif name == "zCDP":
        total = rho
    else:
        # The cost of the steps; the filter grants exactly these.
        total = up(rounds * math.fsum(_RHO * (size * w) ** 2 for w in weights))
    return RoundsPlan(epsilon, delta, rounds, steps, name, unit, total)


def _advanced_step(epsilon: float, delta: float, rounds: int, weights: Sequence[float]) -> float:
    """The largest ε per round at which advanced composition gives at most `epsilon` at `delta`."""
    return largest(
        lambda size: (
            composition.advanced_of([(size * w, rounds) for w in weights], delta) <= epsilon
        ),
        epsilon / rounds,
    )


# A few orders, not too large, since time grows with the order; any choice gives a valid bound.
_ORDERS = (*range(2, 13), 14, 16, 20, 24, 32, 48, 64, 128)
# More than the rounding of the library's sums, none of which cancel.
_ROUNDING = 1 + 1e-9
# Beyond it the library takes the logarithm of a number that rounds to 0.
_LARGEST_MULTIPLIER = 1e6


@dataclass(frozen=True)
class SampledGaussian:
    """Accounting for Gaussian tests on sub-samples of `rows` out of n rows."""

    n: int
    rows: int

    @property
    def accountant(self) -> str:
        exact = "exact Gaussian composition"
        if self.rows == self.n:
            return exact
        return (
            f"{exact} or Rényi accounting for sampling without replacement, whichever gives the "
            "smaller ε"
        )

    def epsilon(self, multiplier: float, delta: float, tests: int) -> float:
        """The ε at δ of `tests` tests whose σ is `multiplier` times the sensitivity.

        Returns 0 if there are no tests, otherwise ∞ if `multiplier` is 0. Raises ParameterError for
        a negative multiplier or a δ outside [0, 1].
        """
        check_at_least_0("multiplier", multiplier)
        if tests == 0:
            return 0.0
        exact = gaussian_epsilon(up(sqrt(tests) / multiplier) if multiplier else inf, delta)
        if self.rows == self.n or exact in (0.0, inf) or delta == 0:
            return exact
        return min(exact, _renyi_epsilon(self.n, self.rows, multiplier, delta, tests))

    def multiplier(self, epsilon: float, delta: float, tests: int) -> float:
        """The smallest multiplier, rounded up slightly, at which `tests` tests are (ε, δ)-DP."""
        exact = up(sqrt(tests) / planned_mu(epsilon, delta))
        if self.rows == self.n or exact == 0:
            return exact
        return _search_multiplier(self.n, self.rows, epsilon, delta, tests, exact)


@lru_cache(maxsize=256)
def _search_multiplier(
    n: int, rows: int, epsilon: float, delta: float, tests: int, exact: float
) -> float:
    high = low = exact
    while _renyi_epsilon(n, rows, low, delta, tests) <= epsilon:
        high, low = low, low / 1.5
    while high / low > 1.002:
        middle = sqrt(low * high)
        if _renyi_epsilon(n, rows, middle, delta, tests) <= epsilon:
            high = middle
        else:
            low = middle
    return high


@lru_cache(maxsize=1024)
def _renyi_epsilon(n: int, rows: int, multiplier: float, delta: float, tests: int) -> float:
    # Imported here: the library takes most of a second, and only sub-sampling needs it.
    from dp_accounting import dp_event, privacy_accountant, rdp

    if multiplier > _LARGEST_MULTIPLIER:
        return inf
    accountant = rdp.RdpAccountant(
        orders=_ORDERS,
        neighboring_relation=privacy_accountant.NeighboringRelation.REPLACE_ONE,
    )
    event = dp_event.SampledWithoutReplacementDpEvent(n, rows, dp_event.GaussianDpEvent(multiplier))
    accountant.compose(event, tests)
    return float(accountant.get_epsilon(delta)) * _ROUNDING
