"""Calibration of stated probabilities: how often statements of each probability are true."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from privcore.version import __version__

_PATH = Path(__file__).parents[1] / "results" / "edge_probabilities.json"
# Ends of the ranges of stated probabilities.
ENDS = (0.0, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0)


class Range(NamedTuple):
    """Statements with similar stated probabilities.

    stated: mean stated probability. true: share of the statements that are true. many: number of
    statements.
    """

    stated: float
    true: float
    many: int


class Reliability(NamedTuple):
    """How well stated probabilities are calibrated.

    ranges: the non-empty ranges of stated probability, ascending. error: the expected calibration
    error, which is the mean distance between stated probability and share of true statements over
    the ranges, weighted by their numbers of statements (Naeini, Cooper & Hauskrecht 2015). brier:
    the mean squared difference between stated probability and outcome (Brier 1950).
    """

    ranges: tuple[Range, ...]
    error: float
    brier: float


def reliability(stated: Sequence[float], true: Sequence[bool]) -> Reliability:
    """Measure the calibration of one or more statements.

    stated: the probability of each statement. true: whether each statement is true.

    >>> found = reliability([0.75, 0.75, 0.75, 0.75], [True, True, True, False])
    >>> (found.ranges, found.error, found.brier)
    ((Range(stated=0.75, true=0.75, many=4),), 0.0, 0.1875)
    """
    probabilities, came = np.asarray(stated, dtype=float), np.asarray(true, dtype=float)
    place = np.clip(np.searchsorted(ENDS, probabilities, side="right") - 1, 0, len(ENDS) - 2)
    ranges = []
    for k in range(len(ENDS) - 1):
        inside = place == k
        if inside.any():
            means = float(probabilities[inside].mean()), float(came[inside].mean())
            ranges.append(Range(*means, int(inside.sum())))
    error = sum(r.many * abs(r.stated - r.true) for r in ranges) / len(probabilities)
    return Reliability(tuple(ranges), error, float(((probabilities - came) ** 2).mean()))


class Shipped(NamedTuple):
    """Calibration of edge probabilities, measured beforehand on random networks.

    edges, arrows: calibration over all ε, for edges and for arrows. by_epsilon: calibration at each
    ε, for edges. about: description of the runs. command: command that reproduces the runs.
    """

    edges: Reliability
    arrows: Reliability
    by_epsilon: dict[float, Reliability]
    about: str
    command: str
    version: str


def reliability_json(
    edges: Reliability, arrows: Reliability, by_epsilon: dict[float, Reliability], **about: str
) -> str:
    """Return the JSON that `shipped_reliability` reads; about: other fields of `Shipped`."""
    held = {
        **about,
        "version": __version__,
        "edges": edges,
        "arrows": arrows,
        "by_epsilon": list(by_epsilon.items()),
    }
    return json.dumps(held, indent=1)


@cache
def shipped_reliability() -> Shipped:
    """Read the measured calibration that is shipped with the product."""
    held = json.loads(_PATH.read_text(encoding="utf-8"))
    edges, arrows = _read(held.pop("edges")), _read(held.pop("arrows"))
    by_epsilon = {epsilon: _read(part) for epsilon, part in held.pop("by_epsilon")}
    return Shipped(edges, arrows, by_epsilon, **held)


def _read(part: list[Any]) -> Reliability:
    ranges, error, brier = part
    return Reliability(tuple(Range(*r) for r in ranges), error, brier)
