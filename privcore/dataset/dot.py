"""The directed edges of a DOT file."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Collection, Iterator
from contextlib import redirect_stdout
from typing import Any

from privcore.errors import DataError

# The parser takes about 40 s for 1 MB.
MAX_DOT_BYTES = 300_000
# The parser is not safe to run in two threads at once.
_PARSING = threading.Lock()


def edges_of_dot(text: str, known: Collection[str]) -> list[tuple[str, str]]:
    """Edges (cause, effect) of one digraph, those in its subgraphs included.

    known: the column names; a node that is none of them goes by its label if that is one.
    Raises DataError if the text is no digraph, too long, or has edges without one direction.
    """
    if len(text) > MAX_DOT_BYTES:
        raise DataError("The DOT file has more than 0.3 MB; give an edge list instead.")
    graph = _parse(text)
    if graph.get_type() != "digraph":
        raise DataError("The DOT graph is undirected; write digraph and ->.")
    parts = list(_parts(graph))
    labels = {
        _unquoted(node.get_name()): _unquoted(str(node.get_label()))
        for part in parts
        for node in part.get_node_list()
        if node.get_label()
    }

    def column(node: str) -> str:
        name = _unquoted(node)
        return name if name in known or labels.get(name) not in known else labels[name]

    edges = []
    for part in parts:
        defaults = [*graph.get_edge_defaults(), *part.get_edge_defaults()]
        usual = next((d["dir"] for d in reversed(defaults) if "dir" in d), "forward")
        for edge in part.get_edge_list():
            source, target = edge.get_source(), edge.get_destination()
            if not (isinstance(source, str) and isinstance(target, str)):
                raise DataError("The DOT graph has edges between groups; write one edge a line.")
            direction = _unquoted(str(edge.get("dir") or usual))
            if direction not in ("forward", "back"):
                raise DataError("The DOT graph has undirected edges; give each one direction.")
            cause, effect = (source, target) if direction == "forward" else (target, source)
            edges.append((column(cause), column(effect)))
    return edges


def _parse(text: str) -> Any:
    import pydot

    try:
        # The parser prints the offending line, which is the user's, so its output is dropped.
        with _PARSING, redirect_stdout(io.StringIO()):
            graphs = pydot.graph_from_dot_data(text) or []
    except Exception:  # the parser raises types of its own, which differ between versions
        graphs = []
    if len(graphs) != 1:
        raise DataError("The DOT file cannot be read; give one digraph.")
    return graphs[0]


def _parts(graph: Any) -> Iterator[Any]:
    yield graph
    for part in graph.get_subgraph_list():
        yield from _parts(part)


def _unquoted(name: str) -> str:
    if len(name) >= 2 and name[0] == name[-1] == '"':
        return re.sub(r'\\(["\\])', r"\1", name[1:-1])
    return name
