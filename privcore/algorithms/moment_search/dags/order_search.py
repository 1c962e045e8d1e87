"""Search over orders of the columns for the best DAG (BOSS: Andrews et al. 2023).

Given an order, the parents of a column grow and shrink among the columns before it; each column in
turn goes where the sum of all scores is largest, until none moves.  Where moments say as much of
any set of columns, this finds DAGs that searches over single edges miss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.moment_search.dags.dag_search import Parents

# What adding each column to the parents of a column would gain, shape (p,).
Gains = Callable[[int, frozenset[int]], NDArray[np.float64]]
_TOO_SMALL = 1e-6


def search_orders(
    gains: Gains,
    start: Sequence[int],
    between: Callable[[int], None] = lambda moves: None,
    candidates: Mapping[int, Set[int]] | None = None,
) -> Parents:
    """The parents of each column in the best DAG that was met.

    gains: of a column and a set of parents.  start: the first order.  between: called before each
    column is moved with the number of moves made; it may raise.  candidates: per column, those that
    may be its parents; None for any.
    """
    search = _Grown(gains, len(start), candidates)
    order, moves = list(start), 0
    improved = True
    while improved:
        improved = False
        for column in start:
            between(moves)
            moved = _best_place(search, order, column)
            improved |= moved != order
            moves += moved != order
            order = moved
    parents: list[frozenset[int]] = [frozenset()] * len(order)
    earlier = 0
    for column in order:
        parents[column] = search.parents(column, earlier)[0]
        earlier |= 1 << column
    return tuple(parents)


def _best_place(search: _Grown, order: list[int], column: int) -> list[int]:
    """The order with the column where the total is largest; where it is, unless another gains."""
    rest = [other for other in order if other != column]
    # What the column is worth at each place, and what it adds to the one that then comes next.
    own, adds = [], []
    earlier, itself = 0, 1 << column
    for other in rest:
        own.append(search.parents(column, earlier)[1])
        without = search.parents(other, earlier)[1]
        adds.append(search.parents(other, earlier | itself)[1] - without)
        earlier |= 1 << other
    own.append(search.parents(column, earlier)[1])
    totals = [own[-1]]
    added = 0.0
    for k in range(len(rest) - 1, -1, -1):
        added += adds[k]
        totals.append(own[k] + added)
    totals.reverse()
    now = order.index(column)
    best = max(range(len(order)), key=lambda k: totals[k])
    if totals[best] <= totals[now] + _TOO_SMALL:
        best = now
    return [*rest[:best], column, *rest[best:]]


class _Grown:
    """The parents that grow and shrink among the columns before one, and what they gain.

    Sets of columns are numbers, a bit for each column: millions are made in a search.
    """

    def __init__(
        self, gains: Gains, columns: int, candidates: Mapping[int, Set[int]] | None
    ) -> None:
        self._gains = gains
        self._near = [
            sum(1 << c for c in (range(columns) if candidates is None else candidates[column]))
            for column in range(columns)
        ]
        self._found: list[dict[int, tuple[frozenset[int], float]]] = [{} for _ in self._near]

    def parents(self, column: int, earlier: int) -> tuple[frozenset[int], float]:
        """earlier: the columns before this one, of which its candidates are."""
        possible, known = earlier & self._near[column], self._found[column]
        if possible not in known:
            among = frozenset(c for c in range(possible.bit_length()) if possible >> c & 1)
            known[possible] = self._grow_and_shrink(column, among)
        return known[possible]

    def _grow_and_shrink(
        self, column: int, earlier: frozenset[int]
    ) -> tuple[frozenset[int], float]:
        chosen: frozenset[int] = frozenset()
        worth = 0.0
        while left := sorted(earlier - chosen):
            gained = self._gains(column, chosen)[left]
            best = int(np.argmax(gained))
            if gained[best] <= 0:
                break
            chosen, worth = chosen | {left[best]}, worth + float(gained[best])
        while len(chosen) > 1:
            kept = sorted(chosen)
            held = [float(self._gains(column, chosen - {other})[other]) for other in kept]
            least = min(range(len(kept)), key=lambda k: held[k])
            if held[least] >= 0:
                break
            chosen, worth = chosen - {kept[least]}, worth - held[least]
        return chosen, worth
