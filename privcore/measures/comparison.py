"""A graph against a reference: its metrics, its pairs, and their spread over runs.

Precision, recall and related metrics, for skeletons and CPDAGs.

Conventions where a ratio is 0/0: precision (= TDR) is 1 when the graph has no edge, since no edge
is wrong; recall (= TPR) is 1 when the reference has no edge; FPR is 0 when every pair is adjacent
in the reference. F1 is 2TP/(2TP + FP + FN), and 1 when both graphs have no edge.

Comparison of two graphs pair by pair, for pictures, tables and counts.

The mean accuracy of several runs, and its spread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import comb
from typing import Literal, NamedTuple

import numpy as np

from privcore.graphs import PDAG
from privcore.graphs.pdag import MARK_SIGNS, ordered
from privcore.naming import quoted
from privcore.text import counted


@dataclass(frozen=True)
class Metrics:
    """Counts and rates from the comparison of a graph with a reference.

    true_positives, false_positives, false_negatives: numbers of pairs. tpr and tdr: the recall and
    the precision, under their names in the literature on constraint-based search. shd: structural
    Hamming distance, the number of pairs whose status differs between the two graphs (Tsamardinos,
    Brown & Aliferis 2006).
    """

    precision: float
    recall: float
    f1: float
    tpr: float
    fpr: float
    tdr: float
    shd: int
    true_positives: int
    false_positives: int
    false_negatives: int

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def _metrics(true: int, false: int, missed: int, absent: int, shd: int) -> Metrics:
    precision = true / (true + false) if true + false else 1.0
    recall = true / (true + missed) if true + missed else 1.0
    f1 = 2 * true / (2 * true + false + missed) if true + false + missed else 1.0
    fpr = false / absent if absent else 0.0
    return Metrics(precision, recall, f1, recall, fpr, precision, shd, true, false, missed)


def skeleton_metrics(graph: PDAG, reference: PDAG) -> Metrics:
    """Metrics of the skeletons, in which an edge counts as correct whatever its direction."""
    here, there = graph.skeleton, reference.skeleton
    absent = comb(len(graph.nodes), 2) - len(there)
    true = len(here & there)
    return _metrics(true, len(here - there), len(there - here), absent, len(here ^ there))


def cpdag_metrics(graph: PDAG, reference: PDAG) -> Metrics:
    """Metrics in which an edge is correct only if both of its endpoint marks are correct.

    An edge with a wrong mark is one false positive and one false negative, and adds 1 to the SHD.
    The denominator of the false-positive rate is the number of pairs that are not adjacent in the
    reference plus the number of edges with a wrong mark.
    """
    here, there = graph.skeleton, reference.skeleton
    true = sum(graph.mark(i, j) == reference.mark(i, j) for i, j in here & there)
    pairs = comb(len(graph.nodes), 2)
    wrong_marks = len(here & there) - true
    return _metrics(
        true,
        len(here) - true,
        len(there) - true,
        pairs - len(there) + wrong_marks,
        len(here ^ there) + wrong_marks,
    )


def ordered_pair_f1(graph: PDAG, reference: PDAG) -> float:
    """F1 over ordered pairs (Wang, Pang & Song 2020, footnote 4).

    An edge without a single direction counts as both ordered pairs.  The result is 1 if neither
    graph has an edge.
    """
    here, there = _ordered_pairs(graph), _ordered_pairs(reference)
    return 2 * len(here & there) / (len(here) + len(there)) if here or there else 1.0


def _ordered_pairs(graph: PDAG) -> frozenset[tuple[int, int]]:
    both = graph.skeleton - {ordered(i, j) for i, j in graph.directed}
    return graph.directed | both | {(j, i) for i, j in both}


def evaluate(graph: PDAG, references: Mapping[str, PDAG]) -> dict[str, dict[str, dict[str, float]]]:
    """The metrics, keyed by reference name, then by "skeleton" or "cpdag", then by metric."""
    return {
        name: {
            "skeleton": skeleton_metrics(graph, reference).as_dict(),
            "cpdag": cpdag_metrics(graph, reference).as_dict(),
        }
        for name, reference in references.items()
    }


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


class Spread(NamedTuple):
    """Skeleton F1 over several runs: the mean, and the 5th and 95th percentiles."""

    mean: float
    low: float
    high: float
    runs: int


def spread(graphs: Sequence[PDAG], reference: PDAG) -> Spread:
    """The mean and the percentiles of skeleton F1 for one or more graphs against a reference."""
    values = np.array([skeleton_metrics(graph, reference).f1 for graph in graphs])
    low, high = np.quantile(values, (0.05, 0.95))
    return Spread(float(values.mean()), float(low), float(high), len(values))
