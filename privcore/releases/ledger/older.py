"""Ledgers of older forms, whose rows stood in tables of their own and were not chained."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

TABLES = ("secret", "budgets", "totals", "fingerprints", "charges")


def entries_of(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Their rows as entries.  Raises ValueError or TypeError for what is no number or text.

    Rows of an unknown budget have None for its name, which is no entry either.
    """
    (salt,) = connection.execute("SELECT salt FROM secret").fetchone()
    yield {"kind": "opened", "salt": salt.hex()}
    for time, budget, unit, epsilon, delta, rho in connection.execute(
        "SELECT t.time, b.name, t.unit, t.epsilon, t.delta, t.rho FROM totals t "
        "LEFT JOIN budgets b ON b.id = t.dataset ORDER BY t.sequence"
    ):
        yield {
            "kind": "total",
            "time": time,
            "budget": budget,
            "unit": unit,
            "epsilon": float(epsilon),
            "delta": float(delta),
            "rho": _number(rho),
        }
    for fingerprint, budget in connection.execute(
        "SELECT f.fingerprint, b.name FROM fingerprints f "
        "LEFT JOIN budgets b ON b.id = f.dataset ORDER BY f.rowid"
    ):
        yield {"kind": "data", "budget": budget, "fingerprints": [fingerprint]}
    charges = connection.execute(
        "SELECT c.sequence, c.time, b.name, c.algorithm, c.parameters, c.epsilon, c.delta, c.rho, "
        "c.certificate, c.state FROM charges c LEFT JOIN budgets b ON b.id = c.dataset "
        "ORDER BY c.sequence"
    )
    for (
        sequence,
        time,
        budget,
        algorithm,
        parameters,
        epsilon,
        delta,
        rho,
        certificate,
        state,
    ) in charges:
        yield {
            "kind": "charge",
            "sequence": sequence,
            "time": time,
            "budget": budget,
            "algorithm": algorithm,
            "parameters": json.loads(parameters),
            "epsilon": float(epsilon),
            "delta": float(delta),
            "rho": _number(rho),
            "certificate": certificate,
        }
        if state != "charged":
            yield {"kind": "state", "sequence": sequence, "state": state}


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)
