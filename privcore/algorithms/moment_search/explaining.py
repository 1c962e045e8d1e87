"""Searches of moment search in which tests of models have a say: which pairs may have an edge, and
which of several DAGs is the result."""

from __future__ import annotations

from collections.abc import Iterable

from privcore.algorithms.moment_search.dags.dag_search import Parents, edges_of
from privcore.algorithms.moment_search.dags.edge_selection import kept_edges
from privcore.algorithms.moment_search.dags.sparsest import (
    Test,
    completed,
    fewest_edges,
    unexplained,
)
from privcore.algorithms.moment_search.likelihood.model_evidence import ModelEvidence
from privcore.algorithms.moment_search.likelihood.statistic import Statistic
from privcore.algorithms.moment_search.likelihood.table_evidence import TableEvidence
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.steps import Around, end_if_cancelled, searched_among
from privcore.algorithms.search.model import Run
from privcore.arrays import Columns

# Searches for one DAG, each with the candidates that the last one asked for.
_SEARCHES = 3
# What an edge may cost beside its score, per row, in the searches of which the result is the
# sparsest.
_COSTS = (0.0, 0.003, 0.01)
# How often the edges that are left are searched once more.
_PASSES = 2


def explaining_search(
    run: Run[MomentSearchParameters], evidence: ModelEvidence, candidates: Around, cost: float
) -> tuple[Parents, Around]:
    """The best DAG, and the candidates with those that it does not explain.

    cost: of an edge, beside its score, per row: what is wrong in a model grows with the rows.
    """

    def score(column: int, parents: frozenset[int]) -> float:
        return evidence.score(column, parents) - cost * run.source.n * len(parents)

    around = {column: set(others) for column, others in candidates.items()}
    for _ in range(_SEARCHES):
        dag = searched_among(run, score, around)
        missing = unexplained(dag, around, _cancellable(run, evidence.unexplained))
        if not missing:
            break
        _let_in(around, missing)
    return dag, around


def sparsest_dag(
    run: Run[MomentSearchParameters],
    evidence: ModelEvidence,
    seen: TableEvidence,
    candidates: Around,
) -> tuple[Parents, Around]:
    """The one with the fewest edges that pass their tests, of several that leave nothing out.

    And the candidates, with those that came to it.
    """
    parameters, found = run.parameters, []
    around = {column: set(others) for column, others in candidates.items()}
    for cost in _COSTS:
        dag, near = explaining_search(run, evidence, candidates, cost)
        dag = kept_edges(seen, dag, parameters.false_edges)
        for _ in range(_PASSES):
            # Without the others, another DAG of these edges may need fewer of them.
            dag = searched_among(run, evidence.score, _around(dag), dag)
            dag = completed(
                dag,
                candidates,
                _cancellable(run, evidence.surely_unexplained),
                evidence.borne_out,
                level=parameters.false_edges,
                max_parents=parameters.max_parents,
            )
            dag = kept_edges(seen, dag, parameters.false_edges)
            found.append(dag)
        for column, others in near.items():
            around[column] |= others
    best = fewest_edges(found, evidence.score)
    _let_in(around, edges_of(best))
    return best, around


def _around(dag: Parents) -> Around:
    around: Around = {column: set() for column in range(len(dag))}
    _let_in(around, edges_of(dag))
    return around


def _let_in(around: Around, pairs: Iterable[tuple[int, int]]) -> None:
    for x, y in pairs:
        around[x].add(y)
        around[y].add(x)


def _cancellable(run: Run[MomentSearchParameters], test: Test) -> Test:
    """The same test; the run can be cancelled before each."""

    def tested(x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        end_if_cancelled(run)
        return test(x, y, conditioning_set)

    return tested
