"""Precision, recall and related metrics, for skeletons and CPDAGs.

Conventions where a ratio is 0/0: precision (= TDR) is 1 when the graph has no edge, since no edge
is wrong; recall (= TPR) is 1 when the reference has no edge; FPR is 0 when every pair is adjacent
in the reference. F1 is 2TP/(2TP + FP + FN), and 1 when both graphs have no edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import comb

from privcore.graphs import PDAG
from privcore.graphs.pdag import ordered


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
