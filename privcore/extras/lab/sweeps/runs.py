"""The runs of a sweep's plan, each with its own seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from privcore.extras.lab.sweeps.settings import Choice
from privcore.measures.references import NonPrivate


@dataclass(frozen=True)
class Setting:
    """The settings that all replicates of a run share.

    data: index of the data set in the plan. rows: number of rows, None for all. references: indices
    of the reference runs in the plan; a run that is not private has none.
    """

    data: int
    rows: int | None
    choice: Choice
    references: tuple[int, ...]


@dataclass(frozen=True)
class Reference:
    """A run without noise with which other runs are compared.

    number: index in the plan. data: index of the data set in the plan.
    """

    number: int
    kind: NonPrivate
    data: int
    rows: int | None
    algorithm: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One run of a plan.

    seed: seed of the simulated noise, below 2^53; None if the algorithm is not private.
    """

    number: int
    replicate: int
    seed: int | None
    setting: Setting


def settings_and_references(
    rows: Sequence[Sequence[int | None]],
    choices: Sequence[Choice],
    kinds: Sequence[NonPrivate],
) -> tuple[tuple[Setting, ...], tuple[Reference, ...]]:
    """The settings for every choice, data set and number of rows, and their reference runs.

    rows: numbers of rows for each data set, in the plan's order. kinds: kinds of reference runs. A
    reference run that several settings share is listed once.
    """
    numbers_of: dict[str, int] = {}
    kept: list[Reference] = []
    settings = []
    for position, numbers in enumerate(rows):
        for n in numbers:
            for choice in choices:
                wanted = []
                for kind in kinds:
                    if kind in choice.references:
                        run = choice.references[kind]
                        text = json.dumps([kind, position, n, *run], sort_keys=True)
                        number = numbers_of.setdefault(text, len(kept))
                        if number == len(kept):
                            kept.append(Reference(number, kind, position, n, *run))
                        wanted.append(number)
                settings.append(Setting(position, n, choice, tuple(wanted)))
    return tuple(settings), tuple(kept)


def replicated(
    settings: Sequence[Setting], data: Sequence[Mapping[str, Any]], seeds: int, master_seed: int
) -> tuple[Cell, ...]:
    """All runs of the settings, numbered: `seeds` runs per private algorithm, otherwise one run.

    data: the description of each data set, in the plan's order.
    """
    cells: list[Cell] = []
    for setting in settings:
        choice = setting.choice
        identity = {
            "master_seed": master_seed,
            "data": data[setting.data],
            "rows": setting.rows,
            "algorithm": choice.algorithm,
            "calibration": choice.calibration,
            "parameters": choice.parameters,
        }
        text = json.dumps(identity, sort_keys=True)
        for replicate in range(seeds if choice.private else 1):
            seed = seed_of(text, replicate) if choice.private else None
            cells.append(Cell(len(cells), replicate, seed, setting))
    return tuple(cells)


def seed_of(text: str, replicate: int) -> int:
    """Derive a seed from the description of a run and the number of the replicate.

    The seed depends neither on the rest of the plan nor on the process. It is below 2^53, so that
    every file format stores it exactly.
    """
    digest = hashlib.sha256(f"{replicate} {text}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11
