"""One skeleton search for every constraint-based algorithm.

The search of PC (Spirtes, Glymour & Scheines 2000, Section 5.4.2) calls a `Decision` to decide
whether x and y are independent given S. Each algorithm has its own decision, with its own cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import combinations
from math import comb
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from privcore.algorithms.search.model import Hooks, NoHooks, Progress
from privcore.algorithms.search.result import Edge, HiddenStage, Stopped
from privcore.arrays import Columns
from privcore.errors import BudgetError, Cancelled
from privcore.graphs import PDAG
from privcore.graphs.constraints import Constraints, Triple


class Answer(NamedTuple):
    """The set that separates a pair (None if no set does), and the number of tests made."""

    separating_set: Columns | None
    tests: int


class Decision(ABC):
    """Decides whether two columns are independent given others; each algorithm has a subclass."""

    @abstractmethod
    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        """Whether x and y count as independent given `conditioning_set`.

        Raises BudgetError if the budget does not cover another test; the search then ends.
        """

    def fits(self, x: int, y: int, conditioning_set: Columns) -> bool:
        """Whether a test is possible, judged by public facts alone; if not, the set is skipped."""
        return True

    def whole_order(
        self, order: int, pairs: list[Edge], adjacent: list[set[int]]
    ) -> Iterator[Answer | None] | None:
        """Answers for the pairs in turn, if all tests of an order can be made at once.

        adjacent: for each column, the neighbours that conditioning sets are taken from, frozen for
        the order. None in place of an answer means that `independent` must test this pair; None in
        place of the iterator means that `independent` must test every pair.
        """
        return None

    def begin_order(  # noqa: B027
        self, order: int, pairs: int, tests: Callable[[], dict[int, int]]
    ) -> None:
        """Called before each order.

        pairs: number of adjacent pairs. tests: returns the maximum number of tests in this and each
        later order; a function, because counting tests takes time.
        """


class Skeleton(NamedTuple):
    """Undirected edges, separating sets of the removed pairs, and how the search ended.

    unreached: number of remaining tests per unfinished order, if no further edge is deleted.
    stopped: see `Discovery`; "size" only if no budget or limit ended the search.
    overruled: v-structures (x, z, y) that tests show and background knowledge rules out.
    hidden_stage, repeats: see `Discovery`.
    """

    graph: PDAG
    separating_sets: dict[Edge, frozenset[int]]
    tests_run: int
    orders_run: int
    stopped: Stopped | None
    unreached: dict[int, int]
    overruled: frozenset[Triple] = frozenset()
    hidden_stage: HiddenStage | None = None
    repeats: Mapping[int, int] = MappingProxyType({})

    @property
    def found_sets(self) -> dict[Edge, set[frozenset[int]]]:
        """The one separating set of each removed pair, in the form that `orient` takes."""
        return {pair: {separating_set} for pair, separating_set in self.separating_sets.items()}


def search_skeleton(
    nodes: tuple[str, ...],
    decision: Decision,
    *,
    stable: bool = True,
    max_order: int | None = None,
    hooks: Hooks | None = None,
    start: PDAG | None = None,
    prepare: Callable[[list[tuple[int, ...]]], None] | None = None,
    limit: int | None = None,
    known: Constraints | None = None,
) -> Skeleton:
    """Find the skeleton by PC: remove edges from the complete graph, order by order.

    Two columns are adjacent in every DAG that is faithful to the distribution if no set of other
    columns makes them independent.  If some set makes them independent, the parents of one of the
    two columns also make them independent, and parents are neighbours.  In order k, each pair is
    therefore tested given sets of k neighbours of either end.  The search ends when no column has k
    further neighbours (Spirtes, Glymour & Scheines 2000, Section 5.4.2).

    stable: whether adjacencies are frozen while an order is tested, so that the result does not
        depend on the order of the columns (Colombo & Maathuis 2014). Otherwise adjacencies change
        at once, as in the original PC. In both cases, no set is tested twice.
    max_order: maximum size of the conditioning sets, None for no limit.
    start: a graph to begin with in place of the complete one.
    prepare: called before each order, if given, with the sets of columns that the tests will use.
    limit: maximum number of tests, None for no limit.
    known: background knowledge. Forbidden and required edges are not tested. Conditioning sets are
        taken from neighbours that may be parents, because the parents of one end separate a pair
        that is not adjacent.

    If the decision raises BudgetError or the limit is reached, edges that are not yet removed stay.
    A conditioning set for which no test is possible (`decision.fits`) is skipped, and so removes no
    edge.  Raises Cancelled if `hooks.cancelled` returns True.

    Example: an oracle for the chain a → b → c, where only b separates a and c.

        >>> class Chain(Decision):
        ...     def independent(self, x, y, conditioning_set):
        ...         return (x, y, conditioning_set) == (0, 2, (1,))
        >>> skeleton = search_skeleton(("a", "b", "c"), Chain())
        >>> sorted(skeleton.graph.skeleton), skeleton.separating_sets, skeleton.tests_run
        ([(0, 1), (1, 2)], {(0, 2): frozenset({1})}, 6)
    """
    hooks = hooks or NoHooks()
    p = len(nodes)
    known = known or Constraints.none(p)
    first = start or known.start(nodes)
    around: list[set[int]] = [set() for _ in range(p)]
    for i, j in first.skeleton:
        around[i].add(j)
        around[j].add(i)
    # Pairs that are tested, and per column the neighbours that sets are taken from.
    open_pairs = set(first.skeleton - known.required)
    adjacent = known.possible_parents(around)
    separating: dict[Edge, frozenset[int]] = {}
    tests = 0
    order = 0
    orders_run = 0
    stopped: Stopped | None = None
    unreached: dict[int, int] = {}
    unfit: dict[int, int] = {}

    def remove(x: int, y: int) -> None:
        open_pairs.discard((x, y))
        for candidates in (around, adjacent):
            candidates[x].discard(y)
            candidates[y].discard(x)

    while stopped is None and (max_order is None or order <= max_order):
        frozen = [set(neighbours) for neighbours in adjacent] if stable else adjacent
        pairs = sorted(open_pairs)
        # Order 0 is always tested; later ones only while some neighbourhood is large enough.
        if not any(len(frozen[i] - {j}) >= order for x, y in pairs for i, j in ((x, y), (y, x))):
            break
        orders_run = order + 1
        if prepare:
            prepare(
                [
                    (i, *sorted(candidates))
                    for i, candidates in enumerate(around)
                    if len(candidates) > order
                ]
            )
        decision.begin_order(
            order, len(pairs), partial(_tests_from, open_pairs, adjacent, order, max_order)
        )
        # The answers for a whole order may need more tests than the limit allows.
        within = limit is None or _tests_within(frozen, pairs, order, limit - tests)
        answers = decision.whole_order(order, pairs, frozen) if stable and within else None
        for done, (x, y) in enumerate(pairs):
            hooks.progress(Progress(order, done, len(pairs), tests))
            answer = next(answers) if answers else None
            if answer is not None:
                if hooks.cancelled():
                    raise Cancelled
                tests += answer.tests
                if answer.separating_set is not None:
                    remove(x, y)
                    separating[(x, y)] = frozenset(answer.separating_set)
                continue
            for tried, conditioning_set in enumerate(conditioning_sets(frozen, x, y, order)):
                if hooks.cancelled():
                    raise Cancelled
                if not decision.fits(x, y, conditioning_set):
                    unfit[order] = unfit.get(order, 0) + 1
                    continue
                try:
                    if tests == limit:
                        raise BudgetError("test-limit-reached", reason="work")
                    independent = decision.independent(x, y, conditioning_set)
                except BudgetError as error:
                    stopped = error.reason
                    here = [count_sets(frozen, *pair, order) for pair in pairs[done:]]
                    unreached = {order: sum(here) - tried}
                    unreached |= _tests_from(open_pairs, adjacent, order + 1, max_order)
                    break
                tests += 1
                if independent:
                    remove(x, y)
                    separating[(x, y)] = frozenset(conditioning_set)
                    break
            if stopped:
                break
        order += 1

    if unfit and stopped is None:
        stopped, unreached = "size", unfit
    graph = PDAG(nodes, undirected=frozenset(open_pairs | (first.skeleton & known.required)))
    return Skeleton(graph, separating, tests, orders_run, stopped, unreached, repeats=known.repeats)


def conditioning_sets(
    adjacent: list[set[int]], x: int, y: int, order: int
) -> Iterator[tuple[int, ...]]:
    """Yield each set of `order` neighbours of x, then of y, in sorted order and only once."""
    yield from combinations(sorted(adjacent[x] - {y}), order)
    of_x = adjacent[x]
    for conditioning_set in combinations(sorted(adjacent[y] - {x}), order):
        if not all(node in of_x for node in conditioning_set):
            yield conditioning_set


def count_sets(adjacent: list[set[int]], x: int, y: int, order: int) -> int:
    """Number of sets that `conditioning_sets` yields."""
    of_x, of_y = adjacent[x] - {y}, adjacent[y] - {x}
    both = comb(len(of_x & of_y), order)
    return comb(len(of_x), order) + comb(len(of_y), order) - both


def _tests_within(adjacent: list[set[int]], pairs: list[Edge], order: int, left: int) -> bool:
    return sum(count_sets(adjacent, x, y, order) for x, y in pairs) <= left


def count_tests(known: Constraints, orders: int) -> int:
    """Number of tests in the first `orders` orders if no edge is deleted, from public facts."""
    adjacent = known.possible_parents(known.neighbours())
    pairs = [(x, y) for x, y in np.argwhere(np.triu(known.open)).tolist()]
    return sum(count_sets(adjacent, x, y, k) for k in range(orders) for x, y in pairs)


def _tests_from(
    pairs: Iterable[Edge], adjacent: list[set[int]], first: int, max_order: int | None
) -> dict[int, int]:
    """Number of tests in each order from `first` on, if no further edge is deleted."""
    pairs = sorted(pairs)
    largest = max((len(neighbours) - 1 for neighbours in adjacent), default=0)
    last = largest if max_order is None else min(largest, max_order)
    return {
        order: sum(count_sets(adjacent, x, y, order) for x, y in pairs)
        for order in range(first, last + 1)
    }
