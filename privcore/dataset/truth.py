"""Reading a true graph: edge list, DOT, GraphML or BIF."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

import networkx as nx

from privcore.errors import DataError
from privcore.text import short

MAX_BYTES = 5_000_000
Edges = tuple[tuple[str, str], ...]


def read_true_graph(content: bytes, filename: str, names: Sequence[str]) -> Edges:
    """The edges (cause, effect) of a DAG over the columns `names`.

    By ending: .dot/.gv, .graphml/.xml, .bif, otherwise an edge list with one edge a line
    ("cause,effect", tab, semicolon or blank between, or "cause -> effect").
    Raises DataError for names that are not columns, self-loops, cycles and undirected graphs.
    """
    if len(content) > MAX_BYTES:
        raise DataError("The graph file has more than 5 MB; give only the edges.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("The graph file is not UTF-8 text; save it as such.") from None
    ending = filename.lower().rpartition(".")[2]
    if ending in ("dot", "gv"):
        edges = _from_dot(text)
    elif ending in ("graphml", "xml"):
        edges = _from_graphml(text)
    elif ending == "bif":
        edges = _from_bif(text)
    else:
        edges = _from_edge_list(text)
    return _checked(edges, names)


def _checked(edges: list[tuple[str, str]], names: Sequence[str]) -> Edges:
    known = set(names)
    if not edges:
        raise DataError("The graph file names no edge; give at least one, as cause,effect.")
    for cause, effect in edges:
        for name in (cause, effect):
            if name not in known:
                raise DataError(f"The graph names {short(name)!r}, which is not a column.")
        if cause == effect:
            raise DataError(f"The graph has an edge from {short(cause)!r} to itself; remove it.")
    graph = nx.DiGraph(edges)
    if not nx.is_directed_acyclic_graph(graph):
        raise DataError("The graph has a directed cycle; a causal graph must not.")
    return tuple(dict.fromkeys(edges))


def _from_edge_list(text: str) -> list[tuple[str, str]]:
    edges = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if "->" in line:
            cells = [cell.strip().strip('"') for cell in line.split("->")]
        else:
            delimiter = next((d for d in "\t;," if d in line), " ")
            cells = next(csv.reader(io.StringIO(line), delimiter=delimiter, skipinitialspace=True))
            cells = [cell.strip() for cell in cells if cell.strip()]
        if len(cells) < 2:
            raise DataError(f"Line {number} of the graph file is no edge; write cause,effect.")
        if number == 1 and cells[0].lower() in ("source", "from", "cause"):
            continue
        edges.append((cells[0], cells[1]))
    return edges


def _from_dot(text: str) -> list[tuple[str, str]]:
    import pydot

    try:
        graphs = pydot.graph_from_dot_data(text) or []
    except Exception:  # the parser raises types of its own, which differ between versions
        graphs = []
    if not graphs:
        raise DataError("The DOT file cannot be read; give one digraph.")
    graph = graphs[0]
    if graph.get_type() != "digraph":
        raise DataError("The DOT graph is undirected; write digraph and ->.")
    edges = []
    for edge in graph.get_edge_list():
        source, target = edge.get_source(), edge.get_destination()
        if not (isinstance(source, str) and isinstance(target, str)):
            raise DataError("The DOT graph has edges between groups; write one edge a line.")
        edges.append((_unquoted(source), _unquoted(target)))
    return edges


def _unquoted(name: str) -> str:
    if len(name) >= 2 and name[0] == name[-1] == '"':
        return name[1:-1].replace('\\"', '"')
    return name


def _from_graphml(text: str) -> list[tuple[str, str]]:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        # Entities can make a small file expand without end; GraphML never needs them.
        raise DataError("The GraphML file declares entities; save it without them.")
    try:
        graph = nx.parse_graphml(text)
    except Exception:  # malformed XML and GraphML raise many types
        raise DataError("The GraphML file cannot be read; save it anew.") from None
    if not graph.is_directed():
        raise DataError("The GraphML graph is undirected; give directed edges.")
    label = {
        node: str(data.get("label") or data.get("name") or node)
        for node, data in graph.nodes(data=True)
    }
    return [(label[a], label[b]) for a, b in graph.edges()]


def _from_bif(text: str) -> list[tuple[str, str]]:
    """Only the parents in "probability ( child | parents )".

    Written here because the maintained readers of the format come with whole modelling
    libraries, several hundred MB, and the structure needs one pattern.
    """
    edges = []
    for child, parents in re.findall(r"probability\s*\(\s*([^|()]+?)\s*\|\s*([^)]+?)\s*\)", text):
        edges += [(parent.strip(), child.strip()) for parent in parents.split(",")]
    return edges
