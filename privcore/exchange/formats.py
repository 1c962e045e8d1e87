"""Graphs in the formats of other programs.

The formats in which graphs are written and read.

Writes graphs as text: GraphML, DOT and CSV.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from privcore.errors import DataError, ParameterError
from privcore.exchange import objects, texts
from privcore.graphs.pdag import MARKS, PAG, PDAG, Edge, Kind, ordered, to_json_dict
from privcore.text import csv_text, short

_ALL: tuple[Kind, ...] = tuple(MARKS)
_NOT_BOTH: tuple[Kind, ...] = ("directed", "undirected")
_CIRCLES = tuple(kind for kind, mark in MARKS.items() if "o" in mark)
_ENDS = {"undirected": "without a direction", "bidirected": "with both directions"}


@dataclass(frozen=True)
class Format:
    """A format in which graphs are written, and read if `read` is given.

    carries: the kinds of edges that the format supports; graphs with other kinds are refused.  A
    format with circles supports every PAG, including bidirected edges, which stand for unobserved
    confounders.
    suffix: the file name extension; empty for the objects of a library.
    """

    name: str
    title: str
    write: Callable[[PDAG], Any]
    read: Callable[[Any], PDAG] | None = None
    carries: tuple[Kind, ...] = _ALL
    suffix: str = ""
    mime: str = "text/plain"

    def export(self, graph: PDAG) -> Any:
        """The graph in this format; raises DataError if the format cannot represent it."""
        if isinstance(graph, PAG):
            if not self.carries_circles:
                others = [f.name for f in self._alike if f.carries_circles]
                raise DataError(
                    "not-support-partial-ancestral-graphs",
                    title=self.title,
                    choices=", ".join(others),
                )
            return self.write(graph)
        for a, b, kind in graph.named_edges():
            if kind not in self.carries:
                others = [f.name for f in self._alike if kind in f.carries]
                raise DataError(
                    "not-support-edges-edge-between",
                    title=self.title,
                    ends=_ENDS[kind],
                    a=short(a),
                    b=short(b),
                    choices=", ".join(others),
                )
        if "bidirected" not in self.carries and not graph.undirected:
            directed = nx.DiGraph(graph.named_directed())
            if not nx.is_directed_acyclic_graph(directed):
                raise DataError("no-cycle-in-format", title=self.title)
        return self.write(graph)

    @property
    def carries_circles(self) -> bool:
        """Whether the format supports PAGs."""
        return set(_CIRCLES) <= set(self.carries)

    @property
    def _alike(self) -> list[Format]:
        """All text formats if this is a text format, otherwise all object formats."""
        return [form for form in FORMATS.values() if bool(form.suffix) == bool(self.suffix)]

    def refusal(self, graph: PDAG) -> str | None:
        """Why the format cannot represent a graph, in a sentence; None if it can."""
        try:
            self.export(graph)
        except DataError as error:
            return str(error)
        return None


def _to_json(graph: PDAG) -> str:
    return json.dumps(to_json_dict(graph), indent=1, ensure_ascii=False) + "\n"


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


_DAG: tuple[Kind, ...] = ("directed",)
FORMATS: dict[str, Format] = {
    made.name: made
    for made in (
        Format("networkx", "networkx", objects.to_networkx, objects.from_networkx),
        Format("causal-learn", "causal-learn", objects.to_causal_learn, objects.from_causal_learn),
        Format("pgmpy", "pgmpy", objects.to_pgmpy, objects.from_pgmpy, _NOT_BOTH),
        Format(
            "dagitty",
            "DAGitty",
            texts.to_dagitty,
            texts.from_dagitty,
            (*_NOT_BOTH, *_CIRCLES),
            "dagitty.txt",
        ),
        Format("tetrad", "Tetrad", texts.to_tetrad, texts.from_tetrad, _ALL, "tetrad.txt"),
        Format("gml", "GML (DoWhy)", texts.to_gml, texts.from_gml, _DAG, "gml"),
        Format("bif", "BIF", texts.to_bif, texts.from_bif, _DAG, "bif"),
        Format("json", "JSON", _to_json, texts.from_json, _ALL, "json", "application/json"),
        Format("graphml", "GraphML", to_graphml, None, _ALL, "graphml", "application/xml"),
        Format("dot", "DOT", to_dot, None, _ALL, "dot", "text/vnd.graphviz"),
        Format("csv", "Edges CSV", to_edge_csv, None, _ALL, "csv", "text/csv"),
    )
}
TEXT_FORMATS = {name: made for name, made in FORMATS.items() if made.suffix}


def export_graph(graph: PDAG, to: str) -> Any:
    """Convert a graph to the format of another program.

    Args:
        graph: a graph, such as the `graph` of a run.
        to: the name of the format.  Objects: networkx, causal-learn (a `GeneralGraph`), pgmpy (a
            `DAG` or a `PDAG`).  Texts: dagitty, tetrad, gml (which DoWhy reads), bif, json,
            graphml, dot, csv.

    Returns:
        The library's object, or the text.

    Raises:
        ParameterError: for an unknown format.
        DataError: if the format cannot represent the graph.  gml and bif support only DAGs; pgmpy
            does not support PAGs or bidirected edges; dagitty supports bidirected edges only in a
            PAG; and some formats restrict names.

    Example:
        >>> from privcore import PDAG
        >>> chain = PDAG.from_names("abc", directed=["ab"], undirected=["bc"])
        >>> export_graph(chain, "networkx").number_of_edges()
        3
        >>> export_graph(chain, "bif")
        Traceback (most recent call last):
        privcore.errors.DataError: BIF does not support edges without a direction, such as the \
edge between 'b' and 'c'; direct it, or choose one of dagitty, tetrad, json, graphml, dot, csv.
    """
    return get_format(to).export(graph)


def import_graph(source: Any, format: str) -> PDAG:
    """Read a graph from the format of another program.

    Args:
        source: an object of networkx, causal-learn or pgmpy, or a text.
        format: networkx, causal-learn, pgmpy, dagitty, tetrad, gml, bif or json.

    Returns:
        The graph, which is a `PAG` if edges end in circles or if the source declares a PAG.

    Raises:
        ParameterError: for a format that cannot be read.
        DataError: for a source that is not in this format, that has two edges between the same
            nodes, or that has an edge from a node to itself.

    Example:
        >>> import_graph("dag { smoke -> lung -> cough }", "dagitty").named_directed()
        [('smoke', 'lung'), ('lung', 'cough')]
    """
    chosen = get_format(format)
    if chosen.read is None:
        readable = ", ".join(f.name for f in FORMATS.values() if f.read)
        raise ParameterError("format-is-not-read", title=chosen.title, readable=readable)
    if chosen.suffix and not isinstance(source, str):
        raise DataError("give-its-text", title=chosen.title, name=type(source).__name__)
    return chosen.read(source)


def get_format(name: str) -> Format:
    """The format with this name; raises ParameterError if there is none."""
    return _chosen(name, FORMATS)


def text_format(name: str) -> Format:
    """The text format with this name; raises ParameterError if there is none."""
    return _chosen(name, TEXT_FORMATS)


def _chosen(name: str, among: Mapping[str, Format]) -> Format:
    if name not in among:
        raise ParameterError("no-such-format", name=short(name), choices=", ".join(among))
    return among[name]
