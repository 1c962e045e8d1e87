"""The partial ancestral graph: what can be told where causes may be hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from privcore.graphs.pdag import PDAG, Edge, ordered

End = Literal["-", ">", "o"]
_FORWARD: dict[End, str] = {"-": "-", ">": ">", "o": "o"}
_BACKWARD: dict[End, str] = {"-": "-", ">": "<", "o": "o"}


@dataclass(frozen=True)
class PAG:
    """Edges over named nodes whose two ends are a tail, an arrowhead or a circle.

    It draws all graphs with hidden common causes (and selection) that imply the same
    independences (Richardson & Spirtes 2002; Zhang 2008).  i → j: i causes j.  i ↔ j: neither
    causes the other, so that a cause of both is hidden.  A circle: both are possible.

    ends: by pair (i, j) with i < j, the mark at i and the mark at j.  Indices into `nodes`.
    Raises ValueError for anything else.

    Example: whether b causes c or a hidden cause joins them is open; a does not cause d.

        >>> graph = PAG(("a", "b", "c"), {(0, 1): ("o", ">"), (1, 2): (">", ">")})
        >>> graph.mark(0, 1), graph.mark(2, 1), graph.mark(0, 2)
        ('o>', '<>', None)
    """

    nodes: tuple[str, ...]
    ends: Mapping[Edge, tuple[End, End]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        p = len(self.nodes)
        for (i, j), marks in self.ends.items():
            if not 0 <= i < j < p:
                raise ValueError(f"({i}, {j}) is not a pair of two of {p} nodes, the smaller first")
            if len(marks) != 2 or not set(marks) <= {"-", ">", "o"}:
                raise ValueError(f"({i}, {j}) has ends {marks!r}; they are '-', '>' or 'o'")

    @property
    def skeleton(self) -> frozenset[Edge]:
        """Adjacent pairs (i, j) with i < j."""
        return frozenset(self.ends)

    def end(self, i: int, j: int) -> End | None:
        """The mark at j of the edge between i and j; None where they are not adjacent."""
        marks = self.ends.get(ordered(i, j))
        return None if marks is None else marks[1 if i < j else 0]

    def mark(self, i: int, j: int) -> str | None:
        """The edge as read from i to j, the mark at i and the mark at j such as "o>"; or None."""
        here, there = self.end(j, i), self.end(i, j)
        if here is None or there is None:
            return None
        return _BACKWARD[here] + _FORWARD[there]

    @property
    def causes(self) -> frozenset[Edge]:
        """(i, j) where i causes j: a tail at i, and an arrowhead at j."""
        marked = frozenset(self.ends) | frozenset((j, i) for i, j in self.ends)
        return frozenset(
            (i, j) for i, j in marked if self.end(j, i) == "-" and self.end(i, j) == ">"
        )


def as_pag(graph: PDAG) -> PAG:
    """A graph of tails and arrowheads as a PAG: a line without arrows has two tails."""
    ends: dict[Edge, tuple[End, End]] = {}
    for i, j in graph.skeleton:
        mark = graph.mark(i, j)
        ends[i, j] = (
            ">" if mark in ("<-", "<->") else "-",
            ">" if mark in ("->", "<->") else "-",
        )
    return PAG(graph.nodes, ends)
