"""Choice of a DAG's edges: by score, by tests for unexplained dependences, and at an FDR level.

Each edge is tested given the rest of the graph, and the p-values enter the procedure of Benjamini &
Hochberg (1995) over all pairs of columns; a pair without an edge enters with a p-value of 1.

Markov-equivalent DAGs encode the same independences, but with different conditioning sets. If the
parents and the children of a column are wrong, a false edge may compensate for the errors: the edge
is significant given the other parents of its effect in this DAG, but not given the other parents of
its effect in an equivalent DAG. Such an edge is deleted as well, and the equivalent DAG is used.
The backward phase of GES makes the same deletions: if the tests make no errors, the deletions lead
from any DAG that explains all dependences to the class of the true DAG (Chickering 2002, theorems 4
and 17).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import comb
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.moment_search.evidence import ReleaseEvidence, TableEvidence
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.search import (
    ORDERS,
    Neighbours,
    Parents,
    Scorer,
    best_of_orders,
    between,
    causes_first,
    edges_of,
    end_if_cancelled,
    most_parents,
    obeying,
    total,
)
from privcore.algorithms.moment_search.statistic import Statistic
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.result import Step
from privcore.algorithms.search.skeleton import (
    Decision,
    Skeleton,
    search_skeleton,
)
from privcore.arrays import Columns
from privcore.graphs import EquivalenceClass, cpdag_of_dag
from privcore.graphs.constraints import Constraints
from privcore.graphs.pdag import ordered

# Test of two columns given others; None if it has no information.
Test = Callable[[int, int, tuple[int, ...]], Statistic | None]
# Per column and conditioning set, the columns that may depend on it; None for any column.
Suspects = Callable[[int, tuple[int, ...]], Sequence[int]]
# Level at which a pair that is not a candidate becomes a candidate or gets an edge.
_LOOKED_AT = 1e-6


def unexplained(
    dag: Parents,
    candidates: Mapping[int, set[int]],
    test: Test,
    suspects: Suspects | None = None,
) -> list[tuple[int, int]]:
    """Pairs (x, y) that are not candidates but are dependent given the parents of y.

    y is the later of the two columns in a causal order of the DAG.
    """
    return [
        (x, y)
        for x, y in _nonadjacent_pairs(dag, suspects)
        if y not in candidates[x] and _p_value(dag, x, y, test)[0] < _LOOKED_AT
    ]


def completed(
    dag: Parents,
    candidates: Mapping[int, set[int]],
    test: Test,
    *,
    level: float,
    max_parents: int,
    suspects: Suspects | None = None,
) -> Parents:
    """Add edges for dependences that the DAG does not explain, the most significant first.

    level: the FDR level. A candidate pair gets an edge if `kept_edges` would keep this edge even as
    the only edge of a graph; any other pair gets an edge only if the edge is highly significant.
    """
    enough = level / comb(len(dag), 2)
    while True:
        p_values = [
            (*_p_value(dag, x, y, test), x, y)
            for x, y in _nonadjacent_pairs(dag, suspects)
            if len(dag[y]) < max_parents
        ]
        promising = [
            entry
            for entry in p_values
            if entry[0] < (enough if entry[3] in candidates[entry[2]] else _LOOKED_AT)
        ]
        if not promising:
            return dag
        _, _, x, y = min(promising)
        dag = tuple(parents | {x} if c == y else parents for c, parents in enumerate(dag))


def _nonadjacent_pairs(dag: Parents, suspects: Suspects | None) -> Iterator[tuple[int, int]]:
    """Pairs (earlier, later) without an edge, in a causal order of the DAG.

    suspects: finds the columns that may depend on the later column.
    """
    order = causes_first(dag)
    place = {column: k for k, column in enumerate(order)}
    for later in order:
        candidates = order if suspects is None else suspects(later, tuple(sorted(dag[later])))
        for earlier in candidates:
            if place[earlier] < place[later] and earlier not in dag[later]:
                yield earlier, later


def _p_value(dag: Parents, x: int, y: int, test: Test) -> tuple[float, float]:
    """The p-value, and minus the noncentrality, which ranks the many pairs with p-value 0."""
    statistic = test(x, y, tuple(sorted(dag[y])))
    return (statistic.p_value, -statistic.noncentrality) if statistic is not None else (1.0, 0.0)


def searched_among(
    run: Run[MomentSearchParameters],
    score: Scorer,
    candidates: Neighbours,
    start: Parents | None = None,
    orders: int = ORDERS,
) -> Parents:
    """The best-scoring DAG found among the DAGs whose edges are all candidates.

    start: a DAG whose edges are candidates; the result scores at least as high as this DAG.
    orders: see `best_of_orders`.
    """
    return best_of_orders(
        obeying(score, run.known, run.source.n),
        candidates,
        max_parents=most_parents(run),
        between=lambda moves: between(run, moves),
        start=start,
        orders=orders,
    )


# Searches for one DAG, each with the candidates that the previous one added.
_SEARCHES = 3
# Additional cost of an edge, per row, in each of the searches; the sparsest DAG is the result.
_COSTS = (0.0, 0.003, 0.01)
# How often the remaining edges are searched again.
_PASSES = 2


def sparsest_dag(
    run: Run[MomentSearchParameters],
    evidence: TableEvidence,
    candidates: Neighbours,
) -> tuple[Parents, Neighbours]:
    """The DAG with the fewest edges among several that pass all tests and explain all dependences.

    Also returns the candidates, including added pairs.
    """
    parameters, dags = run.parameters, []
    neighbours = {column: set(others) for column, others in candidates.items()}
    for cost in _COSTS:
        dag = _explaining(run, evidence, neighbours, cost)
        dag = kept_edges(evidence, dag, parameters.false_edges, run.known)
        for _ in range(_PASSES):
            # Among these candidates alone, another DAG may need fewer edges.
            dag = searched_among(run, evidence.score, adjacent(edges_of(dag), len(dag)), dag)
            dag = completed(
                dag,
                candidates,
                allowed_tests(run, evidence.surely_unexplained, run.known.allowed),
                level=parameters.false_edges,
                max_parents=most_parents(run),
                suspects=evidence.suspects,
            )
            dag = kept_edges(evidence, dag, parameters.false_edges, run.known)
            dags.append(run.known.repaired(dag))
    best = fewest_edges(dags, obeying(evidence.score, run.known, run.source.n))
    _let_in(neighbours, edges_of(best))
    return best, neighbours


def first_guess(
    run: Run[MomentSearchParameters], evidence: TableEvidence, candidates: Neighbours
) -> Parents:
    """The best DAG found by a quick search; the families of this DAG are counted next."""
    return searched_among(run, _costly(run, evidence, _COSTS[1]), candidates, orders=1)


def _explaining(
    run: Run[MomentSearchParameters], evidence: TableEvidence, neighbours: Neighbours, cost: float
) -> Parents:
    """The best DAG at this cost per edge; adds unexplained pairs to `neighbours`."""
    score = _costly(run, evidence, cost)
    test = allowed_tests(run, evidence.unexplained, run.known.possible)
    for _ in range(_SEARCHES):
        dag = searched_among(run, score, neighbours)
        missing = unexplained(dag, neighbours, test, evidence.suspects)
        if not missing:
            break
        _let_in(neighbours, missing)
    return dag


def _costly(run: Run[MomentSearchParameters], evidence: TableEvidence, cost: float) -> Scorer:
    """The score minus this cost per edge and row."""

    def score(column: int, parents: frozenset[int]) -> float:
        return evidence.score(column, parents) - cost * run.source.n * len(parents)

    return score


def fewest_edges(dags: Sequence[Parents], score: Scorer) -> Parents:
    """The DAG with the fewest edges; ties are broken by the score, then by the order in `dags`."""
    return min(dags, key=lambda dag: (sum(map(len, dag)), -total(score, dag)))


def adjacent(pairs: Iterable[tuple[int, int]], columns: int) -> Neighbours:
    """The neighbours of each column if these pairs have an edge; columns: their number."""
    neighbours: Neighbours = {column: set() for column in range(columns)}
    _let_in(neighbours, pairs)
    return neighbours


def _let_in(neighbours: Neighbours, pairs: Iterable[tuple[int, int]]) -> None:
    for x, y in pairs:
        neighbours[x].add(y)
        neighbours[y].add(x)


def allowed_tests(run: Run[MomentSearchParameters], test: Test, allowed: NDArray[np.bool_]) -> Test:
    """The test for allowed pairs, None for others; the run can be cancelled before each test."""

    def tested(x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        end_if_cancelled(run)
        return test(x, y, conditioning_set) if allowed[x, y] else None

    return tested


# Significance level of an edge's single test in other DAGs of the class, unless the level in the
# DAG itself is larger.
_ELSEWHERE = 0.01


def kept_edges(
    evidence: ReleaseEvidence, dag: Parents, level: float, known: Constraints | None = None
) -> Parents:
    """Delete the edges of a DAG that are not significant, the weakest first.

    level: the FDR level. known: background knowledge; required edges stay without a test, and the
    FDR is controlled over the pairs that the knowledge leaves open.
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


def edge_p_values(evidence: ReleaseEvidence, dag: Parents) -> dict[tuple[int, int], float]:
    """The p-value of each edge (cause, effect) of the DAG."""
    return {
        (parent, child): evidence.edge(dag, parent, child).p_value
        for child, parents in enumerate(dag)
        for parent in sorted(parents)
    }


def without_edge(dag: Parents, cause: int, effect: int) -> Parents:
    """The DAG without the edge cause → effect."""
    return tuple(p - {cause} if c == effect else p for c, p in enumerate(dag))


def _elsewhere(
    evidence: ReleaseEvidence, dag: Parents, known: Constraints
) -> Iterator[tuple[float, int, int, Parents]]:
    """Yield (p-value, cause, effect, DAG) for edges in other DAGs of the equivalence class.

    Only informative tests in DAGs that obey the background knowledge are included.
    """
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
                yield test.p_value, cause, effect, other


def skeletons(
    run: Run[MomentSearchParameters],
    evidence: TableEvidence,
    noise: float,
    recorder: common.Recorder,
    *,
    refined: bool,
) -> tuple[Skeleton, ...]:
    """The candidate skeleton, found by tests with few conditioning columns.

    noise: see `PairSums.noise_ratio`. refined: whether to also return the skeleton that remains
    after tests on larger tables.
    """
    candidates = _narrowed(run, 1 if noise > 1 else 2, evidence, recorder, None)
    if not refined:
        return (candidates,)
    return candidates, _narrowed(run, None, evidence, recorder, candidates)


def _narrowed(
    run: Run[MomentSearchParameters],
    order: int | None,
    evidence: TableEvidence,
    recorder: common.Recorder,
    within: Skeleton | None,
) -> Skeleton:
    """Run PC's skeleton search over all pairs, or over the edges of an earlier skeleton.

    order: maximum number of conditioning columns, unless the run sets a lower limit. within: the
    earlier skeleton, if any.
    """
    limits = [k for k in (run.parameters.max_order, order) if k is not None]
    candidates = run.parameters.level_of_candidates(len(run.source.names))
    level = candidates if within is None else run.parameters.threshold
    return search_skeleton(
        run.source.names,
        _NoiseAware(evidence, level, recorder, tabulated=within is not None),
        max_order=min(limits, default=None),
        hooks=run.hooks,
        start=None if within is None else within.graph,
        known=run.known,
    )


def neighbours_in(skeleton: Skeleton) -> Neighbours:
    """The neighbours of each column in a skeleton."""
    return {c: skeleton.graph.adjacent(c) for c in range(len(skeleton.graph.nodes))}


class _NoiseAware(Decision):
    """Decides on independence: yes if an informative noise-aware test does not reject.

    tabulated: whether conditioning sets of two or more columns are used only if a released table
    covers all columns of the test.
    """

    def __init__(
        self, evidence: TableEvidence, level: float, recorder: common.Recorder, *, tabulated: bool
    ) -> None:
        self._evidence, self._level, self._tabulated = evidence, level, tabulated
        self._recorder = recorder

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        evidence, many = self._evidence, len(conditioning_set) > 1
        if self._tabulated and many and not evidence.tabulated(x, y, *conditioning_set):
            return False
        tested = evidence.test(x, y, conditioning_set)
        independent = tested.p_value > self._level and tested.informative
        step = (x, y, conditioning_set, tested.p_value, self._level, independent)
        self._recorder.add(Step.noiseless(*step))
        return independent
