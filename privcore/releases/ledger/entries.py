"""Entries of the ledger, and the books that follow from them.

An entry is a JSON object that records one event.  Its `kind` is the name of a method of `Books`,
and its other fields are that method's arguments: "opened" comes first and only once; then
"total" sets or changes the total of a budget, "data" binds data to a budget, "charge" charges a
release, and "state" records how a release ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from privcore.errors import LedgerError
from privcore.releases.ledger.checks import check_amounts, checked_name
from privcore.releases.ledger.sums import Budget, Charge, State, Unit
from privcore.text import short

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
            raise LedgerError(
                f"There is no budget {short(name)!r} in the ledger; set its total first."
            )
        return budget

    def charges_of(self, name: str) -> list[Charge]:
        """The charges of a budget, in order."""
        return [charge for charge in self.charges if charge.budget == name]

    def _opened(self, salt: str) -> None:
        self.salt = bytes.fromhex(salt)
        _require(len(self.salt) >= 32)

    def _total(
        self, time: str, budget: str, unit: Unit, epsilon: float, delta: float, rho: float | None
    ) -> None:
        _require_texts(time, checked_name(budget))
        _require(unit in get_args(Unit) and (rho is None) == (unit == "basic"))
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
