"""What a ledger records: charges, their sums, and entries that are checked when they are read.

Budgets, charges, and sums of them in exact arithmetic.

Checks of the name, the total and the charges of a budget.

Entries of the ledger, and the books that follow from them.

An entry is a JSON object that records one event.  Its `kind` is the name of a method of `Books`,
and its other fields are that method's arguments: "opened" comes first and only once; then
"total" sets or changes the total of a budget, "data" binds data to a budget, "charge" charges a
release, and "state" records how a release ended.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, get_args

from privcore.errors import BudgetError, LedgerError, ParameterError
from privcore.privacy.accounting import composition
from privcore.text import short
from privcore.unit import REPLACED

TotalUnit = Literal["basic", "zcdp"]
State = Literal["charged", "released", "failed"]


@dataclass(frozen=True)
class Budget:
    """A budget: a name and its current total.

    unit: what is added up and limited by the total: ε and δ ("basic"), or ρ ("zcdp").
    rho: the total in zCDP; None for "basic".  created, changed: times in UTC at which the budget
    was created and its current total was set.
    """

    name: str
    unit: TotalUnit
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
                "spent-more",
                name=short(budget.name),
                symbol=symbol,
                exact=float(_exact(spent)),
                total=total,
            )


def check_charge(budget: Budget, charges: Sequence[Charge]) -> None:
    """Raises BudgetError if the last charge exceeds the total."""
    for symbol, total, spent in _kept(budget, charges):
        left = _exact([total]) - _exact(spent[:-1])
        if _exact(spent[-1:]) > left:
            raise BudgetError(
                "budget-not-cover-release",
                name=short(budget.name),
                symbol=symbol,
                spent=spent[-1],
                left=max(float(left), 0.0),
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
        raise BudgetError("cost-not-known", name=short(budget.name), unknown=short(unknown))
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


def checked_name(name: str) -> str:
    """Return a budget's name; raises ParameterError if it is blank, too long or unprintable."""
    cleaned = short(name, 100)
    if not cleaned or cleaned != name:
        raise ParameterError("budget-s-name-out-of-range", name=short(repr(name)))
    return name


def checked_total(epsilon: float, delta: float, unit: TotalUnit) -> float | None:
    """Check a total; returns ρ for a total in zCDP, and None otherwise.

    Raises ParameterError for an invalid total.
    """
    if unit not in get_args(TotalUnit):
        raise ParameterError("unit-out-of-range", unit=short(unit))
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError("total-epsilon-out-of-range", epsilon=epsilon)
    if not 0 <= delta < 1:
        raise ParameterError("total-delta-out-of-range", delta=delta)
    if unit == "basic":
        return None
    rho = composition.rho_for(epsilon, delta)
    if not rho > 0:
        raise ParameterError("zcdp-needs-delta")
    return rho


def check_amounts(epsilon: float, delta: float, rho: float | None) -> None:
    """Raises ParameterError unless these numbers can be the cost of a release."""
    if not (math.isfinite(epsilon) and epsilon > 0 and 0 <= delta < 1):
        raise ParameterError("charge-out-of-range", epsilon=epsilon, delta=delta)
    if rho is not None and not (math.isfinite(rho) and rho > 0):
        raise ParameterError("rho-out-of-range", rho=rho)


def check_record(
    algorithm: str, parameters: Mapping[str, Any], certificate: str, fingerprints: Sequence[str]
) -> None:
    """Raises ParameterError unless the ledger can store these fields of a charge exactly."""
    texts: list[object] = [algorithm, certificate, *fingerprints]
    try:
        json.dumps(dict(parameters), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        texts.append(None)
    if not all(isinstance(text, str) for text in texts):
        raise ParameterError("cannot-be-recorded", algorithm=short(algorithm))


Entry = Mapping[str, Any]


@dataclass
class Books:
    """The state of the ledger after its entries so far.

    salt: the key for the fingerprints.  budgets: the budgets by name, with their current totals.
    totals: every total that was set.  charges: all charges; number `sequence` is at index
    sequence − 1.  owners: the budget of each fingerprint.
    """

    salt: bytes = b""
    budgets: dict[str, Budget] = field(default_factory=dict)
    totals: list[dict[str, Any]] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    owners: dict[str, str] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        """Apply an entry; raises ValueError, KeyError or TypeError if it cannot come next."""
        fields = dict(entry)
        kind = fields.pop("kind")
        _require((kind == "opened") == (not self.salt))
        _KINDS[kind](self, **fields)

    def budget(self, name: str) -> Budget:
        """The budget with this name; raises LedgerError if there is none."""
        budget = self.budgets.get(name)
        if budget is None:
            raise LedgerError("no-such-budget", name=short(name))
        return budget

    def charges_of(self, name: str) -> list[Charge]:
        """The charges of a budget, in order."""
        return [charge for charge in self.charges if charge.budget == name]

    def _opened(self, salt: str) -> None:
        self.salt = bytes.fromhex(salt)
        _require(len(self.salt) >= 32)

    def _total(
        self,
        time: str,
        budget: str,
        unit: TotalUnit,
        epsilon: float,
        delta: float,
        rho: float | None,
    ) -> None:
        _require_texts(time, checked_name(budget))
        _require(unit in get_args(TotalUnit) and (rho is None) == (unit == "basic"))
        _check_numbers(epsilon, delta, rho)
        created = self.budgets[budget].created if budget in self.budgets else time
        self.budgets[budget] = Budget(budget, unit, epsilon, delta, rho, created, time)
        self.totals.append(
            {
                "budget": budget,
                "time": time,
                "unit": unit,
                "epsilon": repr(epsilon),
                "delta": repr(delta),
                "rho": None if rho is None else repr(rho),
            }
        )

    def _data(self, budget: str, fingerprints: Sequence[str]) -> None:
        _require(budget in self.budgets)
        _require_texts(*fingerprints)
        for fingerprint in fingerprints:
            _require(fingerprint not in self.owners)
            self.owners[fingerprint] = budget

    def _charge(
        self,
        sequence: int,
        time: str,
        budget: str,
        algorithm: str,
        parameters: Mapping[str, Any],
        epsilon: float,
        delta: float,
        rho: float | None,
        certificate: str,
    ) -> None:
        _require(sequence == len(self.charges) + 1 and budget in self.budgets)
        _require_texts(time, algorithm, certificate)
        _require(isinstance(parameters, dict))
        _check_numbers(epsilon, delta, rho)
        self.charges.append(
            Charge(
                sequence,
                time,
                budget,
                algorithm,
                parameters,
                epsilon,
                delta,
                rho,
                "charged",
                certificate,
            )
        )

    def _state(self, sequence: int, state: State) -> None:
        _require(state in ("released", "failed") and 1 <= sequence <= len(self.charges))
        charge = self.charges[sequence - 1]
        _require(charge.state == "charged")
        self.charges[sequence - 1] = replace(charge, state=state)


_KINDS: dict[str, Callable[..., None]] = {
    "opened": Books._opened,
    "total": Books._total,
    "data": Books._data,
    "charge": Books._charge,
    "state": Books._state,
}


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("the entry does not fit the entries before it")


def _require_texts(*values: Any) -> None:
    _require(all(isinstance(value, str) for value in values))


def _check_numbers(epsilon: Any, delta: Any, rho: Any) -> None:
    _require(type(epsilon) is type(delta) is float and (rho is None or type(rho) is float))
    check_amounts(epsilon, delta, rho)
