"""Builds graphs from named nodes and edges, and states every error in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from privcore.errors import DataError
from privcore.graphs.pag import PAG
from privcore.graphs.pdag import MARKS, PDAG, Kind, ordered
from privcore.text import short

NamedEdge = tuple[str, str, Kind]


def build_graph(nodes: Iterable[str], edges: Iterable[NamedEdge], *, pag: bool = False) -> PDAG:
    """Build a graph with these nodes, followed by any further nodes that the edges name.

    The result is a `PAG` if an edge has a circle, or if `pag` is true.  Raises DataError if two
    nodes have the same name, if an edge joins a node to itself, or if two different edges join the
    same pair.
    """
    named = list(nodes)
    twice = next((name for name, times in Counter(named).items() if times > 1), None)
    if twice is not None:
        raise DataError(f"The graph has two nodes called {short(twice)!r}; rename one.")
    known = dict.fromkeys(named)
    kinds: dict[frozenset[str], NamedEdge] = {}
    for a, b, kind in edges:
        known |= {a: None, b: None}
        if a == b:
            raise DataError(f"The graph has an edge from {short(a)!r} to itself; remove it.")
        if kinds.setdefault(frozenset((a, b)), (a, b, kind)) != (a, b, kind):
            raise DataError(
                f"The graph has two edges between {short(a)!r} and {short(b)!r}; keep one."
            )
    nodes = tuple(known)
    place = {name: i for i, name in enumerate(nodes)}
    of_kind: dict[Kind, set[tuple[int, int]]] = {kind: set() for kind in MARKS}
    for a, b, kind in kinds.values():
        pair = place[a], place[b]
        one_way = kind in ("directed", "partially_directed", "partially_undirected")
        of_kind[kind].add(pair if one_way else ordered(*pair))
    circles = pag or any(pairs for kind, pairs in of_kind.items() if "o" in MARKS[kind])
    chosen = {kind: frozenset(pairs) for kind, pairs in of_kind.items()}
    if circles:
        return PAG(nodes, **chosen)
    return PDAG(nodes, chosen["directed"], chosen["undirected"], chosen["bidirected"])
