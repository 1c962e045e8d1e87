"""What each data set has spent, kept in a file so that no release is forgotten.

A *budget* is a name and a total (ε, δ) that the owner of the data sets.  Every release is charged
before it is computed, in the transaction that checks the total, so that neither a crash nor two
processes at once can release what is not paid for; a charge is never taken back.

Releases are chosen after seeing earlier ones.  Each has its own (ε, δ), fixed before it runs, and
the totals are filters, which hold for such choices: sums of ε and δ (Rogers, Roth, Ullman & Vadhan
2016, Section 3), or the sum of ρ, converted once (Feldman & Zrnic 2021, Theorem 3.1 at every order;
Whitehouse, Ramdas, Rogers & Wu 2023).
"""

from __future__ import annotations

import hmac
import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from privcore.accounting import composition
from privcore.accounting.data_directory import data_directory
from privcore.accounting.ledger_export import as_csv, as_json
from privcore.accounting.ledger_store import damaged, transaction
from privcore.accounting.ledger_sums import (
    Budget,
    Charge,
    Spending,
    Unit,
    check_charge,
    check_total,
    spending_of,
)
from privcore.errors import BudgetError, LedgerError, ParameterError
from privcore.text import short

FILE = "ledger.sqlite"
_WAIT = 10.0


class Ledger:
    """The ledger in a file; every call opens it anew, so it may be shared by threads.

    path: of the file; by default in `data_directory()`.  timeout: how many seconds a call waits for
    other processes.  clock: says what time it is, for the record only.

    Every method raises LedgerError if the file cannot be used; see `ledger_store`.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        timeout: float = _WAIT,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.path = data_directory() / FILE if path is None else Path(path)
        self._timeout = timeout
        self._clock = clock

    def set_total(self, name: str, epsilon: float, delta: float, unit: Unit = "basic") -> Budget:
        """Give a budget its first total, or another one; what was spent stays spent.

        Totals are kept, with the time.  Raises ParameterError for a blank name or numbers out of
        range, BudgetError for a total below what was spent, or in zCDP where a charge has no ρ.
        """
        name = _checked_name(name)
        rho = _checked_total(epsilon, delta, unit)
        with transaction(self.path, self._timeout) as connection:
            now = self._now()
            connection.execute(
                "INSERT INTO budgets (name, created) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
                (name, now),
            )
            identity = _identity(connection, name)
            connection.execute(
                "INSERT INTO totals (dataset, time, unit, epsilon, delta, rho) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (identity, now, unit, repr(float(epsilon)), repr(float(delta)), _text(rho)),
            )
            budget = _budget(connection, name)
            check_total(budget, _charges(connection, name))
        return budget

    def budgets(self) -> list[Budget]:
        """All budgets, in the order in which they were made."""
        with self._reading() as connection:
            names = connection.execute("SELECT name FROM budgets ORDER BY id").fetchall()
            return [_budget(connection, name) for (name,) in names]

    def budget(self, name: str) -> Budget:
        """One budget; raises LedgerError if there is none of that name."""
        with self._reading() as connection:
            return _budget(connection, name)

    def fingerprint(self, content: Iterable[bytes]) -> str:
        """HMAC-SHA256 of data, given in pieces, with a random key that stays in the file."""
        with self._reading() as connection:
            (salt,) = connection.execute("SELECT salt FROM secret").fetchone()
        # Outside the transaction, as large data take a while.
        digest = hmac.new(salt, digestmod="sha256")
        for piece in content:
            digest.update(piece)
        return digest.hexdigest()

    def budget_of(self, fingerprints: Sequence[str]) -> str | None:
        """The budget that data were charged to before, None if they never were."""
        with self._reading() as connection:
            owners = [_owner(connection, fingerprint) for fingerprint in fingerprints]
        return next((owner for owner in owners if owner is not None), None)

    def charges(self, name: str | None = None) -> list[Charge]:
        """The charges of a budget, or of all, in their order."""
        with self._reading() as connection:
            if name is not None:
                _identity(connection, name)
            return _charges(connection, name)

    def spending(self, name: str) -> Spending:
        """What a budget has spent, and what is left of it."""
        with self._reading() as connection:
            return spending_of(_budget(connection, name), _charges(connection, name))

    def reserve(
        self,
        name: str,
        fingerprints: Sequence[str],
        *,
        algorithm: str,
        parameters: Mapping[str, Any],
        epsilon: float,
        delta: float,
        rho: float | None = None,
        certificate: str = "",
        checkpoint: Callable[[str], None] = lambda step: None,
    ) -> tuple[Charge, Spending]:
        """Charge a release before it is computed; the charge, and the spending with it.

        In one transaction: the total is checked, the data are bound to the budget, the charge is
        written.  fingerprints: of the data set, and of the file that it came from if there is one.

        Raises BudgetError, and changes nothing, if the total would be exceeded, or the data belong
        to another budget.
        """
        _checked_charge(epsilon, delta, rho)
        with transaction(self.path, self._timeout) as connection:
            budget = _budget(connection, name)
            identity = _identity(connection, name)
            for fingerprint in fingerprints:
                owner = _owner(connection, fingerprint)
                if owner is not None and owner != name:
                    raise BudgetError(
                        f"These data were charged to the budget {short(owner)!r} before; charge "
                        "this release to it too."
                    )
                connection.execute(
                    "INSERT OR IGNORE INTO fingerprints VALUES (?, ?)", (fingerprint, identity)
                )
            connection.execute(
                "INSERT INTO charges (dataset, time, algorithm, parameters, epsilon, delta, rho, "
                "certificate, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'charged')",
                (
                    identity, self._now(), algorithm, json.dumps(dict(parameters)),
                    repr(float(epsilon)), repr(float(delta)), _text(rho), certificate,
                ),
            )  # fmt: skip
            charges = _charges(connection, name)
            check_charge(budget, charges)
            checkpoint("charging")
            return charges[-1], spending_of(budget, charges)

    def finish(self, sequence: int, state: Literal["released", "failed"]) -> None:
        """Say how a charged release ended; the charge stays either way."""
        with transaction(self.path, self._timeout) as connection:
            connection.execute(
                "UPDATE charges SET state = ? WHERE sequence = ? AND state = 'charged'",
                (state, sequence),
            )

    def export(self, form: Literal["csv", "json"]) -> str:
        """All charges as CSV, or budgets, totals and charges as JSON."""
        with self._reading() as connection:
            charges = [asdict(charge) for charge in _charges(connection, None)]
            if form == "csv":
                return as_csv(charges)
            totals = [
                dict(zip(("budget", "time", "unit", "epsilon", "delta", "rho"), row, strict=True))
                for row in connection.execute(
                    "SELECT b.name, t.time, t.unit, t.epsilon, t.delta, t.rho FROM totals t "
                    "JOIN budgets b ON b.id = t.dataset ORDER BY t.sequence"
                )
            ]
            names = dict.fromkeys(total["budget"] for total in totals)
            spent = {
                name: spending_of(_budget(connection, name), _charges(connection, name)).as_dict()
                for name in names
            }
        return as_json(totals, charges, spent)

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self.path, self._timeout, reading=True)

    def _now(self) -> str:
        return self._clock().astimezone(UTC).isoformat(timespec="seconds")


def _text(number: float | None) -> str | None:
    return None if number is None else repr(float(number))


def _checked_name(name: str) -> str:
    cleaned = short(name, 100)
    if not cleaned or cleaned != name:
        raise ParameterError(
            f"The budget's name is {short(name)!r}; it must have 1 to 100 printable characters, "
            "without spaces around it."
        )
    return name


def _checked_total(epsilon: float, delta: float, unit: Unit) -> float | None:
    """ρ of a total in zCDP; raises ParameterError for a total that cannot be kept."""
    if unit not in get_args(Unit):
        raise ParameterError(f"The unit is {short(unit)}; it must be basic or zcdp.")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError(f"The total epsilon is {epsilon}; it must be a positive number.")
    if not 0 <= delta < 1:
        raise ParameterError(f"The total delta is {delta}; it must be at least 0 and below 1.")
    if unit == "basic":
        return None
    rho = composition.rho_for(epsilon, delta)
    if not rho > 0:
        raise ParameterError(
            "A total in zCDP needs a delta above 0; raise it, or choose the unit basic."
        )
    return rho


def _checked_charge(epsilon: float, delta: float, rho: float | None) -> None:
    if not (math.isfinite(epsilon) and epsilon > 0 and 0 <= delta < 1):
        raise ParameterError(f"({epsilon}, {delta}) is no privacy guarantee that can be charged.")
    if rho is not None and not (math.isfinite(rho) and rho > 0):
        raise ParameterError(f"rho is {rho}; a charge must be a positive number.")


def _identity(connection: sqlite3.Connection, name: str) -> int:
    found = connection.execute("SELECT id FROM budgets WHERE name = ?", (name,)).fetchone()
    if found is None:
        raise LedgerError(f"There is no budget {short(name)!r} in the ledger; set its total first.")
    return int(found[0])


def _budget(connection: sqlite3.Connection, name: str) -> Budget:
    identity = _identity(connection, name)
    created = connection.execute("SELECT created FROM budgets WHERE id = ?", (identity,)).fetchone()
    unit, epsilon, delta, rho, changed = connection.execute(
        "SELECT unit, epsilon, delta, rho, time FROM totals WHERE dataset = ? "
        "ORDER BY sequence DESC LIMIT 1",
        (identity,),
    ).fetchone()
    try:
        return Budget(
            name, unit, float(epsilon), float(delta), None if rho is None else float(rho),
            created[0], changed,
        )  # fmt: skip
    except (ValueError, TypeError):
        raise damaged(_file(connection)) from None


def _charges(connection: sqlite3.Connection, name: str | None) -> list[Charge]:
    rows = connection.execute(
        "SELECT c.sequence, c.time, b.name, c.algorithm, c.parameters, c.epsilon, c.delta, c.rho, "
        "c.state, c.certificate FROM charges c JOIN budgets b ON b.id = c.dataset "
        "WHERE ? IS NULL OR b.name = ? ORDER BY c.sequence",
        (name, name),
    )
    try:
        return [
            Charge(
                sequence, time, budget, algorithm, json.loads(parameters), float(epsilon),
                float(delta), None if rho is None else float(rho), state, certificate,
            )
            for (
                sequence, time, budget, algorithm, parameters, epsilon, delta, rho, state,
                certificate,
            ) in rows
        ]  # fmt: skip
    except (ValueError, TypeError):
        raise damaged(_file(connection)) from None


def _file(connection: sqlite3.Connection) -> Path:
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])


def _owner(connection: sqlite3.Connection, fingerprint: str) -> str | None:
    found = connection.execute(
        "SELECT b.name FROM fingerprints f JOIN budgets b ON b.id = f.dataset "
        "WHERE f.fingerprint = ?",
        (fingerprint,),
    ).fetchone()
    return None if found is None else str(found[0])
