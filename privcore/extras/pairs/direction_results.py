"""Precomputed accuracies of private inferences of direction, which are shipped with the product."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from privcore.extras.pairs.directions import Accuracy
from privcore.version import __version__

_PATH = Path(__file__).parents[1] / "results" / "direction_accuracy.json"


@dataclass(frozen=True)
class ShippedAccuracy:
    """The shipped accuracies, and the settings with which they were computed.

    rows: one entry per accuracy. rows_each: number of records per data set. repeats: number of
    private runs per accuracy and data set. seed: seed of the first data set. command: the command
    that computes the accuracies.
    """

    rows: tuple[Accuracy, ...]
    rows_each: int
    repeats: int
    seed: int
    command: str
    version: str


def accuracy_json(rows: Sequence[Accuracy], **about: Any) -> str:
    """Return the JSON that `shipped_accuracy` reads; an infinite ε becomes null.

    rows: the accuracies. about: the other fields of `ShippedAccuracy`, except version.
    """
    table = [
        {**asdict(row), "epsilon": row.epsilon if math.isfinite(row.epsilon) else None}
        for row in rows
    ]
    return json.dumps({**about, "version": __version__, "rows": table}, indent=1)


@cache
def shipped_accuracy() -> ShippedAccuracy:
    """Read the accuracies that are shipped with the product."""
    held = json.loads(_PATH.read_text(encoding="utf-8"))
    rows = [
        Accuracy(**{**row, "epsilon": math.inf if row["epsilon"] is None else row["epsilon"]})
        for row in held.pop("rows")
    ]
    return ShippedAccuracy(rows=tuple(rows), **held)
