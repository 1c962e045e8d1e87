"""The references for runs: the truth, PC, and two variants of the run itself without noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, get_args

from privcore.algorithms.search.model import Algorithm
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.knowledge import Knowledge
from privcore.graphs.latent import pag_of_dag

# Names of references in reports, rows and URLs.  non_private: PC, which is the same for all
# algorithms on a table; same: the run's own algorithm without noise; own_test: PC with the
# algorithm's own test and settings, or NOTEARS for algorithms that make it private.
Reference = Literal["truth", "non_private", "same", "own_test"]
REFERENCES: tuple[Reference, ...] = get_args(Reference)
# References that are runs, the usual algorithm first.
NonPrivate = Literal["non_private", "same", "own_test"]
NON_PRIVATE: tuple[NonPrivate, ...] = get_args(NonPrivate)

_ABOUT_DATA = ("knowledge", "hidden_causes")


def reference_names(algorithm: Algorithm) -> dict[Reference, str]:
    """The display names of the references for an algorithm's runs."""
    return {
        "truth": "truth",
        "non_private": "non-private PC",
        "same": f"{algorithm.title} without noise",
        "own_test": f"non-private {own_test_title(algorithm)}",
    }


def own_test_title(algorithm: Algorithm) -> str:
    """What the reference "own_test" runs, such as "PC with Priv-PC's test"."""
    if algorithm.reference_algorithm == "pc":
        return f"PC with {algorithm.title}'s test"
    return algorithm.reference_algorithm.upper()


def base_title(algorithm: Algorithm) -> str:
    """What a run is compared with, as a word: PC, or the algorithm itself if it is not private."""
    return "PC" if algorithm.private else algorithm.name.upper()


def true_graph(
    algorithm: Algorithm,
    names: Sequence[str],
    edges: Iterable[tuple[str, str]],
    knowledge: str = "",
    *,
    hidden_causes: bool = False,
) -> PDAG:
    """The best graph that an algorithm can find: the true DAG, its CPDAG, or a PAG.

    edges: (cause, effect). Columns that occur in edges but not in `names` are hidden; the true
    graph over the other columns is then a PAG, as it is for a run with `hidden_causes`. knowledge:
    the run's background knowledge; if the true DAG agrees with the knowledge, the directions that
    follow are included.
    """
    edges = tuple(edges)
    hidden = {name for edge in edges for name in edge} - set(names)
    if hidden or hidden_causes:
        return _true_pag(tuple(names), edges, tuple(sorted(hidden)), knowledge)
    true = PDAG.from_names(names, edges)
    if algorithm.output == "dag":
        return true
    cpdag = cpdag_of_dag(names, true.directed)
    known = Knowledge.read(knowledge).on(names)
    return cpdag if known.violation(true) else known.completed(cpdag)


@lru_cache(maxsize=64)
def _true_pag(
    names: tuple[str, ...],
    edges: tuple[tuple[str, str], ...],
    hidden: tuple[str, ...],
    knowledge: str,
) -> PDAG:
    everything = (*names, *hidden)
    place = {name: k for k, name in enumerate(everything)}
    arrows = [(place[a], place[b]) for a, b in edges]
    unseen = range(len(names), len(everything))
    return pag_of_dag(everything, arrows, unseen, Knowledge.read(knowledge).on(names))


def yardstick_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of PC as the reference for all algorithms.

    They are PC's defaults, so that the test follows from the kinds of columns, with what a run's
    parameters say about the data: background knowledge, and unobserved confounders.
    """
    return {name: parameters[name] for name in _ABOUT_DATA if parameters.get(name)}


def own_test_settings(
    algorithm: Algorithm, parameters: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The algorithm that a private algorithm builds on, and its settings for the same test."""
    settings = algorithm.reference(parameters)
    return algorithm.reference_algorithm, {**yardstick_settings(parameters), **settings}
