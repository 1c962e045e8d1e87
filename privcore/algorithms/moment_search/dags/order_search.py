"""Search over orders of the columns for the best DAG (BOSS: Andrews et al. 2023).

Given an order, the parents of a column grow and shrink among the columns before it; each column in
turn goes where the sum of all scores is largest, until none moves.  Where moments say as much of
any set of columns, this finds DAGs that searches over single edges miss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from privcore.algorithms.moment_search.dags.dag_search import Parents
from privcore.arrays import Vector

# What adding each column to the parents of a column would gain, by column.
Gains = Callable[[int, frozenset[int]], Mapping[int, float] | Vector]
_TOO_SMALL = 1e-6


class OrderSearch:
    """Searches over orders, each from a first one; what one has met, the next ones know."""

    def __init__(
        self, gains: Gains, columns: int, candidates: Mapping[int, Set[int]] | None = None
    ) -> None:
        """gains: of a column and a set of parents.  candidates: per column, those that may be its
        parents; None for any."""
        self._grown = _Grown(gains, columns, candidates)

    def best(
        self, start: Sequence[int], between: Callable[[int], None] = lambda moves: None
    ) -> Parents:
        """The parents of each column in the best DAG that was met.

        start: the first order.  between: called before each column is moved with the number of
        moves made; it may raise.
        """
        order, moves = _Order(start), 0
        improved = True
        while improved:
            improved = False
            for column in start:
                between(moves)
                moved = _best_place(self._grown, order, column)
                if moved is not None:
                    order.move(column, moved)
                    improved = True
                    moves += 1
        return tuple(
            self._grown.parents(column, before)[0] for column, before in enumerate(order.before)
        )


class _Order:
    """columns: in order.  place: of each column.  before: the columns before each, as a number."""

    def __init__(self, start: Sequence[int]) -> None:
        self.columns, self.place, self.before = list(start), [0] * len(start), [0] * len(start)
        self._number()

    def move(self, column: int, place: int) -> None:
        """To that place among the others."""
        self.columns.remove(column)
        self.columns.insert(place, column)
        self._number()

    def _number(self) -> None:
        earlier = 0
        for place, column in enumerate(self.columns):
            self.place[column], self.before[column] = place, earlier
            earlier |= 1 << column


def _best_place(search: _Grown, order: _Order, column: int) -> int | None:
    """The place among the others where the total is largest; None unless another one gains.

    Between two columns that it may have an edge with, every place is worth the same.
    """
    near = sorted(search.around[column], key=order.place.__getitem__)
    # What the column is worth before the first of them and after each, and what it adds to it.
    own, adds = [search.parents(column, 0)[1]], []
    earlier, itself = 0, 1 << column
    for other in near:
        before = order.before[other] & ~itself
        without = search.parents(other, before)[1]
        adds.append(search.parents(other, before | itself)[1] - without)
        earlier |= 1 << other
        own.append(search.parents(column, earlier)[1])
    totals = [own[-1]]
    added = 0.0
    for k in range(len(near) - 1, -1, -1):
        added += adds[k]
        totals.append(own[k] + added)
    totals.reverse()
    now = sum(order.place[other] < order.place[column] for other in near)
    best = max(range(len(totals)), key=totals.__getitem__)
    if totals[best] <= totals[now] + _TOO_SMALL:
        return None
    if best == 0:
        return 0
    last = order.place[near[best - 1]]
    return last + (last < order.place[column])


class _Grown:
    """The parents that grow and shrink among the columns before one, and what they gain.

    Sets of columns are numbers, a bit for each column: millions are made in a search.
    """

    def __init__(
        self, gains: Gains, columns: int, candidates: Mapping[int, Set[int]] | None
    ) -> None:
        self._gains = gains
        near = [
            sorted(range(columns) if candidates is None else candidates[column])
            for column in range(columns)
        ]
        self._near = [(sum(1 << c for c in others), others) for others in near]
        # Per column, those that it may be a parent or a child of.
        self.around = [set(others) - {column} for column, others in enumerate(near)]
        for column, others in enumerate(near):
            for other in others:
                if other != column:
                    self.around[other].add(column)
        self._found: list[dict[int, tuple[frozenset[int], float]]] = [{} for _ in near]

    def parents(self, column: int, earlier: int) -> tuple[frozenset[int], float]:
        """earlier: the columns before this one, of which its candidates are."""
        (those, near), known = self._near[column], self._found[column]
        possible = earlier & those
        if possible not in known:
            among = [c for c in near if possible >> c & 1]
            known[possible] = self._grow_and_shrink(column, among)
        return known[possible]

    def _grow_and_shrink(self, column: int, left: list[int]) -> tuple[frozenset[int], float]:
        """left: columns that may be parents, in order."""
        chosen: frozenset[int] = frozenset()
        worth = 0.0
        while left:
            gained = self._gains(column, chosen)
            best = max(left, key=gained.__getitem__)
            if gained[best] <= 0:
                break
            left.remove(best)
            chosen, worth = chosen | {best}, worth + float(gained[best])
        while len(chosen) > 1:
            held = {c: self._gains(column, chosen - {c})[c] for c in sorted(chosen)}
            least = min(held, key=held.__getitem__)
            if held[least] >= 0:
                break
            chosen, worth = chosen - {least}, worth - float(held[least])
        return chosen, worth
