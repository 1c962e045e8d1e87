"""The partially directed graph: what constraint-based discovery returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from privcore.errors import DataError
from privcore.text import short

Edge = tuple[int, int]
Mark = Literal["->", "<-", "--"]


@dataclass(frozen=True)
class PDAG:
    """Directed and undirected edges over named nodes; a CPDAG when orientation made it.

    directed: pairs (i, j) for i → j; undirected: pairs (i, j) with i < j.  Indices into `nodes`.
    A pair of nodes has at most one edge.  Raises ValueError otherwise.
    """

    nodes: tuple[str, ...]
    directed: frozenset[Edge] = frozenset()
    undirected: frozenset[Edge] = frozenset()

    def __post_init__(self) -> None:
        p = len(self.nodes)
        for i, j in self.directed | self.undirected:
            if not (0 <= i < p and 0 <= j < p) or i == j:
                raise ValueError(f"({i}, {j}) is not a pair of two of {p} nodes")
        if any(i > j for i, j in self.undirected):
            raise ValueError("undirected edges are stored with the smaller index first")
        if len(self.skeleton) != len(self.directed) + len(self.undirected):
            raise ValueError("a pair of nodes has more than one edge")

    @classmethod
    def complete(cls, nodes: Sequence[str]) -> PDAG:
        """Every pair adjacent, nothing directed."""
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
    ) -> PDAG:
        """From edges between names; raises DataError for a name that is not a node."""
        index = {name: i for i, name in enumerate(nodes)}

        def find(name: str) -> int:
            if name not in index:
                raise DataError(f"The graph names {short(name)!r}, which is not a column.")
            return index[name]

        arrows = frozenset((find(a), find(b)) for a, b in directed)
        lines = frozenset(ordered(find(a), find(b)) for a, b in undirected)
        return cls(tuple(nodes), arrows, lines)

    @property
    def skeleton(self) -> frozenset[Edge]:
        """Adjacent pairs (i, j) with i < j."""
        return frozenset(ordered(i, j) for i, j in self.directed) | self.undirected

    def adjacent(self, node: int) -> set[int]:
        """The neighbours of a node, whatever the edge."""
        return {i + j - node for i, j in self.directed | self.undirected if node in (i, j)}

    def mark(self, i: int, j: int) -> Mark | None:
        """The edge between i and j as read from i to j, or None."""
        if (i, j) in self.directed:
            return "->"
        if (j, i) in self.directed:
            return "<-"
        return "--" if ordered(i, j) in self.undirected else None

    def named_directed(self) -> list[tuple[str, str]]:
        """(cause, effect), sorted by position."""
        return [(self.nodes[i], self.nodes[j]) for i, j in sorted(self.directed)]

    def named_undirected(self) -> list[tuple[str, str]]:
        """Pairs whose direction is open, sorted by position."""
        return [(self.nodes[i], self.nodes[j]) for i, j in sorted(self.undirected)]


def ordered(i: int, j: int) -> Edge:
    """The pair with the smaller index first."""
    return (i, j) if i < j else (j, i)
