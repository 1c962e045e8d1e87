"""Which edges of a DAG stay: false discoveries are kept to a level.

Each edge is tested given the rest of the graph, and the p-values go through the procedure of
Benjamini & Hochberg (1995) over all pairs of columns; a pair without an edge counts as one whose
p-value is 1.
"""

from __future__ import annotations

from math import comb
from typing import Protocol

from privcore.noise_aware.dag_search import Parents
from privcore.noise_aware.statistic import Statistic


class EdgeTests(Protocol):
    """Tests of edges on what was released."""

    def edge(self, dag: Parents, cause: int, effect: int) -> Statistic:
        """Of one edge of a DAG, as if all others were right."""
        ...


def kept_edges(evidence: EdgeTests, dag: Parents, level: float) -> Parents:
    """The DAG without the edges that do not stand out, the weakest taken away first."""
    pairs = comb(len(dag), 2)
    while True:
        tested = edge_p_values(evidence, dag)
        ranked = sorted((p, edge) for edge, p in tested.items())
        passing = [k for k, (p, _) in enumerate(ranked, 1) if p <= level * k / pairs]
        if len(ranked) == max(passing, default=0):
            return dag
        _, (parent, child) = ranked[-1]
        dag = without_edge(dag, parent, child)


def edge_p_values(evidence: EdgeTests, dag: Parents) -> dict[tuple[int, int], float]:
    """Per edge (cause, effect)."""
    return {
        (parent, child): evidence.edge(dag, parent, child).p_value
        for child, parents in enumerate(dag)
        for parent in sorted(parents)
    }


def without_edge(dag: Parents, cause: int, effect: int) -> Parents:
    """The DAG less one edge."""
    return tuple(p - {cause} if c == effect else p for c, p in enumerate(dag))
