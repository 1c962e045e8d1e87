"""Computes the CPDAG that represents the Markov equivalence class of a DAG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from privcore.errors import DataError
from privcore.graphs.meek import apply_meek_rules
from privcore.graphs.pdag import PDAG, Edge, ordered


def topological_order(p: int, edges: Iterable[Edge]) -> list[int]:
    """The nodes 0..p-1 with causes before effects; raises DataError if there is a cycle."""
    parents: list[set[int]] = [set() for _ in range(p)]
    for i, j in edges:
        parents[j].add(i)
    order: list[int] = []
    placed: set[int] = set()
    while len(order) < p:
        ready = [i for i in range(p) if i not in placed and parents[i] <= placed]
        if not ready:
            raise DataError(
                "The graph has a directed cycle, but a causal graph must be acyclic; remove an "
                "edge of the cycle."
            )
        order += ready
        placed.update(ready)
    return order


def cpdag_of_dag(nodes: Sequence[str], edges: Iterable[Edge]) -> PDAG:
    """The CPDAG of a DAG, from the v-structures of the DAG and Meek's rules.

    Raises DataError if the edges form a cycle.
    """
    arrows = frozenset(edges)
    topological_order(len(nodes), arrows)
    skeleton = {ordered(i, j) for i, j in arrows}
    parents: dict[int, set[int]] = {}
    for i, j in arrows:
        parents.setdefault(j, set()).add(i)
    kept = {
        (i, child)
        for child, causes in parents.items()
        for a, b in combinations(sorted(causes), 2)
        if (a, b) not in skeleton
        for i in (a, b)
    }
    undirected = frozenset(skeleton - {ordered(i, j) for i, j in kept})
    return apply_meek_rules(PDAG(tuple(nodes), frozenset(kept), undirected))


def cpdag_of_names(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> PDAG:
    """Like `cpdag_of_dag`, but the edges are pairs of names (cause, effect)."""
    return cpdag_of_dag(nodes, PDAG.from_names(nodes, directed=edges).directed)
