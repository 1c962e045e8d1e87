"""Converts graphs to and from the texts of DAGitty, Tetrad, GML (DoWhy), BIF and JSON.

The readers take linear time: they read each character at most a few times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import networkx as nx

from privcore.errors import DataError
from privcore.exchange.objects import edge_of_ends, from_networkx
from privcore.graphs.pdag import MARKS, PAG, PDAG, End, NamedEdge, build_graph
from privcore.strict_json import JsonFault, read_json
from privcore.text import short

_DAGITTY_MARKS = {kind: mark.replace("o", "@") for kind, mark in MARKS.items()}
_DAGITTY_HEADS = ("dag", "pdag", "mag", "pag")
_END: dict[str, End] = {"-": "-", "<": ">", ">": ">", "@": "o", "o": "o"}
_DAGITTY_TOKEN = re.compile(
    r"""
    (?P<space> \s++ )
    | (?P<quoted> "(?:[^"\\]|\\"|\\)*+" )
    | (?P<arrow> <-> | @-> | <-@ | @-@ | @-- | --@ | -> | <- | -- )
    | (?P<word> [\w.]++ )
    | (?P<mark> [{}\[\];,=+] )
    """,
    re.VERBOSE,
)
_TETRAD_MARKS = {**MARKS, "directed": "-->", "undirected": "---"}
_TETRAD_EDGE = re.compile(r"\s([<o-]-[->o])\s")
TETRAD_HEAD = "Graph Nodes:"
_BIF_NAME = re.compile(r"[\w.-]+")
# Neither reads a character twice: an unclosed comment extends to the end of the file, and a list
# of names ends at a parenthesis outside quotes.
_BIF_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*+", re.DOTALL)
_BIF_NAMES = r'((?:"[^"]*+"|[^"|()])++)'
_BIF_PARENTS = re.compile(rf"probability\s*+\({_BIF_NAMES}\|{_BIF_NAMES}\)")
_BIF_VARIABLE = re.compile(r'\bvariable\s++("[^"]*+"|[^\s"{}()|,;]++)\s*+\{')


def to_dagitty(graph: PDAG) -> str:
    """The graph as DAGitty's text: a `dag`, a `pdag` if an edge has no direction, or a `pag`.

    Example:
        >>> chain = PDAG(("a", "b", "c"), frozenset({(0, 1)}), frozenset({(1, 2)}))
        >>> print(to_dagitty(chain), end="")
        pdag {
        "a"
        "b"
        "c"
        "a" -> "b"
        "b" -- "c"
        }
    """
    for name in graph.nodes:
        if "\\" in name or not name.isprintable():
            raise _unwritable("DAGitty", name, "a backslash or an unprintable character")
    quoted = {name: '"' + name.replace('"', '\\"') + '"' for name in graph.nodes}
    lines = [
        f"{quoted[a]} {_DAGITTY_MARKS[kind]} {quoted[b]}" for a, b, kind in graph.named_edges()
    ]
    head = "pag" if isinstance(graph, PAG) else "pdag" if graph.undirected else "dag"
    return "\n".join([f"{head} {{", *quoted.values(), *lines, "}", ""])


def from_dagitty(text: str) -> PDAG:
    """Read a graph from DAGitty's text; a `mag` or a `pag` becomes a `PAG`.

    Attributes in brackets (positions, roles) are ignored.
    """
    head, nodes, edges = dagitty_parts(text)
    for a, b, kind in edges if head in ("dag", "pdag") else ():
        if kind == "bidirected":
            raise DataError("name-that-cause", a=short(a), b=short(b))
    return build_graph(nodes, edges, pag=head in ("mag", "pag"))


def dagitty_parts(text: str) -> tuple[str, dict[str, set[str]], list[NamedEdge]]:
    """The first word of DAGitty's text, the nodes with their roles, and the edges.

    A role is an attribute without a value, such as `latent`.
    """
    tokens = _dagitty_tokens(text)
    begin, head = next(tokens)
    if begin != "word" or head not in _DAGITTY_HEADS:
        raise DataError("begin-with-dag")
    token = next(tokens)
    if token[0] in ("word", "quoted"):
        token = next(tokens)
    if token != ("mark", "{"):
        raise _unreadable("DAGitty")
    nodes: dict[str, set[str]] = {}
    edges: list[NamedEdge] = []
    path: list[list[str]] = []
    marks: list[str] = []
    token = next(tokens)
    while token != ("mark", "}"):
        kind, value = token
        token = next(tokens)
        if kind == "arrow":
            if len(path) != len(marks) + 1:
                raise _unreadable("DAGitty")
            marks.append(value)
        elif (kind, value) == ("mark", "["):
            while token != ("mark", "]"):
                if token[0] == "end":
                    raise _unreadable("DAGitty")
                (kind, value), token = token, next(tokens)
                if token == ("mark", "="):
                    next(tokens)
                    token = next(tokens)
                elif kind == "word" and path and path[-1]:
                    nodes[path[-1][-1]].add(value)
            token = next(tokens)
        elif kind in ("word", "quoted") and token == ("mark", "="):
            # A setting of the whole graph, such as its bounding box.
            next(tokens)
            token = next(tokens)
        elif kind in ("word", "quoted") or (kind, value) == ("mark", "{"):
            group = [value] if kind != "mark" else []
            while kind == "mark" and token[0] in ("word", "quoted"):
                group.append(token[1])
                token = next(tokens)
            if kind == "mark":
                if token != ("mark", "}"):
                    raise _unreadable("DAGitty")
                token = next(tokens)
            if len(path) > len(marks):
                edges += _dagitty_edges(path, marks, head)
                path, marks = [], []
            for name in group:
                nodes.setdefault(name, set())
            path.append(group)
        elif (kind, value) != ("mark", ";"):
            raise _unreadable("DAGitty")
    if next(tokens)[0] != "end" or len(path) != len(marks) + bool(path):
        raise _unreadable("DAGitty")
    edges += _dagitty_edges(path, marks, head)
    return head, nodes, edges


def _dagitty_edges(path: list[list[str]], marks: list[str], head: str) -> Iterator[NamedEdge]:
    for mark, (left, right) in zip(marks, pairwise(path), strict=True):
        for a, b in product(left, right):
            if "@" in mark and head != "pag":
                raise DataError("begin-with-pag")
            yield edge_of_ends(a, b, _END[mark[0]], _END[mark[-1]])


def _dagitty_tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        match = _DAGITTY_TOKEN.match(text, at)
        if match is None:
            raise _unreadable("DAGitty")
        at, kind, token = match.end(), str(match.lastgroup), match.group()
        if kind == "quoted":
            yield kind, token[1:-1].replace('\\"', '"')
        elif kind != "space":
            yield kind, token
    # Further calls return the same token.
    while True:
        yield "end", ""


def to_tetrad(graph: PDAG) -> str:
    """The graph as Tetrad's text, which causal-learn also writes and reads.

    Example:
        >>> print(to_tetrad(PDAG(("a", "b"), undirected=frozenset({(0, 1)}))), end="")
        Graph Nodes:
        a;b
        <BLANKLINE>
        Graph Edges:
        1. a --- b
    """
    for name in graph.nodes:
        if not name or not name.isprintable() or any(c.isspace() or c in ";," for c in name):
            raise _unwritable("Tetrad", name, "blanks, commas or semicolons")
    edges = []
    for number, (a, b, kind) in enumerate(graph.named_edges(), start=1):
        if kind == "partially_undirected":
            # causal-learn reads this edge only from its tail to its circle.
            edges.append(f"{number}. {b} --o {a}")
        else:
            edges.append(f"{number}. {a} {_TETRAD_MARKS[kind]} {b}")
    return "\n".join([TETRAD_HEAD, ";".join(graph.nodes), "", "Graph Edges:", *edges, ""])


def from_tetrad(text: str) -> PDAG:
    """Read a graph from Tetrad's text, ignoring attributes and bootstrap probabilities of edges.

    The result is a `PAG` if an edge has a circle; the text has no other way to declare a PAG.
    """
    head, edges_head, rest = text.lstrip("\ufeff").partition("Graph Edges:")
    listed = head.strip().removeprefix(TETRAD_HEAD).strip()
    if not edges_head or listed == head.strip():
        raise DataError("tetrad-text-lines-graph-edges", tetrad_head=TETRAD_HEAD)
    nodes = [name.strip() for name in listed.split(";" if ";" in listed else ",")]
    known, edges = set(nodes), []
    for line in rest.strip().splitlines():
        number, _, edge = line.strip().partition(". ")
        if not number.isdecimal():
            break  # A blank line ends the edges; attributes may follow.
        parts = _TETRAD_EDGE.split(edge, maxsplit=2)
        if len(parts) != 3:
            raise _unreadable("Tetrad")
        a, mark, b = parts[0].strip(), parts[1], parts[2].strip()
        b = b if b in known else b.split(maxsplit=1)[0]
        for name in (a, b):
            if name not in known:
                raise _stranger(name)
        edges.append(edge_of_ends(a, b, _END[mark[0]], _END[mark[2]]))
    return build_graph(filter(None, nodes), edges)


def to_gml(graph: PDAG) -> str:
    """The graph as GML in the form that DoWhy's `CausalModel` reads.

    Characters other than English letters, digits and blanks are written as character codes, because
    DoWhy looks for words such as ".dot" in the text to choose the format.

    Example:
        >>> print(to_gml(PDAG(("a", "b"), directed=frozenset({(0, 1)}))), end="")
        graph [
          directed 1
          node [ id 0 label "a" ]
          node [ id 1 label "b" ]
          edge [ source 0 target 1 ]
        ]
    """
    lines = []
    for i, name in enumerate(graph.nodes):
        if name in ("()", "[]"):
            raise _unwritable("GML", name, "only a pair of brackets")
        label = re.sub(r"[^A-Za-z0-9_ ]", lambda c: f"&#{ord(c.group())};", name)
        lines.append(f'  node [ id {i} label "{label}" ]')
    lines += [f"  edge [ source {i} target {j} ]" for i, j in sorted(graph.directed)]
    return "\n".join(["graph [", "  directed 1", *lines, "]", ""])


def from_gml(text: str) -> PDAG:
    """Read a graph from GML; edges are undirected if the text does not have `directed 1`."""
    try:
        network = nx.parse_gml(text)
    except Exception:  # malformed GML raises many types
        raise _unreadable("GML") from None
    return from_networkx(network)


def to_bif(graph: PDAG) -> str:
    """The graph as the structure of a Bayesian network in BIF.

    A graph has no levels or probabilities, so every variable has one level with probability 1.
    Fit the network to data before use.
    """
    lower: dict[str, str] = {}
    for name in graph.nodes:
        if not _BIF_NAME.fullmatch(name):
            raise _unwritable("BIF", name, "characters other than letters, digits, dots, - and _")
        if lower.setdefault(name.lower(), name) != name:
            raise DataError(
                "readers-of-bif-confuse", name=short(name), lower=short(lower[name.lower()])
            )
    parents: dict[str, list[str]] = {name: [] for name in graph.nodes}
    for cause, effect in graph.named_directed():
        parents[effect].append(cause)
    lines = ["network unknown {", "}"]
    for name in graph.nodes:
        lines += [f"variable {name} {{", "  type discrete [ 1 ] { any };", "}"]
    for name, causes in parents.items():
        condition = f" | {', '.join(causes)}" if causes else ""
        lines += [f"probability ( {name}{condition} ) {{", "  table 1.0;", "}"]
    return "\n".join([*lines, ""])


def from_bif(text: str) -> PDAG:
    """Read a graph from BIF; levels and probabilities are ignored."""
    plain = _BIF_COMMENT.sub("", text)
    nodes = [_bare(name) for name in _BIF_VARIABLE.findall(plain)]
    if not nodes:
        raise _unreadable("BIF")
    return build_graph(nodes, ((a, b, "directed") for a, b in bif_edges(text)))


def bif_edges(text: str) -> list[tuple[str, str]]:
    """The edges (parent, child) of a BIF text, from every "probability ( child | parents )".

    No library is used: the maintained readers of BIF come with modelling libraries of several
    hundred MB, and reading the structure needs only one pattern.
    """
    edges = []
    for child, parents in _BIF_PARENTS.findall(_BIF_COMMENT.sub("", text)):
        edges += [(_bare(parent), _bare(child)) for parent in parents.split(",")]
    return edges


def from_json(text: str) -> PDAG:
    """Read a graph from JSON in the form of `to_json_dict`.

    The result is a `PAG` if there is a key for edges with circles.  Positions are ignored.

    Example:
        >>> from_json('{"nodes": ["a", "b"], "nondirected": [["a", "b"]]}').mark(0, 1)
        'o-o'
    """
    try:
        document = read_json(text)
    except JsonFault as fault:
        raise DataError("json-graph-damaged", fault=fault) from None
    if not isinstance(document, dict) or "nodes" not in document:
        raise DataError("json-without-nodes")
    strange = next((key for key in document if key not in (*MARKS, "nodes", "positions")), None)
    if strange is not None:
        raise DataError("json-graph-unknown-key", strange=short(strange), choices=", ".join(MARKS))
    nodes = document["nodes"]
    if not isinstance(nodes, list) or not all(isinstance(name, str) for name in nodes):
        raise DataError("json-nodes-are-names")
    known, edges = set(nodes), list[NamedEdge]()
    for kind in MARKS:
        pairs = document.get(kind, [])
        if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
            raise DataError("json-edges-are-pairs", kind=kind)
        for a, b in pairs:
            edges.append((a, b, kind))
            for name in (a, b):
                if name not in known:
                    raise _stranger(name)
    return build_graph(
        nodes, edges, pag=any("o" in MARKS[kind] for kind in MARKS if kind in document)
    )


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and all(isinstance(end, str) for end in value)
    )


def _stranger(name: str) -> DataError:
    return DataError("no-node-of-edge", name=short(name))


def _bare(name: str) -> str:
    return name.strip().strip('"')


def _unwritable(title: str, name: str, what: str) -> DataError:
    return DataError("names-not-allowed-in-format", title=title, what=what, name=short(name))


def _unreadable(title: str) -> DataError:
    return DataError("text-cannot-read", title=title)
