"""The partially directed graph, which is the result of constraint-based discovery."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

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
                raise DataError(
                    f"An edge names {short(name)!r}, which is not a column; correct the name."
                )
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

    def named_bidirected(self) -> list[tuple[str, str]]:
        """The bidirected edges as pairs of names, sorted by position."""
        return [(self.nodes[i], self.nodes[j]) for i, j in sorted(self.bidirected)]


def ordered(i: int, j: int) -> Edge:
    """The pair with the smaller index first."""
    return (i, j) if i < j else (j, i)
