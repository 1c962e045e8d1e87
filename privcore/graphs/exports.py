"""Writes graphs as text: JSON, GraphML, DOT, CSV and SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

import networkx as nx
import numpy as np

from privcore.graphs.boxes import GAP, LINE_HEIGHT, box_size, spaced, wrapped
from privcore.graphs.building import build_graph
from privcore.graphs.layout import Positions
from privcore.graphs.pag import PAG
from privcore.graphs.pdag import MARKS, PDAG, Edge, Kind, ordered
from privcore.graphs.routes import routes
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


_SVG_ENDS = {"<": "arrow", ">": "arrow", "o": "circle"}


def to_svg(
    graph: PDAG,
    positions: Positions,
    *,
    title: str,
    width: int = 900,
    height: int = 640,
    background: str = "#ffffff",
    ink: str = "#1f2933",
    node_fill: str = "#eef3f7",
) -> str:
    """A standalone SVG drawing with full names; it exceeds the given size if needed."""
    labels = [wrapped(name, i) for i, name in enumerate(graph.nodes)]
    sizes = np.array([box_size(label) for label in labels]).reshape(-1, 2)
    packed = np.array(spaced(positions, labels)).reshape(-1, 2)
    low, high = packed.min(0, initial=0), packed.max(0, initial=0)
    span, edge = np.maximum(high - low, 1e-9), sizes.max(0, initial=0) + 40
    # Between boxes at minimal distance, arrows would hardly be visible.
    width, height = (int(size) for size in np.maximum((width, height), 1.3 * span + edge))
    # The remaining space goes to the distances, and the drawing is centred.
    scale = ((width, height) - edge) / span
    centre = (packed - (low + high) / 2) * scale + np.divide((width, height), 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="sans-serif">',
        f"<title>{escape(_xml_safe(title))}</title>",
        f'<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
        'markerHeight="8" orient="auto-start-reverse">'
        f'<path d="M0,0L10,5L0,10z" fill="{ink}"/></marker>'
        '<marker id="circle" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
        'markerHeight="8" orient="auto-start-reverse">'
        f'<circle cx="5" cy="5" r="3.5" fill="{background}" stroke="{ink}" stroke-width="1.5"/>'
        "</marker></defs>",
        f'<rect width="{width}" height="{height}" fill="{background}"/>',
    ]
    pairs = sorted(set().union(*graph.by_kind.values()))
    ways = dict(zip(pairs, routes(centre, sizes / 2, pairs, GAP), strict=True))
    for kind, edges in graph.by_kind.items():
        ends = zip(("start", "end"), (MARKS[kind][0], MARKS[kind][-1]), strict=True)
        arrow = "".join(f' marker-{end}="url(#{_SVG_ENDS[m]})"' for end, m in ends if m != "-")
        for pair in sorted(edges):
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in ways[pair])
            parts.append(
                f'<polyline points="{points}" fill="none" stroke="{ink}" stroke-width="2"{arrow}/>'
            )
    for name, label, (x, y), (wide, high) in zip(graph.nodes, labels, centre, sizes, strict=True):
        lines = label.split("\n")
        first = y + 5 - LINE_HEIGHT * (len(lines) - 1) / 2
        text = "".join(
            f'<tspan x="{x:.1f}" y="{first + LINE_HEIGHT * k:.1f}">{escape(line)}</tspan>'
            for k, line in enumerate(lines)
        )
        parts.append(
            f"<g><title>{escape(_xml_safe(name))}</title>"
            f'<rect x="{x - wide / 2:.1f}" y="{y - high / 2:.1f}" width="{wide:.1f}" '
            f'height="{high:.1f}" rx="8" fill="{node_fill}" stroke="{ink}"/>'
            f'<text text-anchor="middle" font-size="14" fill="{ink}">{text}</text></g>'
        )
    return "\n".join([*parts, "</svg>", ""])
