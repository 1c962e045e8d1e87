"""The command line and the Python script that repeat a run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from privcore.algorithms import Discovery, get_algorithm
from privcore.data import Dataset, example_parameters
from privcore.intake.samples import Sample

_ALWAYS = ("nodes", "density", "graph_seed")


def _changed(result: Discovery) -> dict[str, Any]:
    """Parameters that differ from their defaults, and in any case epsilon and delta."""
    return {
        p.name: result.parameters[p.name]
        for p in get_algorithm(result.algorithm).parameters
        if result.parameters[p.name] != p.default or p.name in ("epsilon", "delta")
    }


def _example(dataset: Dataset) -> tuple[str, dict[str, Any], int | None]:
    """The kind of the example in a recipe, its parameters, and its number of intervals.

    Parameters with default values are left out, except nodes, density and graph seed, which
    identify an example.
    """
    recipe = dict(dataset.recipe or {})
    kind = recipe["example"]
    named = {
        p.name: recipe[p.name]
        for p in example_parameters(kind)
        if recipe[p.name] != p.default or p.name in _ALWAYS
    }
    return kind, named, recipe.get("intervals")


def command_line(
    result: Discovery,
    dataset: Dataset,
    *,
    network: bool,
    data_seed: int,
    seed: int,
    output: Sequence[str] = ("--json",),
) -> str:
    """The shell command that repeats a run; an uploaded file appears under its name.

    output: the options for the output of the command.
    """
    words = ["python", "-m", "privcore", "discover"]
    sampled = ["--rows", str(dataset.n), "--data-seed", str(data_seed)]
    if network:
        words += ["--network", dataset.name, *sampled]
        words += ["--hide", ",".join(dataset.hidden)] if dataset.hidden else []
    elif dataset.recipe is not None:
        kind, named, intervals = _example(dataset)
        words += ["--example", kind]
        for name, value in named.items():
            words += [f"--{name.replace('_', '-')}", str(value)]
        words += [] if intervals is None else ["--intervals", str(intervals)]
        words += sampled
    else:
        words += ["--csv", dataset.name, *dataset.reading_options.options()]
        words += ["--intervals", "none"] if _uncut(dataset) else []
        if dataset.unit.column:
            words += ["--unit", dataset.unit.column, "--rows-per-unit", str(dataset.unit.rows)]
    words += ["--algorithm", result.algorithm]
    for name, value in _changed(result).items():
        words += ["--set", f"{name.replace('_', '-')}={'auto' if value is None else value}"]
    return shlex.join([*words, "--seed", str(seed), *output])


def page_command(
    result: Discovery,
    dataset: Dataset,
    *,
    network: bool,
    data_seed: int,
    seed: int,
    sample: Sample | None = None,
    explored: str = "",
) -> str:
    """The shell command that writes the same page of a run again.

    sample: the sample used as the data set.  explored: the confirmation that the user typed for
    their own table.
    """
    output = ["--html", "page.html", *(["--explored", explored] if explored else [])]
    line = command_line(
        result, dataset, network=network, data_seed=data_seed, seed=seed, output=output
    )
    line = line.replace("python -m privcore", "causalveil", 1)
    if sample is None:
        return line
    return line.replace(f"--csv {shlex.quote(dataset.name)}", f"--sample {sample.name}", 1)


def _uncut(dataset: Dataset) -> bool:
    return any(not column.is_categorical for column in dataset.columns)


def python_code(
    result: Discovery, dataset: Dataset, *, network: bool, data_seed: int, seed: int
) -> str:
    """A Python script that repeats the run and prints its edges."""
    if network:
        load = (
            "from privcore.data import load_network\n\n"
            f"dataset = load_network({dataset.name!r}).sample({dataset.n}, seed={data_seed})\n"
        )
        if dataset.hidden:
            load += f"dataset = dataset.hiding({list(dataset.hidden)!r})\n"
    elif dataset.recipe is not None:
        load = _example_code(dataset, data_seed)
    else:
        load = _file_code(dataset)
    return (
        f"from privcore.algorithms import discover\n{load}"
        f"result = discover(dataset, {result.algorithm!r}, {_changed(result)!r}, seed={seed})\n"
        'print("\\n".join(result.graph.lines()))\n'
        "print(result.guarantee)\n"
    )


def _example_code(dataset: Dataset, data_seed: int) -> str:
    kind, named, intervals = _example(dataset)
    arguments = ", ".join([repr(kind), *(f"{name}={value!r}" for name, value in named.items())])
    imported = "StructuralExample" if intervals is None else "StructuralExample, intervals"
    cut = "" if intervals is None else f"dataset = intervals(dataset, {intervals})\n"
    return (
        f"from privcore.data import {imported}\n\n"
        f"example = StructuralExample({arguments})\n"
        f"dataset = example.sample({dataset.n}, seed={data_seed})\n{cut}"
    )


def _file_code(dataset: Dataset) -> str:
    schema = "proposed_schema(raw)"
    first = ""
    if _uncut(dataset):
        first = "from dataclasses import replace\n"
        schema = "[replace(c, bins=None, cut_points=()) for c in proposed_schema(raw)]"
    unit = dataset.unit
    options = bound = imported = ""
    if dataset.reading_options.set_options():
        imported = "from privcore.intake.reading import ReadingOptions\n"
        arguments = ", ".join(
            f"{name}={value!r}" for name, value in dataset.reading_options.set_options().items()
        )
        options = f", ReadingOptions({arguments})"
    if unit.column:
        imported += "from privcore.intake.units import bounded\n"
        bound = f"raw = bounded(raw, {unit.column!r}, {unit.rows}).table\n"
    return (
        f"{first}from pathlib import Path\n\n"
        "from privcore.intake import build_dataset, read_table\n"
        f"{imported}from privcore.intake.triage import proposed_schema\n\n"
        f"path = Path({dataset.name!r})\n"
        f"raw = read_table(path.read_bytes(), path.name{options})\n{bound}"
        f"dataset = build_dataset(raw, {schema}, name=path.name)\n"
    )
