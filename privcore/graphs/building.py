"""Graphs from what other programs hold: nodes and edges by name, with every fault in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from privcore.errors import DataError
from privcore.graphs.pdag import PDAG
from privcore.text import short

Kind = Literal["directed", "undirected", "bidirected"]
NamedEdge = tuple[str, str, Kind]


def build_graph(nodes: Iterable[str], edges: Iterable[NamedEdge]) -> PDAG:
    """The graph with those nodes and, after them, others that the edges name.

    Raises DataError for a name that stands for two nodes, an edge from a node to itself, and a
    pair of nodes with two edges.
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
    chosen = list(kinds.values())
    return PDAG.from_names(
        list(known),
        [(a, b) for a, b, kind in chosen if kind == "directed"],
        [(a, b) for a, b, kind in chosen if kind == "undirected"],
        [(a, b) for a, b, kind in chosen if kind == "bidirected"],
    )


def named_edges(graph: PDAG) -> list[NamedEdge]:
    """(from, to, kind), those with a direction first."""
    return [
        *((a, b, "directed") for a, b in graph.named_directed()),
        *((a, b, "undirected") for a, b in graph.named_undirected()),
        *((a, b, "bidirected") for a, b in graph.named_bidirected()),
    ]
