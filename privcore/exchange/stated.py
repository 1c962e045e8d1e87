"""Reads a causal graph that someone states, with its unobserved causes and its question."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from privcore.errors import DataError
from privcore.exchange import texts
from privcore.exchange.formats import import_graph
from privcore.files import read_most
from privcore.graphs.pdag import PDAG, Kind, NamedEdge
from privcore.graphs.stated import StatedGraph
from privcore.naming import divided
from privcore.text import short

MAX_BYTES = 5_000_000
_MARKS: dict[str, tuple[Kind, bool]] = {
    "->": ("directed", False),
    "→": ("directed", False),
    "<-": ("directed", True),
    "←": ("directed", True),
    "<->": ("bidirected", False),
    "↔": ("bidirected", False),
    "--": ("undirected", False),
}
_DAGITTY = re.compile(r'\s*(dag|pdag|mag|pag)\s*(\w+\s*|"[^"]*"\s*)?\{')
# DAGitty's words, and the letters of its earlier versions.
_ROLES = {
    "unobserved": {"latent", "unobserved", "l", "u"},
    "exposure": {"exposure", "e"},
    "outcome": {"outcome", "o"},
    "adjusted": {"adjusted", "adjustednode", "a"},
}


def read_graph(source: StatedGraph | PDAG | Path | str | Any) -> StatedGraph:
    """A stated causal graph from a text, a file, or an object of networkx or pgmpy.

    source: the path of a file, or a text: of DAGitty (with roles, unobserved nodes and `<->`), of
    Tetrad, GML or JSON, or edges such as "a -> b; b -> c; a <-> c".

    Raises DataError for what is none of these, for a cycle, an edge that ends in a circle, and
    fewer than two observed columns.

    >>> graph = read_graph("dag { u [latent]; u -> {a b}; a -> c [x=1]; c [outcome] }")
    >>> graph.lines(), graph.outcome
    (['a -> c', 'a <-> b'], 'c')
    """
    if isinstance(source, StatedGraph):
        return source
    if isinstance(source, PDAG):
        return StatedGraph.of_graph(source)
    if isinstance(source, Path) or (isinstance(source, str) and _is_file(source)):
        source = decoded(read_most(source, MAX_BYTES))
    if not isinstance(source, str):
        return StatedGraph.of_graph(import_graph(source, _library(source)))
    text = source.strip().lstrip("\ufeff")
    if _DAGITTY.match(text):
        return _of_dagitty(text)
    known = {texts.TETRAD_HEAD: "tetrad", "{": "json", "graph": "gml", "Creator": "gml"}
    for start, form in known.items():
        # A graph of edges can have a column called "graph".
        if text.startswith(start) and (form != "gml" or "[" in text):
            return StatedGraph.of_graph(import_graph(text, form))
    return _of_edges(text)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def decoded(content: bytes) -> str:
    """The text of a graph file; raises DataError if it is too large or not UTF-8."""
    if len(content) > MAX_BYTES:
        raise DataError("graph-file-more-than-5-mb")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("graph-file-not-utf-8-text") from None


def _library(source: object) -> str:
    """The name of the format of an object, by the library that it is from."""
    module = type(source).__module__.partition(".")[0]
    return {"pgmpy": "pgmpy", "causallearn": "causal-learn"}.get(module, "networkx")


def _of_dagitty(text: str) -> StatedGraph:
    head, nodes, edges = texts.dagitty_parts(text)
    roles = {
        role: [name for name, own in nodes.items() if words & {word.lower() for word in own}]
        for role, words in _ROLES.items()
    }
    for a, b, kind in edges:
        if head in ("mag", "pag") and kind == "undirected":
            raise DataError("stated-graph-has-circles", a=short(a), b=short(b))
    made = StatedGraph.of_edges(nodes, edges, roles["unobserved"])
    adjusted = tuple(name for name in roles["adjusted"] if name in made.names)
    # With several exposures or outcomes there is no single question.
    exposure, outcome = (
        own[0] if len(own := roles[role]) == 1 else None for role in ("exposure", "outcome")
    )
    return replace(made, exposure=exposure, outcome=outcome, adjusted=adjusted)


def _of_edges(text: str) -> StatedGraph:
    """Edges such as "a -> b <- c; d"; names are quoted as in printed edges."""
    nodes, edges = dict[str, None](), list[NamedEdge]()
    marks = "|".join(sorted(_MARKS, key=len, reverse=True))
    for line in text.splitlines():
        parts = divided(line, f"{marks}|;")
        for a, mark, b in zip(parts[::2], [*parts[1::2], ";"], [*parts[2::2], ""], strict=True):
            nodes |= {a: None} if a else {}
            if mark == ";":
                continue
            if not (a and b):
                raise DataError("stated-graph-unreadable", line=short(f"{a} {mark} {b}"))
            kind, turned = _MARKS[mark]
            edges.append((b, a, kind) if turned else (a, b, kind))
    if len(nodes) == 1 and not edges and "." in text:
        # The name of a file that is not there.
        raise DataError("is-no-readable-file", name=short(text))
    if len(nodes) == 1 and not edges and re.search("[-=>]", text):
        # An arrow in other signs.
        raise DataError("stated-graph-unreadable", line=short(text))
    return StatedGraph.of_edges(nodes, edges)
