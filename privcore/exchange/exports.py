"""Writes graphs as text: GraphML, DOT and CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import networkx as nx

from privcore.graphs.pdag import PDAG, Edge, Kind, ordered
from privcore.text import csv_text


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
