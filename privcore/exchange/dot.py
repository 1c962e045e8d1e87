"""True graphs from files, DOT among them.

Reads the directed edges of a DOT file.

The maintained library takes a second for some files of 1 kB, so this module has a parser of its
own, which reads every character once.

Reads a true graph from an edge list or from a DOT, GraphML, BIF or Tetrad file.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import networkx as nx

from privcore.errors import DataError
from privcore.exchange.texts import TETRAD_HEAD, bif_edges, from_tetrad
from privcore.graphs.pdag import MARKS, PAG
from privcore.text import short

# Possessive, so that nothing is read twice.  A number must end where a word begins: `1a`
# would be two names.
_TOKEN = re.compile(
    r"""
    (?P<space> \s++ | //[^\n]*+ | /\*.*?\*/ | ^\#[^\n]*+ )
    | (?P<quoted> "(?:[^"\\]|\\.)*+" )
    | (?P<word> [^\W\d]\w*+ | -?(?:\d++(?:\.\d*+)?|\.\d++)(?![\w.]) )
    | (?P<mark> -> | -- | [{}\[\];,=:+<] )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


class _Token(NamedTuple):
    """A token of the file; kind: "word", "quoted" or "mark", and "end" after the last token."""

    kind: str
    text: str

    def means(self, *words: str) -> bool:
        """Whether the token is one of these keywords, in upper or lower case."""
        return self.kind == "word" and self.text.lower() in words


def edges_of_dot(text: str, known: Collection[str]) -> list[tuple[str, str]]:
    """Edges (cause, effect) of one digraph, including its subgraphs.

    known: the column names. If a node's name is not a column but its label is, the node stands for
    the column in its label. Raises DataError if the text is not a digraph, or has edges without a
    single direction.
    """
    edges, labels = _Reader(text).graph()

    def column(node: str) -> str:
        return node if node in known or labels.get(node) not in known else labels[node]

    return [(column(cause), column(effect)) for cause, effect in edges]


class _Reader:
    """A recursive-descent parser of the DOT grammar with one token of look-ahead."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._next = next(self._tokens)

    def graph(self) -> tuple[list[tuple[str, str]], dict[str, str]]:
        """Parses the digraph; returns its edges and the label of each labelled node."""
        if self._next.means("strict"):
            self._step()
        if self._next.means("graph"):
            raise DataError("dot-graph-undirected")
        if not self._next.means("digraph"):
            raise _unreadable()
        self._step()
        if self._next.kind != "mark":
            self._name()
        self._need("{")
        edges: list[tuple[str, str]] = []
        labels: dict[str, str] = {}
        # Default direction of edges: of the graph, and of each enclosing subgraph.
        usual = ["forward"]
        while usual:
            if self._take("}"):
                usual.pop()
                self._refuse_group("->", "--")
            elif self._take("{"):
                usual.append(usual[-1])
            elif self._next.means("subgraph"):
                self._step()
                if self._next != ("mark", "{"):
                    self._name()
                self._need("{")
                usual.append(usual[-1])
            elif self._next.means("graph", "node", "edge"):
                of_edges = self._step().means("edge")
                attributes = self._attributes()
                usual[-1] = attributes.get("dir", usual[-1]) if of_edges else usual[-1]
            elif not self._take(";"):
                self._statement(usual[-1], edges, labels)
        if self._next.kind != "end":
            raise _unreadable()
        return edges, labels

    def _statement(self, usual: str, edges: list[tuple[str, str]], labels: dict[str, str]) -> None:
        """Parses a node, a path of edges, or a setting of the graph."""
        path = [self._name()]
        if self._take("="):
            self._name()
            return
        self._skip_port()
        while self._take("->"):
            self._refuse_group("{")
            path.append(self._name())
            self._skip_port()
        if self._next == ("mark", "--"):
            raise _undirected()
        attributes = self._attributes()
        if len(path) == 1:
            labels |= {path[0]: attributes["label"]} if "label" in attributes else {}
            return
        direction = attributes.get("dir", usual)
        if direction not in ("forward", "back"):
            raise _undirected()
        steps = pairwise(path)
        edges += steps if direction == "forward" else ((b, a) for a, b in steps)

    def _attributes(self) -> dict[str, str]:
        """The attributes in brackets, by name; empty if there are none."""
        attributes = {}
        while self._take("["):
            while not self._take("]"):
                name = self._name()
                self._need("=")
                attributes[name] = self._name()
                if not self._take(","):
                    self._take(";")
        return attributes

    def _skip_port(self) -> None:
        """Skip a port, the point where an edge meets its node; ports do not matter for causes."""
        while self._take(":"):
            self._name()

    def _name(self) -> str:
        if self._next.means("strict", "graph", "digraph", "node", "edge", "subgraph"):
            self._refuse_group("subgraph")
            raise _unreadable()
        token = self._step()
        if token.kind == "word":
            return token.text
        if token.kind != "quoted":
            raise _unreadable()
        parts = [token.text]
        while self._take("+"):
            if self._next.kind != "quoted":
                raise _unreadable()
            parts.append(self._step().text)
        return "".join(parts)

    def _refuse_group(self, *marks: str) -> None:
        if self._next.text.lower() in marks and self._next.kind != "quoted":
            raise DataError("edges-between-groups")

    def _step(self) -> _Token:
        token = self._next
        if token.kind == "end":
            raise _unreadable()
        self._next = next(self._tokens)
        return token

    def _take(self, mark: str) -> bool:
        """Whether the next token is this mark; if so, it is consumed."""
        if self._next != ("mark", mark):
            return False
        self._step()
        return True

    def _need(self, mark: str) -> None:
        if not self._take(mark):
            raise _unreadable()


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _unreadable()
        at, kind, content = match.end(), str(match.lastgroup), match.group()
        if content == "<":
            at = _html_end(text, at)
            yield _Token("word", text[match.start() : at])
        elif kind == "quoted":
            inside = content[1:-1].replace("\\\n", "")
            yield _Token(kind, re.sub(r'\\(["\\])', r"\1", inside))
        elif kind != "space":
            yield _Token(kind, content)
    yield _Token("end", "")


def _html_end(text: str, at: int) -> int:
    """End of a text in angle brackets, which may be nested."""
    depth = 1
    for bracket in re.compile("[<>]").finditer(text, at):
        depth += 1 if bracket.group() == "<" else -1
        if depth == 0:
            return bracket.end()
    raise _unreadable()


def _unreadable() -> DataError:
    return DataError("one-digraph")


def _undirected() -> DataError:
    return DataError("dot-graph-undirected-edges")


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
        raise DataError("graph-file-more-than-5-mb")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("graph-file-not-utf-8-text") from None
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
        raise DataError("no-edge-named")
    for cause, effect in edges:
        for name in (cause, effect):
            if name not in known:
                raise DataError("graph-names-no-column", name=short(name))
        if cause == effect:
            raise DataError("edge-to-itself", node=short(cause))
    graph = nx.DiGraph(edges)
    if not nx.is_directed_acyclic_graph(graph):
        raise DataError("graph-directed-cycle")
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
            raise DataError("line-is-no-edge", line=number)
        # A name may contain any of the delimiters, so the known names decide how a line is split.
        path, note = next((r for r in readings if known.issuperset(r[0])), readings[0])
        is_header = first and path[0].lower() in ("source", "from", "cause")
        first = False
        if is_header and path[0] not in known:
            continue
        if note == "undirected":
            raise DataError("line-is-undirected", line=number)
        if note in MARKS and note != "directed":
            raise DataError("line-of-graph-file-edge-but", number=number, note=note)
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
        raise DataError("graphml-entities")
    try:
        graph = nx.parse_graphml(text)
    except Exception:  # malformed XML and GraphML raise many types
        raise DataError("graphml-file-cannot-read") from None
    # CausalVeil's own exports mark the undirected edges of a CPDAG.
    kinds = {data.get("kind") for _, _, data in graph.edges(data=True)}
    if not graph.is_directed() or "undirected" in kinds:
        raise DataError("graphml-graph-undirected")
    if kinds & (MARKS.keys() - {"directed"}):
        raise DataError("graphml-graph-edges-circle-two-arrowheads")
    label = {}
    for node, data in graph.nodes(data=True):
        titles = [str(data[key]) for key in ("label", "name") if key in data]
        label[node] = next((t for t in (*titles, node) if t in known), (*titles, node)[0])
    return [(label[a], label[b]) for a, b in graph.edges()]


def _from_tetrad(text: str) -> list[tuple[str, str]]:
    graph = from_tetrad(text)
    if isinstance(graph, PAG):
        raise DataError("tetrad-graph-partial-ancestral-graph-but")
    if graph.undirected or graph.bidirected:
        raise DataError("tetrad-graph-undirected-edges")
    return graph.named_directed()
