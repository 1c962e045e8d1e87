"""The ledger: a file that records what each data set has spent, so that no release is forgotten.

A *budget* is a name and a total (ε, δ) set by the data owner.  Every release is charged before it
is computed, in the transaction that checks the total.  So neither a crash nor two concurrent
processes can lead to a release that was not charged.  A charge is never refunded.  The file is a
chain of signed entries, and only these entries count.

Releases are chosen after seeing earlier releases.  Each release has its own (ε, δ), fixed before
the run.  The totals are privacy filters, which hold for such adaptive choices: sums of ε and δ
(Rogers, Roth, Ullman & Vadhan 2016, Section 3), or the sum of ρ, converted to ε once (Feldman &
Zrnic 2021, Theorem 3.1 at every order; Whitehouse, Ramdas, Rogers & Wu 2023).
"""

from __future__ import annotations

import hmac
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from privcore.errors import BudgetError, LedgerError
from privcore.releases.ledger.chain import LEDGER_FILE, certificates_folder
from privcore.releases.ledger.entries import (
    Books,
    Budget,
    Charge,
    Spending,
    TotalUnit,
    check_amounts,
    check_charge,
    check_record,
    check_total,
    checked_name,
    checked_total,
    spending_of,
)
from privcore.releases.ledger.store import transaction
from privcore.text import csv_text, short

VARIABLE = "CAUSALVEIL_DATA_DIR"


def data_directory() -> Path:
    """The directory in CAUSALVEIL_DATA_DIR, or the platform's directory for a user's data.

    The platform's directory is %LOCALAPPDATA% on Windows, ~/Library/Application Support on macOS,
    and elsewhere $XDG_DATA_HOME, or ~/.local/share (XDG Base Directory Specification).

    Raises LedgerError if CAUSALVEIL_DATA_DIR starts with ~NAME and there is no user NAME.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError:
            raise LedgerError(
                "no-home-directory", variable=VARIABLE, chosen=short(chosen, 200)
            ) from None
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "CausalVeil"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "CausalVeil"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "causalveil"


_COLUMNS = (
    "sequence",
    "time",
    "budget",
    "algorithm",
    "epsilon",
    "delta",
    "rho",
    "state",
    "certificate",
    "parameters",
)


def as_csv(charges: Sequence[Mapping[str, Any]]) -> str:
    """The charges as CSV, one per line, with parameters as JSON."""
    rows = []
    for charge in charges:
        parameters = json.dumps(charge["parameters"], ensure_ascii=False)
        rows.append([{**charge, "parameters": parameters}[name] for name in _COLUMNS])
    return csv_text([_COLUMNS, *rows])


def as_json(
    totals: Sequence[Mapping[str, Any]],
    charges: Sequence[Mapping[str, Any]],
    spending: Mapping[str, Mapping[str, Any]],
) -> str:
    """All totals ever set, all charges, and the spending of each budget, as JSON."""
    described = {"totals": totals, "charges": charges, "spending": spending}
    return json.dumps(described, indent=1, ensure_ascii=False)


_WAIT = 10.0


class Ledger:
    """A ledger in a file; every call opens the file anew, so threads may share a ledger.

    path: the path of the file; None for a file in `data_directory()`.  timeout: seconds that a call
    waits for other processes.  clock: returns the time to record.

    Raises LedgerError for a path that cannot name a file; every method raises LedgerError if the
    file cannot be used, or is not in the state written last (see `store`).
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        timeout: float = _WAIT,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        # Absolute, so that the database treats ":memory:" as an ordinary file.
        self.path = (data_directory() / LEDGER_FILE if path is None else Path(path)).absolute()
        if "\0" in str(self.path) or not self.path.name:
            raise LedgerError("no-name-of-a-file", path=short(path))
        self._timeout = timeout
        self._clock = clock

    @property
    def certificates(self) -> Path:
        """The folder with the certificates of this ledger."""
        return certificates_folder(self.path)

    def set_total(
        self, name: str, epsilon: float, delta: float, unit: TotalUnit = "basic"
    ) -> Budget:
        """Set the total of a new or existing budget; its spending stays as it is.

        Earlier totals are kept, with their times.  Raises ParameterError for an invalid name or
        numbers out of range, and BudgetError for a total below the spending, or for a total in zCDP
        if a charge has no ρ.
        """
        name = checked_name(name)
        rho = checked_total(epsilon, delta, unit)
        with transaction(self.path, self._timeout) as chain:
            chain.add(
                {
                    "kind": "total",
                    "time": self._now(),
                    "budget": name,
                    "unit": unit,
                    "epsilon": float(epsilon),
                    "delta": float(delta),
                    "rho": rho,
                }
            )
            budget = chain.books.budget(name)
            check_total(budget, chain.books.charges_of(name))
        return budget

    def budgets(self) -> list[Budget]:
        """All budgets, in order of creation."""
        return list(self._books().budgets.values())

    def budget(self, name: str) -> Budget:
        """The budget with this name; raises LedgerError if there is none."""
        return self._books().budget(name)

    def fingerprint(self, content: Iterable[bytes]) -> str:
        """The fingerprint of data passed in pieces: HMAC-SHA256 with the ledger's random key."""
        digest = hmac.new(self._books().salt, digestmod="sha256")
        for piece in content:
            digest.update(piece)
        return digest.hexdigest()

    def budget_of(self, fingerprints: Sequence[str]) -> str | None:
        """The budget to which the data were charged before; None if they were never charged."""
        owners = map(self._books().owners.get, fingerprints)
        return next((owner for owner in owners if owner is not None), None)

    def charges(self, name: str | None = None) -> list[Charge]:
        """The charges of one budget, or of all budgets, in order."""
        books = self._books()
        return books.charges if name is None else books.charges_of(books.budget(name).name)

    def spending(self, name: str) -> Spending:
        """The spending of a budget, and the remainder of its total."""
        books = self._books()
        return spending_of(books.budget(name), books.charges_of(name))

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
        """Charge a release before it is computed.

        Returns the charge, and the spending of the budget including this charge.  One transaction
        checks the total, binds the data to the budget and writes the charge.
        fingerprints: the fingerprints of the data set and, if there is one, of its file.

        Raises BudgetError, and changes nothing, if the total would be exceeded, or if the data
        belong to another budget.  Raises ParameterError for amounts or parameters that cannot be
        stored.
        """
        check_amounts(epsilon, delta, rho)
        check_record(algorithm, parameters, certificate, fingerprints)
        with transaction(self.path, self._timeout) as chain:
            books = chain.books
            budget = books.budget(name)
            for owner in filter(None, map(books.owners.get, fingerprints)):
                if owner != name:
                    raise BudgetError("charged-to-another", name=short(owner))
            new = [mark for mark in dict.fromkeys(fingerprints) if mark not in books.owners]
            if new:
                chain.add({"kind": "data", "budget": name, "fingerprints": new})
            chain.add(
                {
                    "kind": "charge",
                    "sequence": len(books.charges) + 1,
                    "time": self._now(),
                    "budget": name,
                    "algorithm": algorithm,
                    "parameters": dict(parameters),
                    "epsilon": float(epsilon),
                    "delta": float(delta),
                    "rho": None if rho is None else float(rho),
                    "certificate": certificate,
                }
            )
            charges = books.charges_of(name)
            check_charge(budget, charges)
            checkpoint("charging")
        return charges[-1], spending_of(budget, charges)

    def finish(self, sequence: int, state: Literal["released", "failed"]) -> None:
        """Record how a charged release ended; the charge stays either way."""
        with transaction(self.path, self._timeout) as chain:
            if any(c.sequence == sequence and c.state == "charged" for c in chain.books.charges):
                chain.add({"kind": "state", "sequence": sequence, "state": state})

    def export(self, form: Literal["csv", "json"]) -> str:
        """Export all charges as CSV, or budgets, totals and charges as JSON."""
        books = self._books()
        charges = [asdict(charge) for charge in books.charges]
        if form == "csv":
            return as_csv(charges)
        spent = {
            name: spending_of(budget, books.charges_of(name)).as_dict()
            for name, budget in books.budgets.items()
        }
        return as_json(books.totals, charges, spent)

    def _books(self) -> Books:
        with transaction(self.path, self._timeout, reading=True) as chain:
            return chain.books

    def _now(self) -> str:
        return self._clock().astimezone(UTC).isoformat(timespec="seconds")
