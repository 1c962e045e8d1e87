"""From a skeleton and separating sets to a partially directed graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

import networkx as nx

from privcore.graphs.meek import apply_meek_rules
from privcore.graphs.pdag import PDAG, Edge, ordered

Collider = tuple[int, int, int]


def orient(skeleton: PDAG, separating_sets: Mapping[Edge, frozenset[int]]) -> PDAG:
    """V-structures from the separating sets, then Meek's rules.

    skeleton: only its adjacencies count.  separating_sets: keyed (i, j) with i < j; a pair that
    is not adjacent and has no recorded set is no evidence for any v-structure.

    Noisy decisions contradict each other.  The rule, which treats all of them alike and does not
    depend on the order of the columns: an edge that v-structures ask for in both directions is
    contested, and every v-structure that uses a contested edge is dropped; so is, next, every
    v-structure with an arrow on a directed cycle.  What is left has no cycle.  Two v-structures at
    one node may together make a third that was not asked for, as in PC; Meek's rules make none.
    """
    wanted = _drop_cyclic(_drop_contested(set(_colliders(skeleton, separating_sets))))
    arrows = frozenset(_arrows(wanted))
    lines = frozenset(
        pair for pair in skeleton.skeleton if pair not in {ordered(*a) for a in arrows}
    )
    return apply_meek_rules(PDAG(skeleton.nodes, arrows, lines))


def _colliders(
    skeleton: PDAG, separating_sets: Mapping[Edge, frozenset[int]]
) -> Iterable[Collider]:
    """Unshielded triples x — z — y (x < y) whose separating set leaves out z."""
    pairs = skeleton.skeleton
    for z in range(len(skeleton.nodes)):
        for x, y in combinations(sorted(skeleton.adjacent(z)), 2):
            separated_by = separating_sets.get((x, y))
            if (x, y) not in pairs and separated_by is not None and z not in separated_by:
                yield (x, z, y)


def _arrows(colliders: Iterable[Collider]) -> set[Edge]:
    return {arrow for x, z, y in colliders for arrow in ((x, z), (y, z))}


def _drop_contested(colliders: set[Collider]) -> set[Collider]:
    arrows = _arrows(colliders)
    contested = {(i, j) for i, j in arrows if (j, i) in arrows}
    return {(x, z, y) for x, z, y in colliders if not {(x, z), (y, z)} & contested}


def _drop_cyclic(colliders: set[Collider]) -> set[Collider]:
    graph = nx.DiGraph(sorted(_arrows(colliders)))
    component = {
        node: number
        for number, nodes in enumerate(nx.strongly_connected_components(graph))
        for node in nodes
    }
    # An arrow lies on a directed cycle just if both ends are in one strong component.
    return {
        (x, z, y)
        for x, z, y in colliders
        if component[x] != component[z] and component[y] != component[z]
    }
