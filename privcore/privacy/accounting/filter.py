"""A privacy filter: adaptive spending that never exceeds a total fixed before the run.

Each ε_i may depend on all earlier outputs. The total is in one of two units:

- "epsilon": Σ ε_i ≤ ε, pure DP (Rogers, Roth, Ullman & Vadhan 2016);
- "rho": Σ ε_i²/2 ≤ ρ, zCDP (Feldman & Zrnic 2021), which is then converted once to (ε, δ).

Advanced composition instead requires ε_i that are fixed in advance (see `plan`).
"""

from __future__ import annotations

from typing import Literal

from privcore.errors import BudgetError
from privcore.privacy.accounting.composition import rho_of_pure
from privcore.rounding import down

Unit = Literal["epsilon", "rho"]

# Every finite double is a whole number of 2⁻¹⁰⁷⁴, the smallest of them.
_PLACES = 1074
_ONE = 1 << _PLACES


class PrivacyFilter:
    """Accepts charges while their exact sum stays within the total.

    The sum is kept exactly, as an integer, so small charges can never exceed the total by rounding.
    """

    def __init__(self, unit: Unit, total: float) -> None:
        if not total > 0:
            raise BudgetError("The total privacy budget is 0; give a positive epsilon.")
        self.unit = unit
        self.total = total
        self._total = _exact(total)
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
        exact = _exact(cost)
        if self._used + exact > self._total:
            raise BudgetError("The privacy budget does not cover another step.")
        self._used += exact
        return float(cost)


def _exact(amount: float) -> int:
    """The amount as an exact multiple of 2⁻¹⁰⁷⁴."""
    numerator, denominator = amount.as_integer_ratio()
    # The denominator is a power of two.
    return numerator << _PLACES + 1 - denominator.bit_length()
