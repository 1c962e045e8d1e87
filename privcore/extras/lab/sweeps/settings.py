"""What a sweep runs: its settings, and one run of each.

The settings of each algorithm in a sweep, without parameters that the algorithm does not use.

The runs of a sweep's plan, each with its own seed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from privcore.algorithms import ALGORITHMS, Algorithm, get_algorithm
from privcore.errors import ParameterError
from privcore.measures.references import NonPrivate, yardstick_settings
from privcore.parameter import Parameter
from privcore.text import short


@dataclass(frozen=True)
class Choice:
    """An algorithm with its parameters, for all replicates, numbers of rows and data sets.

    calibration: "none" if the algorithm is not private.
    parameters: values that differ from their defaults. shown: the effective values of epsilon,
        delta and the swept parameters, None for a parameter that the algorithm lacks or does not
        use. references: runs without noise for comparison, by kind, as (algorithm, settings); empty
        if the algorithm is not private.
    problem: why the parameters are refused, before any data are used; None if they are accepted.
    """

    algorithm: str
    private: bool
    calibration: str
    parameters: Mapping[str, Any]
    shown: Mapping[str, Any]
    references: Mapping[NonPrivate, tuple[str, Mapping[str, Any]]]
    problem: str | None = None


def choices(
    algorithm: Algorithm,
    calibration: str,
    fixed: Mapping[str, Any],
    grids: Mapping[str, Sequence[Any]],
    columns: Sequence[str],
) -> Iterator[Choice]:
    """Yield each distinct combination of the grids' values for one algorithm, in the grids' order.

    fixed: values of parameters that are not in a grid. columns: parameters that the rows contain.
    """
    known = {parameter.name for parameter in algorithm.parameters}
    stated = {name: value for name, value in fixed.items() if name in known}
    if "calibration" in known:
        stated["calibration"] = calibration
    axes = {name: values for name, values in grids.items() if name in known}
    seen = set()
    for values in product(*axes.values()):
        choice = _choice(algorithm, stated | dict(zip(axes, values, strict=True)), columns)
        key = (choice.problem, *sorted((name, repr(v)) for name, v in choice.parameters.items()))
        if key not in seen:
            seen.add(key)
            yield choice


def _choice(algorithm: Algorithm, stated: Mapping[str, Any], columns: Sequence[str]) -> Choice:
    calibration = stated.get("calibration", "none")
    try:
        values = effective(algorithm.parameters, stated)
    except ParameterError as error:
        shown = {name: stated.get(name) for name in columns}
        return Choice(algorithm.name, algorithm.private, calibration, stated, shown, {}, str(error))
    declared = {parameter.name: parameter for parameter in algorithm.parameters}
    parameters = {name: v for name, v in values.items() if v != declared[name].default}
    references: dict[NonPrivate, tuple[str, Mapping[str, Any]]] = {}
    if algorithm.private:
        references["non_private"] = "pc", yardstick_settings(values)
        references["same"] = algorithm.name, parameters
    return Choice(
        algorithm.name,
        algorithm.private,
        calibration,
        parameters,
        {
            name: _shown(values[name])
            if name in declared and declared[name].matters(values)
            else None
            for name in columns
        },
        references,
    )


def _shown(value: Any) -> Any:
    return "auto" if value is None else value


def effective(parameters: Sequence[Parameter], stated: Mapping[str, Any]) -> dict[str, Any]:
    """Check and complete the values; parameters without effect are reset to their defaults.

    Returns the values of all parameters by name. Raises ParameterError for a bad value.
    """
    values = {p.name: p.parse(stated.get(p.name, p.default)) for p in parameters}
    # Resetting one parameter may make another ineffective, so repeat until nothing changes.
    changed = True
    while changed:
        idle = [p for p in parameters if values[p.name] != p.default and not p.matters(values)]
        changed = bool(idle)
        values |= {p.name: p.default for p in idle}
    return values


def check_values(
    algorithms: Sequence[Algorithm], grids: Mapping[str, Sequence[Any]]
) -> dict[str, tuple[Any, ...]]:
    """Parse the values of each parameter, and drop duplicates.

    A parameter that none of `algorithms` has, but another algorithm does, is left out.  Raises
    ParameterError for a parameter that does not exist, for a value that no algorithm with this
    parameter accepts, and for an empty grid.
    """
    everywhere = {p.name for a in ALGORITHMS.values() for p in a.parameters}
    parsed = {}
    for name, values in grids.items():
        having = [p for a in algorithms for p in a.parameters if p.name == name]
        if name not in everywhere:
            names = sorted({p.option for a in algorithms for p in a.parameters})
            raise ParameterError("no-algorithm-has", name=short(name), choices=", ".join(names))
        if not values:
            raise ParameterError("grid-is-empty", name=short(name))
        if having:
            parsed[name] = tuple(dict.fromkeys(_accepted(having, value) for value in values))
    return parsed


def own_values(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Parse the fixed values of one algorithm.

    Raises ParameterError for a parameter that the algorithm lacks, and for a bad value.
    """
    algorithm = get_algorithm(name)
    parsed = check_values([algorithm], {k: (v,) for k, v in values.items()})
    for lacking in values.keys() - parsed.keys():
        options = ", ".join(p.option for p in algorithm.parameters)
        raise ParameterError(
            "no-parameter-of-sweep", name=name, lacking=short(lacking), options=options
        )
    return {k: v for k, (v,) in parsed.items()}


def _accepted(having: Sequence[Parameter], value: Any) -> Any:
    refusal = None
    for parameter in having:
        try:
            return parameter.parse(value)
        except ParameterError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


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
