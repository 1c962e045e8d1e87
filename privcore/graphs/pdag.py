"""Graphs of causal discovery: PDAGs and PAGs, by index, by name and as JSON.

The partially directed graph, which is the result of constraint-based discovery.

The partial ancestral graph: the result of discovery that allows unobserved confounders.

Builds graphs from named nodes and edges, and states every error in a sentence.

Graphs as JSON-ready data, as certificates, release files and reports hold them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from privcore.errors import DataError
from privcore.naming import quoted
from privcore.text import short

Edge = tuple[int, int]
Kind = Literal[
    "directed",
    "undirected",
    "bidirected",
    "partially_directed",
    "nondirected",
    "partially_undirected",
]
# An edge as read from its first node to its second; a circle is a tail or an arrowhead.
MARKS: dict[Kind, str] = {
    "directed": "->",
    "undirected": "--",
    "bidirected": "<->",
    "partially_directed": "o->",
    "nondirected": "o-o",
    "partially_undirected": "o--",
}
# The same marks as shown to a reader.
SIGNS: dict[Kind, str] = {
    "directed": "→",
    "undirected": "–",
    "bidirected": "↔",
    "partially_directed": "o→",
    "nondirected": "o–o",
    "partially_undirected": "o–",
}
# The marks of a pair in either order, as `PDAG.mark` states them, as signs.
MARK_SIGNS = {
    "->": "→",
    "<-": "←",
    "--": "—",
    "<->": "↔",
    "o->": "o→",
    "<-o": "←o",
    "o-o": "o–o",
    "o--": "o–",
    "--o": "–o",
}
_BACKWARD = {"->": "<-", "o->": "<-o", "o--": "--o"}


@dataclass(frozen=True)
class PDAG:
    """A graph of directed and undirected edges over named nodes, such as a CPDAG.

    Observations alone determine a DAG only up to its Markov equivalence class: all DAGs with the
    same skeleton and v-structures (Verma & Pearl 1990).  A CPDAG represents the class.  An edge of
    the CPDAG is directed if it has the same direction in every DAG of the class.

    directed: pairs (i, j) for i → j.  undirected, bidirected: pairs (i, j) with i < j.  All pairs
    are indices into `nodes`.  A bidirected edge marks v-structures that contradict each other; a
    CPDAG has no bidirected edge.  Raises ValueError for other pairs, and if two edges join the same
    pair.

    Example: rain and sprinkler form a v-structure; the edge clouds – rain has no direction.

        >>> names = ("clouds", "rain", "sprinkler", "wet")
        >>> arrows = [("rain", "wet"), ("sprinkler", "wet")]
        >>> graph = PDAG.from_names(names, arrows, undirected=[("clouds", "rain")])
        >>> graph.named_undirected(), sorted(graph.skeleton)
        ([('clouds', 'rain')], [(0, 1), (1, 3), (2, 3)])
    """

    nodes: tuple[str, ...]
    directed: frozenset[Edge] = frozenset()
    undirected: frozenset[Edge] = frozenset()
    bidirected: frozenset[Edge] = frozenset()

    def __post_init__(self) -> None:
        p = len(self.nodes)
        for i, j in self._edges:
            if not (0 <= i < p and 0 <= j < p) or i == j:
                raise ValueError(f"({i}, {j}) is not a pair of different indices below {p}")
        alike = [pairs for kind, pairs in self.by_kind.items() if MARKS[kind] not in _BACKWARD]
        if any(i > j for i, j in frozenset().union(*alike)):
            raise ValueError("an edge with equal marks must be stored with the smaller index first")
        if len(self.skeleton) != sum(map(len, self.by_kind.values())):
            raise ValueError("a pair of nodes has more than one edge")

    @classmethod
    def complete(cls, nodes: Sequence[str]) -> PDAG:
        """The complete undirected graph over these nodes."""
        p = len(nodes)
        return cls(
            tuple(nodes), undirected=frozenset((i, j) for i in range(p) for j in range(i + 1, p))
        )

    @classmethod
    def from_names(
        cls,
        nodes: Sequence[str],
        directed: Iterable[tuple[str, str]] = (),
        undirected: Iterable[tuple[str, str]] = (),
        bidirected: Iterable[tuple[str, str]] = (),
    ) -> PDAG:
        """A graph from edges between names; raises DataError for a name that is not a node."""
        index = {name: i for i, name in enumerate(nodes)}

        def find(name: str) -> int:
            if name not in index:
                raise DataError("edge-names-no-column", name=short(name))
            return index[name]

        arrows = frozenset((find(a), find(b)) for a, b in directed)
        lines, both = (
            frozenset(ordered(find(a), find(b)) for a, b in edges)
            for edges in (undirected, bidirected)
        )
        return cls(tuple(nodes), arrows, lines, both)

    @property
    def by_kind(self) -> dict[Kind, frozenset[Edge]]:
        """All edges, by kind."""
        return {
            "directed": self.directed,
            "undirected": self.undirected,
            "bidirected": self.bidirected,
        }

    @property
    def _edges(self) -> frozenset[Edge]:
        return frozenset().union(*self.by_kind.values())

    @property
    def skeleton(self) -> frozenset[Edge]:
        """Adjacent pairs (i, j) with i < j."""
        return frozenset(ordered(i, j) for i, j in self._edges)

    def adjacent(self, node: int) -> set[int]:
        """The neighbours of a node, by any kind of edge."""
        return {i + j - node for i, j in self._edges if node in (i, j)}

    def near(self, node: int) -> Self:
        """The graph with the edges of a node alone, and the arrows into its effects.

        These are the edges of its Markov blanket: what is linked with the node, and what is only
        linked with it given one of its effects.
        """
        effects = {j for i, j in self.directed if i == node}
        kept: dict[str, frozenset[Edge]] = {
            kind: frozenset(
                (i, j) for i, j in pairs if node in (i, j) or (kind == "directed" and j in effects)
            )
            for kind, pairs in self.by_kind.items()
        }
        return type(self)(self.nodes, **kept)

    def mark(self, i: int, j: int) -> str | None:
        """The edge as read from i to j, such as "->" or "<-"; None if i and j are not adjacent."""
        for kind, pairs in self.by_kind.items():
            if (i, j) in pairs:
                return MARKS[kind]
            if (j, i) in pairs:
                return _BACKWARD.get(MARKS[kind], MARKS[kind])
        return None

    def named_edges(self) -> list[tuple[str, str, Kind]]:
        """The edges as (from, to, kind), sorted by kind and then by position."""
        return [
            (self.nodes[i], self.nodes[j], kind)
            for kind, pairs in self.by_kind.items()
            for i, j in sorted(pairs)
        ]

    def lines(self) -> list[str]:
        """A line of text for each edge, such as "smoke -> lung"; names as from `quoted`."""
        return [f"{quoted(a)} {MARKS[kind]} {quoted(b)}" for a, b, kind in self.named_edges()]

    def named_directed(self) -> list[tuple[str, str]]:
        """The directed edges as (cause, effect), sorted by position."""
        return [(self.nodes[i], self.nodes[j]) for i, j in sorted(self.directed)]

    def named_undirected(self) -> list[tuple[str, str]]:
        """The undirected edges as pairs of names, sorted by position."""
        return [(self.nodes[i], self.nodes[j]) for i, j in sorted(self.undirected)]


def ordered(i: int, j: int) -> Edge:
    """The pair with the smaller index first."""
    return (i, j) if i < j else (j, i)


# The mark at one end of an edge: a tail, an arrowhead, or a circle.
End = Literal["-", ">", "o"]
_BY_ENDS: dict[tuple[str, str], Kind] = {
    (mark[0].replace("<", ">"), mark[-1]): kind for kind, mark in MARKS.items()
}


@dataclass(frozen=True)
class PAG(PDAG):
    """A Markov equivalence class of graphs with unobserved confounders and selection variables.

    The class contains all maximal ancestral graphs that imply the same independences (Richardson &
    Spirtes 2002; Zhang 2008).  i → j: i is a cause of j, directly or indirectly.  i ↔ j:
    neither causes the other, so i and j share an unobserved confounder.  i – j: both cause a
    variable by which the rows are selected.  A circle is a tail in some members of the class and an
    arrowhead in others.

    Edges are stored as in `PDAG`.  partially_directed: (i, j) for i o→ j.  nondirected: (i, j),
    i < j, for i o–o j.  partially_undirected: (i, j) for i o– j.

    Example: a and b share an unobserved confounder; b and c may share one.

        >>> graph = PAG.from_ends(("a", "b", "c"), {(0, 1): (">", ">"), (1, 2): ("o", ">")})
        >>> graph.mark(0, 1), graph.mark(2, 1), graph.mark(0, 2)
        ('<->', '<-o', None)
    """

    partially_directed: frozenset[Edge] = frozenset()
    nondirected: frozenset[Edge] = frozenset()
    partially_undirected: frozenset[Edge] = frozenset()

    @classmethod
    def from_ends(cls, nodes: tuple[str, ...], ends: Mapping[Edge, tuple[End, End]]) -> PAG:
        """A PAG from the marks at i and at j of each pair (i, j).

        Raises ValueError for marks other than "-", ">" and "o".
        """
        kinds: dict[str, set[Edge]] = {kind: set() for kind in MARKS}
        for pair, marks in ends.items():
            kind, turned = kind_of_ends(*marks)
            i, j = pair[::-1] if turned else pair
            kinds[kind].add(ordered(i, j) if marks[0] == marks[1] else (i, j))
        return cls(nodes, **{kind: frozenset(pairs) for kind, pairs in kinds.items()})

    @property
    def by_kind(self) -> dict[Kind, frozenset[Edge]]:
        """All edges, by kind."""
        return {
            **super().by_kind,
            "partially_directed": self.partially_directed,
            "nondirected": self.nondirected,
            "partially_undirected": self.partially_undirected,
        }

    def end(self, i: int, j: int) -> End | None:
        """The mark at j of the edge between i and j; None if they are not adjacent."""
        mark = self.mark(i, j)
        return None if mark is None else _END[mark[-1]]


def kind_of_ends(first: End, second: End) -> tuple[Kind, bool]:
    """The kind of an edge with these marks, and whether it is stored in reverse.

    Raises ValueError for marks other than "-", ">" and "o".
    """
    for marks, turned in (((first, second), False), ((second, first), True)):
        if marks in _BY_ENDS:
            return _BY_ENDS[marks], turned
    raise ValueError(f"the ends of an edge are {(first, second)!r}; they must be '-', '>' or 'o'")


_END: dict[str, End] = {"-": "-", ">": ">", "o": "o"}


NamedEdge = tuple[str, str, Kind]


def build_graph(nodes: Iterable[str], edges: Iterable[NamedEdge], *, pag: bool = False) -> PDAG:
    """Build a graph with these nodes, followed by any further nodes that the edges name.

    The result is a `PAG` if an edge has a circle, or if `pag` is true.  Raises DataError if two
    nodes have the same name, if an edge joins a node to itself, or if two different edges join the
    same pair.
    """
    named = list(nodes)
    twice = next((name for name, times in Counter(named).items() if times > 1), None)
    if twice is not None:
        raise DataError("two-nodes-of-one-name", twice=short(twice))
    known = dict.fromkeys(named)
    kinds: dict[frozenset[str], NamedEdge] = {}
    for a, b, kind in edges:
        known |= {a: None, b: None}
        if a == b:
            raise DataError("edge-to-itself", node=short(a))
        if kinds.setdefault(frozenset((a, b)), (a, b, kind)) != (a, b, kind):
            raise DataError("two-edges-between", a=short(a), b=short(b))
    nodes = tuple(known)
    place = {name: i for i, name in enumerate(nodes)}
    of_kind: dict[Kind, set[tuple[int, int]]] = {kind: set() for kind in MARKS}
    for a, b, kind in kinds.values():
        pair = place[a], place[b]
        one_way = kind in ("directed", "partially_directed", "partially_undirected")
        of_kind[kind].add(pair if one_way else ordered(*pair))
    circles = pag or any(pairs for kind, pairs in of_kind.items() if "o" in MARKS[kind])
    chosen = {kind: frozenset(pairs) for kind, pairs in of_kind.items()}
    if circles:
        return PAG(nodes, **chosen)
    return PDAG(nodes, chosen["directed"], chosen["undirected"], chosen["bidirected"])


# One (x, y) for each node; y increases downwards.
Positions = tuple[tuple[float, float], ...]


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
