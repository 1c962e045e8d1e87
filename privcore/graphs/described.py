"""Graphs as JSON-ready data, as certificates, release files and reports hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privcore.graphs.building import build_graph
from privcore.graphs.pag import PAG
from privcore.graphs.pdag import MARKS, PDAG

# One (x, y) for each node; y increases downwards.
Positions = tuple[tuple[float, float], ...]


def to_json_dict(graph: PDAG, positions: Positions | None = None) -> dict[str, Any]:
    """A JSON-ready description of a graph by lists of names, with one key per kind of edge.

    The keys `nodes`, `directed` and `undirected` are always present; `positions` and other kinds of
    edges are present if there are any.  A PAG always has the keys `bidirected`,
    `partially_directed` (pairs (a, b) with a o→ b), `nondirected` (with a o–o b) and
    `partially_undirected` (with a o– b).
    """
    described: dict[str, Any] = {"nodes": list(graph.nodes)}
    pag = isinstance(graph, PAG)
    for kind, edges in graph.by_kind.items():
        if edges or pag or kind in ("directed", "undirected"):
            described[kind] = [[graph.nodes[i], graph.nodes[j]] for i, j in sorted(edges)]
    if positions:
        described["positions"] = {
            name: [round(x, 4), round(y, 4)]
            for name, (x, y) in zip(graph.nodes, positions, strict=True)
        }
    return described


def from_json_dict(described: Mapping[str, Any]) -> PDAG:
    """The graph that `to_json_dict` described; a PAG if there is a key `nondirected`."""
    edges = [(a, b, kind) for kind in MARKS for a, b in described.get(kind, ())]
    return build_graph(described["nodes"], edges, pag="nondirected" in described)
