"""Budgets, totals and charges as rows of the ledger's tables.

All take the connection of an open transaction.  Numbers are kept as text, which `repr` makes exact.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privcore.accounting.ledger_store import damaged
from privcore.accounting.ledger_sums import Budget, Charge, Unit
from privcore.errors import LedgerError
from privcore.text import short


def add_total(
    connection: sqlite3.Connection,
    identity: int,
    time: str,
    unit: Unit,
    epsilon: float,
    delta: float,
    rho: float | None,
) -> None:
    """Another total of a budget, after those that it had."""
    connection.execute(
        "INSERT INTO totals (dataset, time, unit, epsilon, delta, rho) VALUES (?, ?, ?, ?, ?, ?)",
        (identity, time, unit, repr(float(epsilon)), repr(float(delta)), _text(rho)),
    )


def add_charge(
    connection: sqlite3.Connection,
    identity: int,
    time: str,
    algorithm: str,
    parameters: Mapping[str, Any],
    epsilon: float,
    delta: float,
    rho: float | None,
    certificate: str,
) -> None:
    """A charge of a budget, in the state "charged"."""
    connection.execute(
        "INSERT INTO charges (dataset, time, algorithm, parameters, epsilon, delta, rho, "
        "certificate, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'charged')",
        (
            identity, time, algorithm, json.dumps(dict(parameters)), repr(float(epsilon)),
            repr(float(delta)), _text(rho), certificate,
        ),
    )  # fmt: skip


def all_totals(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Every total that any budget ever had, in their order."""
    return [
        dict(zip(("budget", "time", "unit", "epsilon", "delta", "rho"), row, strict=True))
        for row in connection.execute(
            "SELECT b.name, t.time, t.unit, t.epsilon, t.delta, t.rho FROM totals t "
            "JOIN budgets b ON b.id = t.dataset ORDER BY t.sequence"
        )
    ]


def identity_of(connection: sqlite3.Connection, name: str) -> int:
    """The number of a budget; raises LedgerError if there is none of that name."""
    found = connection.execute("SELECT id FROM budgets WHERE name = ?", (name,)).fetchone()
    if found is None:
        raise LedgerError(f"There is no budget {short(name)!r} in the ledger; set its total first.")
    return int(found[0])


def budget_of(connection: sqlite3.Connection, name: str) -> Budget:
    """A budget with its latest total; raises LedgerError as `identity_of`, or if it is damaged."""
    identity = identity_of(connection, name)
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


def charges_of(connection: sqlite3.Connection, name: str | None) -> list[Charge]:
    """The charges of a budget, or of all, in their order; raises LedgerError if damaged."""
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


def owner_of(connection: sqlite3.Connection, fingerprint: str) -> str | None:
    """The budget that data were charged to, None if they never were."""
    found = connection.execute(
        "SELECT b.name FROM fingerprints f JOIN budgets b ON b.id = f.dataset "
        "WHERE f.fingerprint = ?",
        (fingerprint,),
    ).fetchone()
    return None if found is None else str(found[0])


def _text(number: float | None) -> str | None:
    return None if number is None else repr(float(number))
