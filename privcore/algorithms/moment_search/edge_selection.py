"""Which edges of a DAG stay: false discoveries are kept to a level.

Each edge is tested given the rest of the graph, and the p-values go through the procedure of
Benjamini & Hochberg (1995) over all pairs of columns; a pair without an edge counts as one whose
p-value is 1.

DAGs of one Markov equivalence class say the same of what depends on what, but not given the same
columns.  Where parents and children of a column are wrong together, an edge may make up for it: it
is significant given the other parents of its effect in this DAG, but not given those in another.
It goes then, too, and the other DAG stays.  These are the deletions of the backward phase of GES:
if tests were never wrong, they would lead from any DAG that leaves nothing unexplained to the class
of the true one (Chickering 2002, theorems 4 and 17).
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Protocol

from privcore.algorithms.moment_search.search import Parents, edges_of
from privcore.algorithms.moment_search.statistic import Statistic
from privcore.graphs import EquivalenceClass, cpdag_of_dag
from privcore.graphs.constraints import Constraints
from privcore.graphs.pdag import ordered

# Level that an edge has to reach, alone, in the other DAGs of the class, where it is not held to a
# larger one in its own.
_ELSEWHERE = 0.01


class EdgeTests(Protocol):
    """Tests of edges on what was released."""

    def edge(self, dag: Parents, cause: int, effect: int) -> Statistic:
        """The test of one edge of a DAG, as if all others were right."""
        ...


def kept_edges(
    evidence: EdgeTests, dag: Parents, level: float, known: Constraints | None = None
) -> Parents:
    """A DAG without the edges that are not significant, the weakest taken away first.

    known: background knowledge; required edges stay untested, and the level is kept over the pairs
    that it leaves open.
    """
    known = known or Constraints.none(len(dag))
    pairs = known.open_pairs
    while True:
        p_values = edge_p_values(evidence, dag)
        tested = {edge: p for edge, p in p_values.items() if ordered(*edge) not in known.required}
        ranked = sorted((p, edge) for edge, p in tested.items())
        passing = [k for k, (p, _) in enumerate(ranked, 1) if p <= level * k / pairs]
        if len(ranked) > max(passing, default=0):
            dag = without_edge(dag, *ranked[-1][1])
            continue
        tests = _elsewhere(evidence, dag, known)
        p_value, cause, effect, other = max(tests, key=itemgetter(0), default=(0.0, 0, 0, dag))
        if p_value <= max(_ELSEWHERE, level * len(ranked) / max(pairs, 1)):
            return dag
        dag = without_edge(other, cause, effect)


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


def _elsewhere(
    evidence: EdgeTests, dag: Parents, known: Constraints
) -> Iterator[tuple[float, int, int, Parents]]:
    """p-values, alone, of edges (cause, effect) in other DAGs of the class that obey, and these."""
    nodes = [str(column) for column in range(len(dag))]
    same = EquivalenceClass(cpdag_of_dag(nodes, edges_of(dag)))
    for effect, causes in same.families():
        if causes == dag[effect]:
            continue
        other = same.member((effect, causes))
        if not known.obeyed(other):
            continue
        for cause in sorted(causes):
            if ordered(cause, effect) in known.required:
                continue
            test = evidence.edge(other, cause, effect)
            if test.informative:
                yield test.alone, cause, effect, other
