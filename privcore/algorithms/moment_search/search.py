"""Search for the best DAG over orders of the columns (BOSS: Andrews et al. 2023).

Given an order, the parents of a column are chosen among the columns before it, by adding and then
deleting one column at a time. Each column in turn moves to the place in the order with the largest
total score, until no column moves. The search finds DAGs that searches over single edges miss.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate

import numpy as np

from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.search.model import Progress, Run
from privcore.arrays import Matrix, Vector
from privcore.errors import Cancelled
from privcore.graphs import topological_order
from privcore.graphs.constraints import Constraints

Parents = tuple[frozenset[int], ...]
Scorer = Callable[[int, frozenset[int]], float]
# For a column and its parents, the gain from adding each other column to the parents.
Gains = Callable[[int, frozenset[int]], Mapping[int, float] | Vector]
Between = Callable[[int], None]
# Per column, its possible neighbours.
Neighbours = dict[int, set[int]]

_TOO_SMALL = 1e-6
# Scores are rounded to this many digits: equivalent DAGs then have equal scores on every processor,
# and a search visits the same DAGs on all of them.
DIGITS = 6
# Square roots whose multiples permute the columns: the orders are unrelated, and the same in every
# run.
_ROOTS = np.sqrt([2, 3, 5, 7, 11, 13])
ORDERS = len(_ROOTS)


def edges_of(dag: Parents) -> set[tuple[int, int]]:
    """All edges of a DAG as (cause, effect)."""
    return {(cause, effect) for effect, causes in enumerate(dag) for cause in causes}


def total(score: Scorer, dag: Parents) -> float:
    """The score of a DAG: the sum over its families (a family is a column with its parents)."""
    return sum(score(column, parents) for column, parents in enumerate(dag))


def causes_first(dag: Parents) -> list[int]:
    """An order of the columns in which each column comes after its parents."""
    return topological_order(len(dag), edges_of(dag))


def best_of_orders(
    score: Scorer,
    candidates: Mapping[int, Collection[int]],
    *,
    max_parents: int = 4,
    between: Between = lambda moves: None,
    start: Parents | None = None,
    orders: int = ORDERS,
) -> Parents:
    """The best DAG found by searches that start from several orders of the columns.

    candidates: the possible neighbours of each column. between: see `OrderSearch.best`. start: a
    DAG whose edges are candidates; the result scores at least as high as this DAG. orders: number
    of fixed orders to start from.
    """
    columns = len(candidates)

    @cache
    def gains(column: int, parents: frozenset[int]) -> Mapping[int, float]:
        return _Gains(score, column, parents, full=len(parents) == max_parents)

    search = OrderSearch(gains, [candidates[c] for c in range(columns)])
    met = [] if start is None else [start]
    first = [*map(causes_first, met), *(_mixed(columns, root) for root in _ROOTS[:orders])]
    dags = [*met, *(search.best(order, between) for order in first)]
    return max(dags, key=lambda dag: total(score, dag))


def _mixed(columns: int, root: float) -> list[int]:
    return [int(c) for c in np.argsort(np.arange(1, columns + 1) * root % 1.0)]


class _Gains(dict[int, float]):
    """The gain in score from each further parent of a column, computed on demand.

    full: whether the column has the maximum number of parents; all gains are then −∞.
    """

    def __init__(self, score: Scorer, column: int, parents: frozenset[int], *, full: bool) -> None:
        self._score, self._column, self._parents, self._full = score, column, parents, full

    def __missing__(self, other: int) -> float:
        more, known = self._parents | {other}, self._parents
        gained = self._score(self._column, more) - self._score(self._column, known)
        self[other] = -np.inf if self._full else gained
        return self[other]


class _Order:
    """An order of the columns.

    place: the position of each column. before: the columns before each column, as a bit set.
    """

    def __init__(self, start: Sequence[int]) -> None:
        self.columns, self.place, self.before = list(start), [0] * len(start), [0] * len(start)
        self._number()

    def move(self, column: int, place: int) -> None:
        """Move the column to this place among the other columns."""
        self.columns.remove(column)
        self.columns.insert(place, column)
        self._number()

    def _number(self) -> None:
        earlier = 0
        for place, column in enumerate(self.columns):
            self.place[column], self.before[column] = place, earlier
            earlier |= 1 << column


class OrderSearch:
    """Searches over orders of the columns, with caches that all searches share.

    Sets of earlier columns are stored as bit sets, because a search makes millions of such sets.
    """

    def __init__(self, gains: Gains, candidates: Sequence[Iterable[int]]) -> None:
        """candidates: the possible parents of each column."""
        self._gains = gains
        self._candidates = [
            sorted(set(others) - {column}) for column, others in enumerate(candidates)
        ]
        self._bits = [sum(1 << c for c in others) for others in self._candidates]
        # Per column, its possible parents and children.
        self._neighbours = [set(others) for others in self._candidates]
        for column, others in enumerate(self._candidates):
            for other in others:
                self._neighbours[other].add(column)
        self._grown: list[dict[int, tuple[frozenset[int], float]]] = [{} for _ in self._candidates]

    def best(self, start: Sequence[int], between: Between = lambda moves: None) -> Parents:
        """The parents of each column in the best DAG found.

        start: the first order. between: called before each column is tried, with the number of
        moves so far; may raise an exception to end the search.
        """
        order, moves, improved = _Order(start), 0, True
        while improved:
            improved = False
            for column in start:
                between(moves)
                place = self._best_place(order, column)
                if place is not None:
                    order.move(column, place)
                    improved = True
                    moves += 1
        return tuple(self._parents(c, order.before[c])[0] for c in range(len(order.place)))

    def _best_place(self, order: _Order, column: int) -> int | None:
        """The place of the column with the largest total score; None if no other place is better.

        All places between two consecutive possible neighbours have the same total.
        """
        ranked, itself = sorted(self._neighbours[column], key=order.place.__getitem__), 1 << column
        # Score of the column before the first neighbour and after each neighbour, and what the
        # column adds to each neighbour's score.
        own, adds, earlier = [self._parents(column, 0)[1]], [], 0
        for other in ranked:
            before = order.before[other] & ~itself
            without = self._parents(other, before)[1]
            adds.append(self._parents(other, before | itself)[1] - without)
            earlier |= 1 << other
            own.append(self._parents(column, earlier)[1])
        after = [*list(accumulate(reversed(adds)))[::-1], 0.0]
        totals = [one + more for one, more in zip(own, after, strict=True)]
        best, here = max(range(len(totals)), key=totals.__getitem__), order.place[column]
        if totals[best] <= totals[sum(order.place[c] < here for c in ranked)] + _TOO_SMALL:
            return None
        last = order.place[ranked[best - 1]] if best else -1
        return last + (last < here)

    def _parents(self, column: int, earlier: int) -> tuple[frozenset[int], float]:
        """The parents chosen among the earlier columns, and their gain in score."""
        possible, known = earlier & self._bits[column], self._grown[column]
        if possible not in known:
            left = [c for c in self._candidates[column] if possible >> c & 1]
            known[possible] = self._grow_and_shrink(column, left)
        return known[possible]

    def _grow_and_shrink(self, column: int, left: list[int]) -> tuple[frozenset[int], float]:
        """The parents found by adding parents, then deleting parents, while the score rises.

        Also returns their gain in score. left: the possible parents, in ascending order.
        """
        chosen: frozenset[int] = frozenset()
        gain = 0.0
        while left:
            gained = self._gains(column, chosen)
            best = max(left, key=gained.__getitem__)
            if gained[best] <= 0:
                break
            left.remove(best)
            chosen, gain = chosen | {best}, gain + float(gained[best])
        while len(chosen) > 1:
            held = {c: self._gains(column, chosen - {c})[c] for c in sorted(chosen)}
            least = min(held, key=held.__getitem__)
            if held[least] >= 0:
                break
            chosen, gain = chosen - {least}, gain - float(held[least])
        return chosen, gain


def parent_log_prior(known: Constraints, n: int) -> Matrix:
    """Log prior of each arrow from background knowledge, indexed [effect, cause], shape (p, p).

    An entry is very negative if the arrow is not allowed, very large if the arrow is an allowed
    direction of a required edge, and otherwise 0. n: number of rows. Such an entry outweighs the
    data, which add less than 1,000 n to a score (for columns with up to e²⁵⁰ levels).
    """
    much = 1e6 + 1e3 * n
    log_prior = np.where(known.allowed.T, 0.0, -much)
    for i, j in known.required:
        for cause, effect in ((i, j), (j, i)):
            if known.allowed[cause, effect]:
                log_prior[effect, cause] = much
    return log_prior


def obeying(score: Scorer, known: Constraints, n: int) -> Scorer:
    """A scorer that adds the log prior from background knowledge to `score`; n: number of rows."""
    if known.empty:
        return score
    log_prior = parent_log_prior(known, n)

    def known_score(column: int, parents: frozenset[int]) -> float:
        return score(column, parents) + float(log_prior[column, sorted(parents)].sum())

    return known_score


def most_parents(run: Run[MomentSearchParameters]) -> int:
    """Maximum number of parents of a column."""
    return max(run.parameters.max_parents, run.known.most_parents)


def between(run: Run[MomentSearchParameters], moves: int) -> None:
    """Report the progress of a search; raise Cancelled if the run is cancelled."""
    run.hooks.progress(Progress(0, moves, 0, moves, "change"))
    end_if_cancelled(run)


def end_if_cancelled(run: Run[MomentSearchParameters]) -> None:
    """Raise Cancelled if the run is cancelled."""
    if run.hooks.cancelled():
        raise Cancelled
