"""Search for a graph that allows unobserved confounders, by further tests on released numbers.

The method is GFCI (Ogarrio, Spirtes & Ramsey 2016): a DAG that explains the released numbers has
all edges of the true maximal ancestral graph, and superfluous edges where unobserved confounders
make columns dependent. A superfluous edge closes a triangle, so only edges in triangles are tested
again.
"""

from __future__ import annotations

from itertools import permutations
from math import log, sqrt

from privcore.algorithms.moment_search.evidence import ReleaseEvidence
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.search import Parents, causes_first, edges_of
from privcore.algorithms.moment_search.statistic import Statistic, chi_squared_quantile
from privcore.algorithms.moment_search.visible import smallest_visible
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.skeleton import Skeleton, search_skeleton
from privcore.algorithms.search.v_structures import Answered, FreeDecision, with_hidden_causes
from privcore.arrays import Columns
from privcore.graphs import PDAG
from privcore.graphs.pdag import Edge, ordered


class _Decision(FreeDecision):
    """Decides on independence by tests on released numbers.

    Two columns count as independent if an informative test does not reject. An edge of the DAG is
    removed only if it closes a triangle, and only by a test that would detect a dependence of the
    edge's size with probability 0.9.
    """

    def __init__(self, evidence: ReleaseEvidence, dag: Parents, level: float) -> None:
        self._evidence, self._level = evidence, level
        self._known: dict[tuple[int, int, Columns], Answered] = {}
        neighbours = [set(parents) for parents in dag]
        for cause, effect in edges_of(dag):
            neighbours[cause].add(effect)
        # The size of each edge; 0 for an edge that no test may remove.
        self._sizes: dict[Edge, float] = {}
        for cause, effect in edges_of(dag):
            size = 0.0
            if neighbours[cause] & neighbours[effect]:
                made = evidence.edge(dag, cause, effect)
                information = evidence.information(cause, effect, made)
                size = sqrt(made.noncentrality / information) if information > 0 else 0.0
            self._sizes[ordered(cause, effect)] = size

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        return self.answer(x, y, conditioning_set).independent

    def answer(self, x: int, y: int, conditioning_set: Columns) -> Answered:
        key = (*ordered(x, y), tuple(sorted(conditioning_set)))
        if key not in self._known:
            # There are many pairs without an edge; their tests need not detect all interactions.
            edge = key[:2] in self._sizes
            made = (self._evidence.final if edge else self._evidence.test)(*key)
            clear = made.informative and made.p_value > self._level and self._sees(key, made)
            self._known[key] = Answered(clear, log(max(made.p_value, 1e-300)))
        return self._known[key]

    def _sees(self, key: tuple[int, int, Columns], made: Statistic) -> bool:
        """Whether the test would detect the pair's edge; True if the DAG has no such edge."""
        size = self._sizes.get(key[:2])
        if size is None:
            return True
        if not (size and made.second):
            return False
        information = self._evidence.information(*key[:2], made)
        threshold = chi_squared_quantile(made.dof, self._level)
        least = smallest_visible(made.dof, threshold, information)
        return least is not None and least <= size


def pag_of(run: Run[MomentSearchParameters], dag: Parents, evidence: ReleaseEvidence) -> Skeleton:
    """The PAG found by testing a DAG's edges again, given other columns."""
    parameters, names = run.parameters, run.source.names
    pairs = frozenset(ordered(*edge) for edge in edges_of(dag))
    decision = _Decision(evidence, dag, parameters.threshold)
    skeleton = search_skeleton(
        names,
        decision,
        max_order=parameters.max_order,
        hooks=run.hooks,
        start=PDAG(names, undirected=pairs),
        known=run.known,
    )
    return with_hidden_causes(
        run, skeleton, decision, "majority", parameters.max_order, given=_separated(dag)
    )


def _separated(dag: Parents) -> dict[Edge, set[frozenset[int]]]:
    """For each pair without an edge in the DAG, the parents of each end that is no ancestor of the
    other.
    """
    above: dict[int, set[int]] = {}
    for column in causes_first(dag):
        above[column] = set(dag[column]).union(*(above[parent] for parent in dag[column]))
    separating: dict[Edge, set[frozenset[int]]] = {}
    for x, y in permutations(above, 2):
        if x not in dag[y] and y not in above[x]:
            separating.setdefault(ordered(x, y), set()).add(dag[y])
    return separating
