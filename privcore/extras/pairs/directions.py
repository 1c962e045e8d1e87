"""Directions of many pairs, and the shipped results.

Accuracy of private inferences of direction as a function of ε or λ, and over many data sets.

The results have the form of Figures 1 and 2 and Table 2 of Kusner, Sun, Sridharan & Weinberger
2016. The results are not private, since they compare private decisions with the decision on the
exact data or with the known direction.

Precomputed accuracies of private inferences of direction, which are shipped with the product.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from privcore.extras.pairs import (
    Pair,
    PairGenerator,
    Prepared,
    baseline,
    check_parameters,
    decide_many,
    prepare,
    split,
)
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.version import __version__

Tick = Callable[[float], None]


@dataclass(frozen=True)
class Share:
    """The shares of `runs` private runs with the correct decision and with no decision."""

    correct: float
    undecided: float
    runs: int

    @property
    def error(self) -> float:
        """Standard error of `correct`."""
        return float(np.sqrt(self.correct * (1 - self.correct) / self.runs))

    @property
    def half_width(self) -> float:
        """Half the width of the normal 95 % interval around `correct`."""
        return 1.96 * self.error


def shares(
    prepared: Prepared, parameters: Mapping[str, Any], direction: str, repeats: int, seed: int
) -> dict[str, Share]:
    """For each score, the shares of `repeats` independent releases with the decision `direction`.

    direction: "x->y" or "y->x". Each `Share` also contains the share of releases without a
    decision.
    """
    wanted = 1 if direction == "x->y" else -1
    return {
        score: Share(
            float(np.mean(decisions == wanted)), float(np.mean(decisions == 0)), decisions.size
        )
        for score, decisions in decide_many(prepared, parameters, repeats, seed).items()
    }


def wanted_direction(
    pair: Pair, prepared: Prepared, parameters: Mapping[str, Any]
) -> dict[str, str]:
    """For each score, the true direction or, if unknown, the decision of the exact scores."""
    return {
        score: pair.direction or ("x->y" if forward < backward else "y->x")
        for score, (forward, backward) in baseline(prepared, parameters).items()
    }


def against_epsilon(
    pair: Pair,
    parameters: Mapping[str, Any],
    epsilons: Sequence[float],
    repeats: int,
    seed: int,
    tick: Tick = lambda share: None,
) -> Iterator[tuple[float, dict[str, Share]]]:
    """Yield each ε with a `Share` by score (as in Figure 1); all use one split of the records."""
    values = check_parameters(parameters)
    prepared = prepare(pair, split(pair, values, SimulatedNoise(seed)), values)
    wanted = wanted_direction(pair, prepared, values)
    for number, epsilon in enumerate(epsilons):
        tick(number / len(epsilons))
        yield epsilon, _by_score(prepared, {**values, "epsilon": epsilon}, wanted, repeats, seed)


def against_penalty(
    pair: Pair,
    parameters: Mapping[str, Any],
    penalties: Sequence[float],
    repeats: int,
    seed: int,
    tick: Tick = lambda share: None,
) -> Iterator[tuple[float, dict[str, Share]]]:
    """Yield each λ with a `Share` by score (as in Figure 2); all use one split of the records."""
    values = check_parameters(parameters)
    drawn = split(pair, values, SimulatedNoise(seed))
    for number, penalty in enumerate(penalties):
        tick(number / len(penalties))
        here = {**values, "penalty": penalty}
        prepared = prepare(pair, drawn, here)
        wanted = wanted_direction(pair, prepared, here)
        yield penalty, _by_score(prepared, here, wanted, repeats, seed)


def _by_score(
    prepared: Prepared,
    values: Mapping[str, Any],
    wanted: Mapping[str, str],
    repeats: int,
    seed: int,
) -> dict[str, Share]:
    proportions: dict[str, Share] = {}
    for direction in sorted(set(wanted.values())):
        all_scores = shares(prepared, values, direction, repeats, seed)
        proportions |= {s: share for s, share in all_scores.items() if wanted[s] == direction}
    return proportions


@dataclass(frozen=True)
class Accuracy:
    """Mean over data sets of the share of runs with the correct decision.

    epsilon: ε of each run, infinite for the exact scores. error: standard error of the mean over
    the data sets. datasets: number of data sets.
    """

    generator: str
    noise_law: str
    protects: str
    score: str
    epsilon: float
    mean: float
    error: float
    datasets: int


def accuracy(
    generator: str,
    noise_law: str,
    *,
    rows: int,
    datasets: int,
    epsilons: Sequence[float],
    settings: Sequence[Mapping[str, Any]],
    repeats: int,
    seed: int = 1,
) -> list[Accuracy]:
    """Accuracy over generated data sets, half of them with y as the cause (as in Table 2).

    settings: sets of parameters, such as {"protects": "both", "score": "hsic"}. Returns, for each
    set, one `Accuracy` per score and ε, including ε = ∞ for the exact scores.
    """
    correct: dict[tuple[str, str, float], list[float]] = {}
    for number in range(datasets):
        direction = "x->y" if number % 2 == 0 else "y->x"
        made = PairGenerator(generator, {"noise_law": noise_law, "direction": direction})
        pair = made.sample(rows, seed + number)
        for setting in settings:
            values = check_parameters(setting)
            prepared = prepare(pair, split(pair, values, SimulatedNoise(seed + number)), values)
            for score, (forward, backward) in baseline(prepared, values).items():
                exact = float((forward < backward) == (direction == "x->y"))
                correct.setdefault((values["protects"], score, np.inf), []).append(exact)
            for epsilon in epsilons:
                here = shares(
                    prepared, {**values, "epsilon": epsilon}, direction, repeats, seed + number
                )
                for score, share in here.items():
                    key = values["protects"], score, epsilon
                    correct.setdefault(key, []).append(share.correct)
    return [
        Accuracy(
            generator,
            noise_law,
            protects,
            score,
            epsilon,
            float(np.mean(values)),
            float(np.std(values) / np.sqrt(len(values))),
            len(values),
        )
        for (protects, score, epsilon), values in correct.items()
    ]


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
