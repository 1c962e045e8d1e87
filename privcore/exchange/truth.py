"""Reads a true graph from an edge list or from a DOT, GraphML, BIF or Tetrad file."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import pairwise

import networkx as nx

from privcore.errors import DataError
from privcore.exchange.dot import edges_of_dot
from privcore.exchange.texts import TETRAD_HEAD, bif_edges, from_tetrad
from privcore.graphs.pag import PAG
from privcore.graphs.pdag import MARKS
from privcore.text import short

MAX_BYTES = 5_000_000
Edges = tuple[tuple[str, str], ...]


def read_true_graph(content: bytes, filename: str, names: Sequence[str]) -> Edges:
    """Reads the edges (cause, effect) of a DAG over the columns `names`.

    The extension determines the format: .dot/.gv, .graphml/.xml or .bif.  Any other file is read as
    the text format of Tetrad and causal-learn if it begins with "Graph Nodes:", and otherwise as an
    edge list.  A line of an edge list is "cause,effect" or "cause -> effect"; a tab, semicolon or
    blank may replace the comma.
    Raises DataError for names that are not columns, self-loops, cycles and undirected edges.
    """
    if len(content) > MAX_BYTES:
        raise DataError("The graph file has more than 5 MB; give only the edges.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("The graph file is not UTF-8 text; save it as UTF-8.") from None
    ending = filename.lower().rpartition(".")[2]
    known = frozenset(names)
    if ending in ("dot", "gv"):
        edges = edges_of_dot(text, known)
    elif ending in ("graphml", "xml"):
        edges = _from_graphml(text, known)
    elif ending == "bif":
        edges = bif_edges(text)
    elif text.lstrip().startswith(TETRAD_HEAD):
        edges = _from_tetrad(text)
    else:
        edges = _from_edge_list(text, known)
    return _checked(edges, known)


def _checked(edges: list[tuple[str, str]], known: frozenset[str]) -> Edges:
    if not edges:
        raise DataError("The graph file contains no edge; give at least one, as cause,effect.")
    for cause, effect in edges:
        for name in (cause, effect):
            if name not in known:
                raise DataError(
                    f"The graph names {short(name)!r}, which is not a column; correct the name."
                )
        if cause == effect:
            raise DataError(f"The graph has an edge from {short(cause)!r} to itself; remove it.")
    graph = nx.DiGraph(edges)
    if not nx.is_directed_acyclic_graph(graph):
        raise DataError(
            "The graph has a directed cycle; remove an edge, because a causal graph is acyclic."
        )
    return tuple(dict.fromkeys(edges))


def _from_edge_list(text: str, known: frozenset[str]) -> list[tuple[str, str]]:
    edges: list[tuple[str, str]] = []
    first = True
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        readings = list(_readings(line))
        if not readings:
            raise DataError(f"Line {number} of the graph file is not an edge; write cause,effect.")
        # A name may contain any of the delimiters, so the known names decide how a line is split.
        path, note = next((r for r in readings if known.issuperset(r[0])), readings[0])
        is_header = first and path[0].lower() in ("source", "from", "cause")
        first = False
        if is_header and path[0] not in known:
            continue
        if note == "undirected":
            raise DataError(f"Line {number} of the graph file is undirected; give a direction.")
        if note in MARKS and note != "directed":
            raise DataError(
                f"Line {number} of the graph file is a {note} edge, but a true graph is a DAG; "
                "give a direction."
            )
        edges += pairwise(path)
    return edges


def _readings(line: str) -> Iterator[tuple[list[str], str]]:
    """The ways to read a line as a sequence of names and a note, the likeliest first."""
    if "->" in line:
        path = [cell.strip().strip('"') for cell in line.split("->")]
        if all(path):
            yield path, ""
    for delimiter in "\t;, ":
        if delimiter not in line:
            continue
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
        cells = [cell.strip() for cell in cells if cell.strip()]
        # Blanks are too frequent in names to read a third word as a note.
        if len(cells) == 2 or (len(cells) > 2 and delimiter != " "):
            yield cells[:2], "".join(cells[2:3])


def _from_graphml(text: str, known: frozenset[str]) -> list[tuple[str, str]]:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        # Entities can make a small file expand without end; GraphML never needs them.
        raise DataError("The GraphML file declares entities; save it without them.")
    try:
        graph = nx.parse_graphml(text)
    except Exception:  # malformed XML and GraphML raise many types
        raise DataError("The GraphML file cannot be read; save it again.") from None
    # CausalVeil's own exports mark the undirected edges of a CPDAG.
    kinds = {data.get("kind") for _, _, data in graph.edges(data=True)}
    if not graph.is_directed() or "undirected" in kinds:
        raise DataError("The GraphML graph is undirected; give directed edges only.")
    if kinds & (MARKS.keys() - {"directed"}):
        raise DataError(
            "The GraphML graph has edges with a circle or two arrowheads, but a true graph is a "
            "DAG; give directed edges only."
        )
    label = {}
    for node, data in graph.nodes(data=True):
        titles = [str(data[key]) for key in ("label", "name") if key in data]
        label[node] = next((t for t in (*titles, node) if t in known), (*titles, node)[0])
    return [(label[a], label[b]) for a, b in graph.edges()]


def _from_tetrad(text: str) -> list[tuple[str, str]]:
    graph = from_tetrad(text)
    if isinstance(graph, PAG):
        raise DataError(
            "The Tetrad graph is a partial ancestral graph, but a true graph is a DAG; give every "
            "edge a direction."
        )
    if graph.undirected or graph.bidirected:
        raise DataError("The Tetrad graph has undirected edges; give every edge a direction.")
    return graph.named_directed()
