"""Reads the directed edges of a DOT file.

The maintained library takes a second for some files of 1 kB, so this module has a parser of its
own, which reads every character once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import NamedTuple

from privcore.errors import DataError

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
            raise DataError("The DOT graph is undirected; write digraph, and edges with ->.")
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
            raise DataError("The DOT graph has edges between groups; write one edge per line.")

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
    return DataError("The DOT file cannot be read; it must contain exactly one digraph.")


def _undirected() -> DataError:
    return DataError("The DOT graph has undirected edges; give every edge a direction.")
