"""The search that allows unobserved confounders: a further look at what was released.

GFCI (Ogarrio, Spirtes & Ramsey 2016): a DAG that explains the released numbers has all edges of the
true maximal ancestral graph, and more where unobserved confounders make columns dependent.  An edge
too many closes a triangle, so that only such edges are tested again.
"""

from __future__ import annotations

from math import log

from privcore.algorithms.moment_search.edges import Test
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.search import Parents, causes_first, edges_of
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.skeleton import Skeleton, search_skeleton
from privcore.algorithms.search.v_structures import Answered, FreeDecision, with_hidden_causes
from privcore.arrays import Columns
from privcore.graphs import PDAG
from privcore.graphs.pdag import Edge, ordered


class _Decision(FreeDecision):
    """Independent where the test of a release does not reject, and could have.

    tested: pairs that it is asked of; others depend on each other.
    """

    def __init__(self, test: Test, level: float, tested: frozenset[Edge] | None = None) -> None:
        self._test, self._level, self._tested = test, level, tested
        self._known: dict[tuple[int, int, Columns], Answered] = {}

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        return self.answer(x, y, conditioning_set).independent

    def answer(self, x: int, y: int, conditioning_set: Columns) -> Answered:
        key = (*ordered(x, y), tuple(sorted(conditioning_set)))
        if key not in self._known:
            made = self._test(*key)
            p_value = 0.0 if made is None or not made.informative else made.p_value
            self._known[key] = Answered(p_value > self._level, log(max(p_value, 1e-300)))
        return self._known[key]


def pag_of(run: Run[MomentSearchParameters], dag: Parents, test: Test) -> Skeleton:
    """The PAG of a DAG that was found, by tests of its edges given other columns."""
    parameters, names = run.parameters, run.source.names
    pairs = frozenset(ordered(*edge) for edge in edges_of(dag))
    decision = _Decision(test, parameters.threshold)
    skeleton = search_skeleton(
        names,
        decision,
        max_order=parameters.max_order,
        hooks=run.hooks,
        start=PDAG(names, undirected=pairs),
        known=run.known,
    )
    separating = _separated(dag) | skeleton.separating_sets
    skeleton = skeleton._replace(separating_sets=separating)
    return with_hidden_causes(run, skeleton, decision, "majority", parameters.max_order)


def _separated(dag: Parents) -> dict[Edge, frozenset[int]]:
    """Of two columns that a DAG does not join, the parents of the later one separate them."""
    order = causes_first(dag)
    return {
        ordered(x, y): dag[y] for k, y in enumerate(order) for x in order[:k] if x not in dag[y]
    }
