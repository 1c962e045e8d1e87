"""Precomputed accuracies that come with the product, and the command that made them."""

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
    """The shipped accuracies; rows_each: records per data set; seed: seed of the first data set."""

    rows: tuple[Accuracy, ...]
    rows_each: int
    repeats: int
    seed: int
    command: str
    version: str


def accuracy_json(rows: Sequence[Accuracy], **about: Any) -> str:
    """The JSON that `shipped_accuracy` reads; an infinite ε is written as null."""
    table = [
        {**asdict(row), "epsilon": row.epsilon if math.isfinite(row.epsilon) else None}
        for row in rows
    ]
    return json.dumps({**about, "version": __version__, "rows": table}, indent=1)


@cache
def shipped_accuracy() -> ShippedAccuracy:
    """The accuracies that are shipped with the product."""
    held = json.loads(_PATH.read_text(encoding="utf-8"))
    rows = [
        Accuracy(**{**row, "epsilon": math.inf if row["epsilon"] is None else row["epsilon"]})
        for row in held.pop("rows")
    ]
    return ShippedAccuracy(rows=tuple(rows), **held)
