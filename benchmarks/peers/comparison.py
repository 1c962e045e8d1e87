"""Whether our graph and causal-learn's are the same, and under its rules of orientation.

Both search the same skeleton (the same degrees of freedom, the same tests).  causal-learn 0.1.4.8
reads v-structures from the union of the sets that separate a pair at one size, and of contradicting
v-structures it keeps the first (`pc`'s default, UCSepset, priority 2); ours is PC's own default,
and theirs one of the others (docs/orientation.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx

from privcore.algorithms import Discovery, discover
from privcore.counts import CountSource
from privcore.graphs import PDAG
from privcore.graphs.pdag import ordered

# What causal-learn's `uc_priority` is called here.
PRIORITIES = {0: "overwrite", 1: "bi-directed", 2: "keep first", 3: "strength"}
THEIR_RULES = {"collider_rule": "union", "conflict_rule": PRIORITIES[2]}


def theirs(
    names: Sequence[str],
    directed: Sequence[Sequence[int]],
    undirected: Sequence[Sequence[int]],
) -> PDAG:
    """The graph of a worker's answer; edges that it gives in both directions are undirected."""
    arrows = {(i, j) for i, j in directed}
    both = {ordered(i, j) for i, j in arrows if (j, i) in arrows}
    lines = {ordered(i, j) for i, j in undirected} | both
    kept = frozenset(arrow for arrow in arrows if ordered(*arrow) not in both)
    return PDAG(tuple(names), kept, frozenset(lines))


def differences(source: CountSource, mine: Discovery, found: PDAG) -> list[str]:
    """One sentence for each edge that differs also under causal-learn's rules.

    None is expected but where causal-learn closes a directed cycle, of which it misses some, or
    the skeletons differ.
    """
    again = discover(source, "pc", {**mine.parameters, **THEIR_RULES}, keep_trace=False).graph
    names, pairs = again.nodes, sorted(again.skeleton | found.skeleton)
    cyclic = not nx.is_directed_acyclic_graph(nx.DiGraph(list(found.directed)))
    return [
        f"{names[i]} {again.mark(i, j)} {names[j]} under their rules, theirs {found.mark(i, j)}"
        + (" (their graph has a directed cycle)" if cyclic else "")
        for i, j in pairs
        if again.mark(i, j) != found.mark(i, j)
    ]
