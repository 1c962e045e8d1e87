"""What runs are measured against: the true graph, and the same search without noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from privcore.algorithms.search.model import Algorithm
from privcore.graphs import PDAG, cpdag_of_names


def true_graph(
    algorithm: Algorithm, names: Sequence[str], edges: Iterable[tuple[str, str]]
) -> PDAG:
    """The true DAG as an algorithm can be asked to find it: its CPDAG, or itself."""
    make = PDAG.from_names if algorithm.output == "dag" else cpdag_of_names
    return make(names, edges)


def non_private_settings(
    algorithm: Algorithm, parameters: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The non-private algorithm, and its settings, that a private run is compared with."""
    return algorithm.reference_algorithm, algorithm.reference(parameters)
