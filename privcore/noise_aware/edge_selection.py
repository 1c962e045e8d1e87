"""Which edges of a DAG stay: false discoveries are kept to a level.

Each edge is tested given the other parents of its effect, and the p-values go through the
procedure of Benjamini & Hochberg (1995) over all pairs of columns; a pair without an edge counts
as one whose p-value is 1.
"""

from __future__ import annotations

from math import comb
from typing import Protocol

from privcore.noise_aware.dag_search import Parents
from privcore.noise_aware.statistic import Statistic


class Tests(Protocol):
    """Tests of independence on what was released."""

    def test(self, x: int, y: int, given: tuple[int, ...]) -> Statistic: ...


def kept_edges(evidence: Tests, dag: Parents, level: float) -> Parents:
    """The DAG without the edges that do not stand out, the weakest taken away first."""
    pairs = comb(len(dag), 2)
    while True:
        tested = edge_p_values(evidence, dag)
        ranked = sorted((p, edge) for edge, p in tested.items())
        passing = [k for k, (p, _) in enumerate(ranked, 1) if p <= level * k / pairs]
        if len(ranked) == max(passing, default=0):
            return dag
        _, (parent, child) = ranked[-1]
        dag = tuple(p - {parent} if c == child else p for c, p in enumerate(dag))


def edge_p_values(evidence: Tests, dag: Parents) -> dict[tuple[int, int], float]:
    """Per edge (cause, effect): of their independence given the other causes of the effect."""
    return {
        (parent, child): evidence.test(parent, child, tuple(sorted(parents - {parent}))).p_value
        for child, parents in enumerate(dag)
        for parent in sorted(parents)
    }
