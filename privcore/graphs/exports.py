"""Writes graphs as text: JSON, GraphML, DOT and CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx

from privcore.graphs.building import build_graph
from privcore.graphs.layout import Positions
from privcore.graphs.pag import PAG
from privcore.graphs.pdag import MARKS, PDAG, Edge, Kind, ordered
from privcore.text import csv_text


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


def to_graphml(graph: PDAG) -> str:
    """The graph as GraphML: numbered nodes with their names as `label`, edges with a `kind`."""
    network = nx.DiGraph()
    for i, name in enumerate(graph.nodes):
        network.add_node(f"n{i}", label=_xml_safe(name))
    for kind, edges in graph.by_kind.items():
        for i, j in sorted(edges):
            network.add_edge(f"n{i}", f"n{j}", kind=kind)
    return "\n".join(nx.generate_graphml(network))


_DOT_ENDS: dict[Kind, str] = {
    "directed": "",
    "undirected": " [dir=none]",
    "bidirected": " [dir=both]",
    "partially_directed": " [dir=both, arrowtail=odot]",
    "nondirected": " [dir=both, arrowtail=odot, arrowhead=odot]",
    "partially_undirected": " [dir=both, arrowtail=odot, arrowhead=none]",
}


def to_dot(graph: PDAG) -> str:
    """The graph as a Graphviz digraph that shows the marks at both ends of every edge."""
    lines = ["digraph G {"]
    lines += [f"  {_dot_quoted(name)};" for name in graph.nodes]
    lines += [
        f"  {_dot_quoted(a)} -> {_dot_quoted(b)}{_DOT_ENDS[kind]};"
        for a, b, kind in graph.named_edges()
    ]
    return "\n".join([*lines, "}", ""])


def to_edge_csv(
    graph: PDAG, heads: Sequence[str] = (), notes: Mapping[Edge, Sequence[str]] | None = None
) -> str:
    """The edges as CSV with the columns source, target and kind, then the columns in `heads`.

    notes: for each pair (i, j), i < j, the cells of the columns in `heads`.  A name that a
    spreadsheet would take for a formula is preceded by an apostrophe.
    """
    known, position = notes or {}, {name: i for i, name in enumerate(graph.nodes)}
    rows = (
        [a, b, kind, *known.get(ordered(position[a], position[b]), [""] * len(heads))]
        for a, b, kind in graph.named_edges()
    )
    return csv_text([["source", "target", "kind", *heads], *rows])


def _dot_quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _xml_safe(name: str) -> str:
    """The text without control characters, which XML 1.0 does not allow."""
    return "".join(c for c in name if c in "\t\n\r" or ord(c) >= 0x20)
