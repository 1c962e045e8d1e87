"""The command line and the Python that make a run again."""

from __future__ import annotations

import shlex
from typing import Any

from privcore.dataset import Dataset
from privcore.discovery import Discovery, get_algorithm


def _changed(result: Discovery) -> dict[str, Any]:
    """Parameters that differ from their defaults, and the budget in any case."""
    return {
        p.name: result.parameters[p.name]
        for p in get_algorithm(result.algorithm).parameters
        if result.parameters[p.name] != p.default or p.name in ("epsilon", "delta")
    }


def command_line(
    result: Discovery, dataset: Dataset, *, network: bool, data_seed: int, seed: int
) -> str:
    """For a shell; an uploaded file stands as its name."""
    words = ["python", "-m", "privcore", "discover"]
    if network:
        words += [
            "--network",
            dataset.name,
            "--rows",
            str(dataset.n),
            "--data-seed",
            str(data_seed),
        ]
    else:
        words += ["--csv", dataset.name]
    words += ["--algorithm", result.algorithm]
    for name, value in _changed(result).items():
        words += ["--set", f"{name.replace('_', '-')}={'auto' if value is None else value}"]
    return shlex.join([*words, "--seed", str(seed), "--json"])


def python_code(
    result: Discovery, dataset: Dataset, *, network: bool, data_seed: int, seed: int
) -> str:
    """A script that prints the edges of the same run."""
    if network:
        load = (
            "from privcore.dataset import load_network\n\n"
            f"dataset = load_network({dataset.name!r}).sample({dataset.n}, seed={data_seed})\n"
        )
    else:
        load = (
            "from pathlib import Path\n\n"
            "from privcore.dataset import build_dataset, infer_schema, read_table\n\n"
            f"path = Path({dataset.name!r})\n"
            "raw = read_table(path.read_bytes(), path.name)\n"
            "dataset = build_dataset(raw, infer_schema(raw), name=path.name)\n"
        )
    return (
        f"from privcore.discovery import discover\n{load}"
        f"result = discover(dataset, {result.algorithm!r}, {_changed(result)!r}, seed={seed})\n"
        "print(result.graph.named_directed(), result.graph.named_undirected())\n"
        "print(result.guarantee)\n"
    )
