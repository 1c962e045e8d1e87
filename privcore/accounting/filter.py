"""A privacy filter: adaptive spending that never exceeds a total fixed before the run.

Two kinds, both valid when each ε_i may depend on all earlier outputs, if the total stands for
what is named here (a plan by advanced composition fixes its ε_i instead, see `plan`):
- "epsilon": Σ ε_i ≤ ε, pure DP (Rogers, Roth, Ullman & Vadhan 2016);
- "rho": Σ ε_i²/2 ≤ ρ, zCDP (Feldman & Zrnic 2021), then converted once to (ε, δ).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from privcore.accounting.composition import rho_of_pure
from privcore.errors import BudgetError

Unit = Literal["epsilon", "rho"]


class PrivacyFilter:
    """Grants charges while their exact sum stays within the total.

    The sum is kept in exact rational arithmetic, so no number of small charges can slip
    past the total by rounding.
    """

    def __init__(self, unit: Unit, total: float) -> None:
        if not total > 0:
            raise BudgetError("The total privacy budget is 0; give a positive epsilon.")
        self.unit = unit
        self.total = total
        self._total = Fraction(total)
        self._used = Fraction(0)

    @property
    def used(self) -> float:
        return float(self._used)

    @property
    def left(self) -> float:
        """What is not used yet, rounded down a hair, so that it can be charged."""
        return float(self._total - self._used) * (1 - 1e-12)

    def cost(self, epsilon: float, rho: float | None = None) -> float:
        """What an ε-DP step costs in this filter's unit.

        rho: what the step costs in zCDP, where that is known to be less than ε²/2.
        """
        if self.unit == "epsilon":
            return epsilon
        return rho_of_pure(epsilon) if rho is None else rho

    def can_charge(self, epsilon: float, rho: float | None = None) -> bool:
        return self._used + Fraction(self.cost(epsilon, rho)) <= self._total

    def charge(self, epsilon: float, rho: float | None = None) -> float:
        """Pay for one ε-DP step *before* it runs; returns the charge in the filter's unit.

        Raises BudgetError, and changes nothing, if the total would be exceeded.
        """
        if not epsilon > 0:
            raise ValueError(f"a charge must be positive, not {epsilon}")
        if not self.can_charge(epsilon, rho):
            raise BudgetError("The privacy budget does not cover another step.")
        cost = Fraction(self.cost(epsilon, rho))
        if cost == 0:
            raise ValueError(f"a charge of {epsilon} is too small to be counted")
        self._used += cost
        return float(cost)
