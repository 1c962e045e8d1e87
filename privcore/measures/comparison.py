"""Comparison of two graphs pair by pair, for pictures, tables and counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, NamedTuple

from privcore.graphs import PDAG
from privcore.graphs.pdag import MARK_SIGNS
from privcore.naming import quoted
from privcore.text import counted

PairClass = Literal["match", "undirected", "reversed", "extra", "missing"]
CLASSES: tuple[PairClass, ...] = ("match", "undirected", "reversed", "extra", "missing")


class PairComparison(NamedTuple):
    """A pair (i < j), its class, and its edge in the graph and in the reference, as text."""

    i: int
    j: int
    kind: PairClass
    here: str
    reference: str


@dataclass(frozen=True)
class Comparison:
    """All pairs that are adjacent in the graph or in the reference, in sorted order.

    match: adjacent in both, with the same endpoint marks; undirected: adjacent in both, with
    different marks that can both be true, because one of the graphs leaves a mark open; reversed:
    adjacent in both, with marks that contradict each other; extra: adjacent only in the graph;
    missing: adjacent only in the reference.
    """

    reference_name: str
    pairs: tuple[PairComparison, ...]

    def count(self, kind: PairClass) -> int:
        return Counter(pair.kind for pair in self.pairs)[kind]

    def summary(self) -> str:
        """The counts as text: "7 edges: 4 match, 1 undirected, 1 reversed, 1 extra; 2 missing"."""
        edges = len(self.pairs) - self.count("missing")
        parts = ", ".join(f"{self.count(k)} {k}" for k in CLASSES[:-1])
        return f"{counted(edges, 'edge')}: {parts}; {self.count('missing')} missing"


def edge_text(graph: PDAG, i: int, j: int) -> str:
    """An edge as text: "a → b", "a ← b", "a — b", "a ↔ b", or "none"; names as from `quoted`."""
    mark = graph.mark(i, j)
    return (
        f"{quoted(graph.nodes[i])} {MARK_SIGNS[mark]} {quoted(graph.nodes[j])}" if mark else "none"
    )


def _is_open(here: str, there: str) -> bool:
    """Whether two different marks can both be true.

    A line without arrows leaves its direction open, and a circle leaves its end open.
    """
    ends = zip((here[0], here[-1]), (there[0], there[-1]), strict=True)
    return "--" in (here, there) or all(a == b or "o" in (a, b) for a, b in ends)


def compare(graph: PDAG, reference: PDAG, reference_name: str) -> Comparison:
    """Classify every pair that is adjacent in the graph or in the reference.

    Raises ValueError unless both graphs have the same nodes in the same order.
    """
    if graph.nodes != reference.nodes:
        raise ValueError("the graphs have different nodes")
    pairs = []
    for i, j in sorted(graph.skeleton | reference.skeleton):
        here, there = graph.mark(i, j), reference.mark(i, j)
        kind: PairClass
        if here is None:
            kind = "missing"
        elif there is None:
            kind = "extra"
        elif here == there:
            kind = "match"
        else:
            kind = "undirected" if _is_open(here, there) else "reversed"
        pairs.append(PairComparison(i, j, kind, edge_text(graph, i, j), edge_text(reference, i, j)))
    return Comparison(reference_name, tuple(pairs))
