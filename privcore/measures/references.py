"""What runs are measured against: the truth, the usual algorithm, the same without noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from privcore.algorithms.search.model import Algorithm
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.knowledge import Knowledge

# By these names references stand in reports, rows and addresses.  non_private: PC or NOTEARS with a
# run's settings; same: the run's own algorithm without noise.
Reference = Literal["truth", "non_private", "same"]
REFERENCES: tuple[Reference, ...] = get_args(Reference)
# Those that are runs, the usual one first.
NonPrivate = Literal["non_private", "same"]
NON_PRIVATE: tuple[NonPrivate, ...] = get_args(NonPrivate)


def reference_names(algorithm: Algorithm) -> dict[Reference, str]:
    """What a reader calls the references of an algorithm's runs."""
    return {
        "truth": "truth",
        "non_private": f"non-private {algorithm.reference_algorithm.upper()}",
        "same": f"{algorithm.title} without noise",
    }


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
