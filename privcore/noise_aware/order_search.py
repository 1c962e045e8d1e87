"""Search over orders of the columns for the best DAG (BOSS: Andrews et al. 2023).

Given an order, the causes of a column are grown and shrunk among the columns before it; each column
in turn goes where the sum of all scores is largest, until none moves.  Where moments say as much of
any set of columns, this finds DAGs that searches over single edges miss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from privcore.noise_aware.dag_search import Parents

# What adding each column to the causes of a column would gain, shape (p,).
Gains = Callable[[int, frozenset[int]], NDArray[np.float64]]
_TOO_SMALL = 1e-6


def search_orders(
    gains: Gains,
    start: Sequence[int],
    between: Callable[[int], None] = lambda moves: None,
    candidates: Mapping[int, Set[int]] | None = None,
) -> Parents:
    """The parents of each column in the best DAG that was met.

    gains: of a column and a set of causes.  start: the first order.  between: called before each
    column is moved with the number of moves made; it may raise.  candidates: per column, those that
    may be its causes; None for any.
    """
    search = _Grown(gains, candidates)
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
    found: list[frozenset[int]] = [frozenset()] * len(order)
    for place, column in enumerate(order):
        found[column] = search.parents(column, frozenset(order[:place]))[0]
    return tuple(found)


def _best_place(search: _Grown, order: list[int], column: int) -> list[int]:
    """The order with the column where the total is largest; where it is, unless another gains."""
    rest = [other for other in order if other != column]
    # What the column is worth at each place, and what it adds to the one that then comes next.
    own, adds = [], []
    earlier: set[int] = set()
    for other in rest:
        own.append(search.parents(column, earlier)[1])
        without = search.parents(other, earlier)[1]
        adds.append(search.parents(other, earlier, column)[1] - without)
        earlier.add(other)
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
    """The causes that grow and shrink among the columns before one, and what they gain."""

    def __init__(self, gains: Gains, candidates: Mapping[int, Set[int]] | None) -> None:
        self._gains, self._candidates = gains, candidates
        self._found: dict[tuple[int, frozenset[int]], tuple[frozenset[int], float]] = {}

    def parents(
        self, column: int, earlier: Set[int], also: int | None = None
    ) -> tuple[frozenset[int], float]:
        """also: another column before this one."""
        possible = frozenset(earlier)
        if self._candidates is not None:
            near = self._candidates[column]
            possible = frozenset(c for c in near if c in earlier or c == also)
        elif also is not None:
            possible |= {also}
        key = (column, possible)
        if key not in self._found:
            self._found[key] = self._grow_and_shrink(column, possible)
        return self._found[key]

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
