"""The partial ancestral graph: the result of discovery that allows unobserved confounders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from privcore.graphs.pdag import MARKS, PDAG, Edge, Kind, ordered

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
