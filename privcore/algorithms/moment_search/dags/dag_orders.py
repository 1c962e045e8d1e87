"""The best DAG that searches over orders of the columns and over single edges find together.

A search over single edges stops at DAGs that no single change improves, often far from the best; so
do searches over orders, but at others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from math import inf

from privcore.algorithms.moment_search.dags.dag_search import (
    Parents,
    Scorer,
    edges_of,
    search_dag,
    total,
)
from privcore.algorithms.moment_search.dags.order_search import OrderSearch
from privcore.graphs import topological_order


def best_of_orders(
    score: Scorer,
    candidates: Mapping[int, set[int]],
    *,
    max_parents: int = 4,
    between: Callable[[int], None] = lambda moves: None,
    start: Parents | None = None,
) -> Parents:
    """The parents of each column in the best DAG that was met.

    A search over orders (`order_search`) from that of `start`, and a tabu search (`search_dag`)
    from the better of the two.
    candidates: per column, those it may be adjacent to.  between: as for `search_dag`.
    start: a DAG of such edges; None for what a tabu search from the empty graph finds.
    """
    columns = len(candidates)

    @cache
    def gains(column: int, parents: frozenset[int]) -> Mapping[int, float]:
        return _Gains(score, column, parents, full=len(parents) == max_parents)

    if start is None:
        empty: Parents = (frozenset(),) * columns
        start = search_dag(score, candidates, empty, max_parents=max_parents, between=between)
    order = topological_order(columns, edges_of(start))
    found = OrderSearch(gains, columns, candidates).best(order, between)
    best = max(start, found, key=lambda dag: total(score, dag))
    return search_dag(score, candidates, best, max_parents=max_parents, between=between)


class _Gains(dict[int, float]):
    """What each further parent of a column gains, once it is looked up; full: none may."""

    def __init__(self, score: Scorer, column: int, parents: frozenset[int], *, full: bool) -> None:
        self._score, self._column, self._parents, self._full = score, column, parents, full

    def __missing__(self, other: int) -> float:
        more, known = self._parents | {other}, self._parents
        gained = self._score(self._column, more) - self._score(self._column, known)
        self[other] = -inf if self._full else gained
        return self[other]
