"""Budgets, charges, and sums of them in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal

from privcore.errors import BudgetError
from privcore.privacy.accounting import composition
from privcore.text import short
from privcore.unit import REPLACED

Unit = Literal["basic", "zcdp"]
State = Literal["charged", "released", "failed"]


@dataclass(frozen=True)
class Budget:
    """A budget: a name and its current total.

    unit: what is added up and limited by the total: ε and δ ("basic"), or ρ ("zcdp").
    rho: the total in zCDP; None for "basic".  created, changed: times in UTC at which the budget
    was created and its current total was set.
    """

    name: str
    unit: Unit
    epsilon: float
    delta: float
    rho: float | None
    created: str
    changed: str


@dataclass(frozen=True)
class Charge:
    """The charge of one release; `sequence` orders charges, as a clock may be wrong.

    state: "charged" until the run ends, then "released" or "failed".  A charge whose process was
    killed, or whose end could not be recorded, stays "charged"; its release may have been handed
    out.  rho: the cost in zCDP; None if only (ε, δ) is known.
    """

    sequence: int
    time: str
    budget: str
    algorithm: str
    parameters: Mapping[str, Any]
    epsilon: float
    delta: float
    rho: float | None
    state: State
    certificate: str

    @property
    def state_words(self) -> str:
        """The state, and for "charged" what it leaves open."""
        if self.state != "charged":
            return self.state
        return "charged (not recorded as finished; a release may have been handed out)"


def protected_by(charge: Charge) -> str:
    """The unit that a charge protects, such as "up to 5 rows of a person, added or removed"."""
    rows = charge.parameters.get("rows_per_unit") or 1
    words = "one row" if rows == 1 else f"up to {rows} rows of a person"
    relation = charge.parameters.get("neighbours", REPLACED)
    return words if relation == REPLACED else f"{words}, {relation}"


@dataclass(frozen=True)
class Spending:
    """The sums of all charges of a budget, whatever their state.

    budget: the budget, with its total at that time.  charges: the number of charges.
    epsilon, delta: sums over the charges, by basic composition.  rho: the sum of ρ; None if a
    charge has no ρ.
    zcdp_epsilon: the ε of all charges at the δ of the total.  Charges with a ρ are composed by
    zCDP, and other charges by basic composition; None if the other charges use up the δ.  The total
    limits this ε only if the unit is "zcdp".
    left_epsilon, left_delta: the remainder of the total if the unit is "basic", else None.
    left_rho: the remainder of the total if the unit is "zcdp", else None.
    """

    budget: Budget
    charges: int
    epsilon: float
    delta: float
    rho: float | None
    zcdp_epsilon: float | None
    left_epsilon: float | None
    left_delta: float | None
    left_rho: float | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _exact(numbers: Iterable[float]) -> Fraction:
    """The exact sum of the numbers as written in decimal, so that ten times 0.1 is 1."""
    return sum((Fraction(repr(number)) for number in numbers), Fraction(0))


def check_total(budget: Budget, charges: Sequence[Charge]) -> None:
    """Raises BudgetError if the charges exceed the total."""
    for symbol, total, spent in _kept(budget, charges):
        if _exact(spent) > _exact([total]):
            raise BudgetError(
                f"The budget {short(budget.name)!r} has spent "
                f"{symbol} = {float(_exact(spent)):.6g}, which is more than {total:.6g}; set a "
                "larger total."
            )


def check_charge(budget: Budget, charges: Sequence[Charge]) -> None:
    """Raises BudgetError if the last charge exceeds the total."""
    for symbol, total, spent in _kept(budget, charges):
        left = _exact([total]) - _exact(spent[:-1])
        if _exact(spent[-1:]) > left:
            raise BudgetError(
                f"The budget {short(budget.name)!r} does not cover this release: it costs "
                f"{symbol} = {spent[-1]:.6g}, and {max(float(left), 0.0):.6g} is left."
            )


def _kept(budget: Budget, charges: Sequence[Charge]) -> list[tuple[str, float, list[float]]]:
    """The limited quantities: for each, its symbol, its total, and the cost of each charge."""
    if budget.rho is None:
        return [
            ("ε", budget.epsilon, [charge.epsilon for charge in charges]),
            ("δ", budget.delta, [charge.delta for charge in charges]),
        ]
    rhos = [charge.rho for charge in charges if charge.rho is not None]
    if len(rhos) < len(charges):
        unknown = next(charge.algorithm for charge in reversed(charges) if charge.rho is None)
        raise BudgetError(
            f"The total of the budget {short(budget.name)!r} is in zCDP, but the zCDP cost of "
            f"{short(unknown)} with its settings is not known; choose other settings, or set the "
            "total in the unit basic."
        )
    return [("ρ", budget.rho, rhos)]


def spending_of(budget: Budget, charges: Sequence[Charge]) -> Spending:
    """The sums over the charges of a budget, and the remainder of its total."""
    epsilon = _exact(charge.epsilon for charge in charges)
    delta = _exact(charge.delta for charge in charges)
    known = [charge.rho for charge in charges if charge.rho is not None]
    rho = _exact(known)
    # Charges without a ρ are added as they are, and their δ is subtracted from the total's.
    others = [charge for charge in charges if charge.rho is None]
    rest = float(_exact([budget.delta]) - _exact(charge.delta for charge in others))
    zcdp = None
    if rest > 0:
        without_rho = float(_exact(charge.epsilon for charge in others))
        zcdp = without_rho + composition.zcdp(float(rho), rest)
    basic = budget.unit == "basic"
    return Spending(
        budget=budget,
        charges=len(charges),
        epsilon=float(epsilon),
        delta=float(delta),
        rho=None if others else float(rho),
        zcdp_epsilon=zcdp,
        left_epsilon=float(_exact([budget.epsilon]) - epsilon) if basic else None,
        left_delta=float(_exact([budget.delta]) - delta) if basic else None,
        left_rho=None if budget.rho is None else float(_exact([budget.rho]) - rho),
    )
