"""What runs are measured against: the true graph, and the same search without noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from privcore.algorithms.search.model import Algorithm
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.knowledge import Knowledge


def true_graph(
    algorithm: Algorithm,
    names: Sequence[str],
    edges: Iterable[tuple[str, str]],
    knowledge: str = "",
) -> PDAG:
    """The true DAG as an algorithm can be asked to find it: its CPDAG, or itself.

    knowledge: what the run knows beforehand; where the true DAG obeys, its directions are in.
    """
    true = PDAG.from_names(names, edges)
    if algorithm.output == "dag":
        return true
    cpdag = cpdag_of_dag(names, true.directed)
    known = Knowledge.read(knowledge).on(names)
    return cpdag if known.violation(true) else known.completed(cpdag)


def non_private_settings(
    algorithm: Algorithm, parameters: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The non-private algorithm, and its settings, that a private run is compared with."""
    settings = algorithm.reference(parameters)
    if parameters.get("knowledge"):
        settings["knowledge"] = parameters["knowledge"]
    return algorithm.reference_algorithm, settings
