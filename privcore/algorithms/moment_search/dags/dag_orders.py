"""The best of searches over orders of the columns and over single edges.

A search over single edges stops at DAGs that no single change improves, often far from the best; so
do searches over orders, but where they stop depends on where they start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from math import inf, sqrt

from privcore.algorithms.moment_search.dags.dag_search import (
    Parents,
    Scorer,
    edges_of,
    search_dag,
    total,
)
from privcore.algorithms.moment_search.dags.order_search import OrderSearch
from privcore.graphs import topological_order

# Square roots whose multiples mix the columns: orders that have little to do with each other, and
# are the same in every run.
_ROOTS = (2.0, 3.0, 5.0, 7.0, 11.0, 13.0)


def best_of_orders(
    score: Scorer,
    candidates: Mapping[int, set[int]],
    *,
    max_parents: int = 4,
    between: Callable[[int], None] = lambda moves: None,
    start: Parents | None = None,
) -> Parents:
    """The parents of each column in the best DAG that was met.

    Searches over orders (`order_search`) and then a tabu search (`search_dag`) from the best DAG.
    candidates: per column, those it may be adjacent to.  between: as for `search_dag`.
    start: a DAG of such edges, from whose order the one search begins; None for several, from the
    order of what a tabu search from the empty graph finds and from orders that are always the same.
    """
    columns = len(candidates)

    @cache
    def gains(column: int, parents: frozenset[int]) -> Mapping[int, float]:
        return _Gains(score, column, parents, full=len(parents) == max_parents)

    mixed: list[list[int]] = []
    if start is None:
        empty: Parents = (frozenset(),) * columns
        start = search_dag(score, candidates, empty, max_parents=max_parents, between=between)
        mixed = [_mixed(columns, sqrt(root)) for root in _ROOTS]
    search = OrderSearch(gains, columns, candidates)
    orders = [topological_order(columns, edges_of(start)), *mixed]
    dags = [start, *(search.best(order, between) for order in orders)]
    best = max(dags, key=lambda dag: total(score, dag))
    return search_dag(score, candidates, best, max_parents=max_parents, between=between)


def _mixed(columns: int, root: float) -> list[int]:
    return sorted(range(columns), key=lambda column: (column + 1) * root % 1.0)


class _Gains(dict[int, float]):
    """What each further parent of a column gains, once it is looked up; full: none may."""

    def __init__(self, score: Scorer, column: int, parents: frozenset[int], *, full: bool) -> None:
        self._score, self._column, self._parents, self._full = score, column, parents, full

    def __missing__(self, other: int) -> float:
        more, known = self._parents | {other}, self._parents
        gained = self._score(self._column, more) - self._score(self._column, known)
        self[other] = -inf if self._full else gained
        return self[other]
