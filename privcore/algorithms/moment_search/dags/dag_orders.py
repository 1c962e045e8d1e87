"""The best of several searches over orders of the columns.

A search over single edges stops at DAGs that no single change improves, often far from the best; so
do searches over orders, but where they stop depends on where they start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

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
_ROOTS = np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0, 13.0])


def best_of_orders(
    score: Scorer,
    candidates: Mapping[int, set[int]],
    *,
    max_parents: int = 4,
    between: Callable[[int], None] = lambda moves: None,
    start: Parents | None = None,
) -> Parents:
    """The parents of each column in the best DAG that was met.

    A tabu search (`search_dag`) from the empty graph; searches over orders, from the order that it
    ends in and from others (`order_search`); a tabu search from the best of these.
    candidates: per column, those it may be adjacent to.  between: as for `search_dag`.
    start: a DAG of such edges; what is found is no worse.
    """
    columns = len(candidates)

    @cache
    def gains(column: int, parents: frozenset[int]) -> Mapping[int, float]:
        return _Gains(score, column, parents, full=len(parents) == max_parents)

    empty: Parents = (frozenset(),) * columns
    first = search_dag(score, candidates, empty, max_parents=max_parents, between=between)
    met = [first] if start is None else [first, start]
    orders = [*map(_causes_first, met), *(_mixed(columns, root) for root in _ROOTS)]
    search = OrderSearch(gains, columns, candidates)
    dags = [*met, *(search.best(order, between) for order in orders)]
    best = max(dags, key=lambda dag: total(score, dag))
    return search_dag(score, candidates, best, max_parents=max_parents, between=between)


class _Gains(dict[int, float]):
    """What each further parent of a column gains, once it is looked up; full: none may."""

    def __init__(self, score: Scorer, column: int, parents: frozenset[int], *, full: bool) -> None:
        self._score, self._column, self._parents, self._full = score, column, parents, full

    def __missing__(self, other: int) -> float:
        more, known = self._parents | {other}, self._parents
        gained = self._score(self._column, more) - self._score(self._column, known)
        self[other] = -np.inf if self._full else gained
        return self[other]


def _causes_first(dag: Parents) -> list[int]:
    return topological_order(len(dag), edges_of(dag))


def _mixed(columns: int, root: float) -> list[int]:
    return [int(c) for c in np.argsort(np.arange(1, columns + 1) * root % 1.0)]
