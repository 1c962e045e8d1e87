"""The ledger as text, for owners' own records."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from privcore.text import spreadsheet_cell

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
    """One line for each charge, parameters as JSON."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for charge in charges:
        texts = {name: "" if charge[name] is None else str(charge[name]) for name in _COLUMNS}
        texts["parameters"] = json.dumps(charge["parameters"], ensure_ascii=False)
        writer.writerow([spreadsheet_cell(texts[name]) for name in _COLUMNS])
    return out.getvalue()


def as_json(
    totals: Sequence[Mapping[str, Any]],
    charges: Sequence[Mapping[str, Any]],
    spending: Mapping[str, Mapping[str, Any]],
) -> str:
    """Every total that was ever set, every charge, and what each budget has spent."""
    described = {"totals": totals, "charges": charges, "spending": spending}
    return json.dumps(described, indent=1, ensure_ascii=False)
