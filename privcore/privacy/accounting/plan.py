"""Plans: the split of a total (ε, δ) into equal rounds before any data are used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from privcore.errors import ParameterError
from privcore.privacy.accounting import composition
from privcore.privacy.accounting.filter import PrivacyFilter, Unit
from privcore.rounding import down, largest, up


@dataclass(frozen=True)
class Plan:
    """A plan of equal rounds that are (ε, δ)-DP together.

    step_epsilons: ε of each step of a round. total: the budget of the filter, in `unit`.
    rho_factor: as for `plan_rounds`.
    """

    epsilon: float
    delta: float
    rounds: int
    step_epsilons: tuple[float, ...]
    accountant: str
    unit: Unit
    total: float
    rho_factor: float = 0.5

    def epsilon_of(self, rounds: int) -> float:
        """The total ε of `rounds` rounds, at this plan's δ."""
        return composition.total(
            [(e, self.rho_factor * e * e, rounds) for e in self.step_epsilons], self.delta
        )

    def new_filter(self) -> PrivacyFilter:
        """A filter that accepts exactly the plan's steps.

        Under advanced composition the filter covers no other steps, since the theorem requires a
        sequence of ε_i that is fixed in advance.
        """
        return PrivacyFilter(self.unit, self.total)


def plan_rounds(
    epsilon: float,
    delta: float,
    rounds: int,
    shares: Sequence[float] = (1.0,),
    rho_factor: float = 0.5,
) -> Plan:
    """Split (ε, δ) over `rounds` rounds, each with steps in proportion to `shares`.

    The accountant that allows the largest steps is chosen among basic composition, advanced
    composition and zCDP. The choice uses public numbers only, so it costs no privacy.

    rho_factor: the factor c such that an ε-DP step is cε²-zCDP: ½ for any pure-DP step, and ⅛ for
    the exponential mechanism.

    Raises ParameterError if a parameter is out of range.
    """
    return _planned(epsilon, delta, rounds, tuple(shares), rho_factor)


# Runs that differ only in their noise have the same plan.
@lru_cache(maxsize=1024)
def _planned(
    epsilon: float, delta: float, rounds: int, shares: tuple[float, ...], rho_factor: float
) -> Plan:
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError(f"epsilon is {epsilon}; it must be a positive number.")
    if not 0 <= delta < 1:
        raise ParameterError(f"delta is {delta}; it must be at least 0 and below 1.")
    if rounds < 1:
        raise ParameterError(f"The number of rounds is {rounds}; it must be at least 1.")
    weights = [share / math.fsum(shares) for share in shares]
    squares = math.fsum(w * w for w in weights)

    candidates: list[tuple[float, str, Unit]] = [(epsilon / rounds, "basic composition", "epsilon")]
    if delta > 0:
        rho = composition.rho_for(epsilon, delta)
        candidates.append((math.sqrt(rho / (rho_factor * rounds * squares)), "zCDP", "rho"))
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
        total = up(rounds * math.fsum(rho_factor * (size * w) ** 2 for w in weights))
    return Plan(epsilon, delta, rounds, steps, name, unit, total, rho_factor)


def _advanced_step(epsilon: float, delta: float, rounds: int, weights: Sequence[float]) -> float:
    """The largest ε per round at which advanced composition gives at most `epsilon` at `delta`."""
    return largest(
        lambda size: (
            composition.advanced_of([(size * w, rounds) for w in weights], delta) <= epsilon
        ),
        epsilon / rounds,
    )
