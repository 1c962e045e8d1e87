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
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from privcore.accounting import ledger_rows as rows
from privcore.accounting.data_directory import data_directory
from privcore.accounting.ledger_checks import check_amounts, checked_name, checked_total
from privcore.accounting.ledger_export import as_csv, as_json
from privcore.accounting.ledger_store import transaction
from privcore.accounting.ledger_sums import (
    Budget,
    Charge,
    Spending,
    Unit,
    check_charge,
    check_total,
    spending_of,
)
from privcore.errors import BudgetError
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
        name = checked_name(name)
        rho = checked_total(epsilon, delta, unit)
        with transaction(self.path, self._timeout) as connection:
            now = self._now()
            connection.execute(
                "INSERT INTO budgets (name, created) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
                (name, now),
            )
            identity = rows.identity_of(connection, name)
            rows.add_total(connection, identity, now, unit, epsilon, delta, rho)
            budget = rows.budget_of(connection, name)
            check_total(budget, rows.charges_of(connection, name))
        return budget

    def budgets(self) -> list[Budget]:
        """All budgets, in the order in which they were made."""
        with self._reading() as connection:
            names = connection.execute("SELECT name FROM budgets ORDER BY id").fetchall()
            return [rows.budget_of(connection, name) for (name,) in names]

    def budget(self, name: str) -> Budget:
        """One budget; raises LedgerError if there is none of that name."""
        with self._reading() as connection:
            return rows.budget_of(connection, name)

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
            owners = [rows.owner_of(connection, fingerprint) for fingerprint in fingerprints]
        return next((owner for owner in owners if owner is not None), None)

    def charges(self, name: str | None = None) -> list[Charge]:
        """The charges of a budget, or of all, in their order."""
        with self._reading() as connection:
            if name is not None:
                rows.identity_of(connection, name)
            return rows.charges_of(connection, name)

    def spending(self, name: str) -> Spending:
        """What a budget has spent, and what is left of it."""
        with self._reading() as connection:
            return spending_of(rows.budget_of(connection, name), rows.charges_of(connection, name))

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
        check_amounts(epsilon, delta, rho)
        with transaction(self.path, self._timeout) as connection:
            budget = rows.budget_of(connection, name)
            identity = rows.identity_of(connection, name)
            for fingerprint in fingerprints:
                owner = rows.owner_of(connection, fingerprint)
                if owner is not None and owner != name:
                    raise BudgetError(
                        f"These data were charged to the budget {short(owner)!r} before; charge "
                        "this release to it too."
                    )
                connection.execute(
                    "INSERT OR IGNORE INTO fingerprints VALUES (?, ?)", (fingerprint, identity)
                )
            rows.add_charge(
                connection, identity, self._now(), algorithm, parameters, epsilon, delta, rho,
                certificate,
            )  # fmt: skip
            charges = rows.charges_of(connection, name)
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
            charges = [asdict(charge) for charge in rows.charges_of(connection, None)]
            if form == "csv":
                return as_csv(charges)
            totals = rows.all_totals(connection)
            names = dict.fromkeys(total["budget"] for total in totals)
            spent = {
                name: spending_of(
                    rows.budget_of(connection, name),
                    rows.charges_of(connection, name),
                ).as_dict()
                for name in names
            }
        return as_json(totals, charges, spent)

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self.path, self._timeout, reading=True)

    def _now(self) -> str:
        return self._clock().astimezone(UTC).isoformat(timespec="seconds")
