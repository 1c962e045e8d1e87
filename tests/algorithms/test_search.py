"""The skeleton search by itself: orders, stopping, cancelling, sets."""

import pytest

from privcore.algorithms.search.model import NoHooks
from privcore.algorithms.search.skeleton import (
    Decision,
    conditioning_sets,
    count_sets,
    search_skeleton,
)
from privcore.errors import BudgetError, Cancelled

NODES = tuple("abcde")


class Scripted(Decision):
    """Answers from a set of (x, y, given); counts questions; runs out after `limit`."""

    def __init__(self, independent=(), limit=None):
        self.yes = set(independent)
        self.limit = limit
        self.asked = []

    def independent(self, x, y, given):
        if self.limit is not None and len(self.asked) == self.limit:
            raise BudgetError("spent")
        self.asked.append((x, y, given))
        return (x, y, given) in self.yes


def test_nothing_independent_asks_everything_once():
    decision = Scripted()
    found = search_skeleton(NODES, decision)
    assert len(decision.asked) == len(set(decision.asked)) == 10 * 2**3
    assert found.tests_run == 80
    assert found.orders_run == 4
    assert len(found.graph.undirected) == 10


def test_everything_independent_asks_each_pair_once():
    pairs = {(i, j, ()) for i in range(5) for j in range(i + 1, 5)}
    decision = Scripted(pairs)
    found = search_skeleton(NODES, decision)
    assert found.tests_run == 10
    assert found.orders_run == 1
    assert found.graph.skeleton == frozenset()
    assert found.separating_sets == {(i, j): frozenset() for i, j, _ in pairs}


def test_the_maximum_order():
    assert {len(g) for *_, g in _asked(max_order=1)} == {0, 1}
    assert {len(g) for *_, g in _asked(max_order=0)} == {0}


def _asked(**options):
    decision = Scripted()
    search_skeleton(NODES, decision, **options)
    return decision.asked


def test_edges_not_yet_removed_stay_when_the_budget_is_spent():
    decision = Scripted({(0, 1, ()), (3, 4, ())}, limit=3)
    found = search_skeleton(NODES, decision)
    assert found.stopped == "budget"
    assert (0, 1) not in found.graph.skeleton
    assert (3, 4) in found.graph.skeleton
    assert found.tests_run == 3
    # Order 0 has 7 pairs left; 9 edges stay, each with sets of its 2 to 3 other neighbours.
    assert found.unreached[0] == 7
    rerun = Scripted({(0, 1, ())})
    search_skeleton(NODES, rerun)
    for order, tests in found.unreached.items():
        if order:
            assert tests == sum(len(given) == order for *_, given in rerun.asked)


def test_stable_keeps_neighbourhoods_within_an_order():
    """Removing 0 — 1 given 2 must not change the sets for 0 — 3 in the same order."""
    yes = {(0, 1, (2,))}
    stable, original = Scripted(yes), Scripted(yes)
    search_skeleton(NODES, stable, max_order=1)
    search_skeleton(NODES, original, max_order=1, stable=False)
    assert (0, 3, (1,)) in stable.asked
    assert len(original.asked) <= len(stable.asked)


def test_sets_come_from_either_end_once_each():
    adjacent = [{1, 2, 3}, {0, 2, 4}, {0, 1}, {0}, {1}]
    assert list(conditioning_sets(adjacent, 0, 1, 1)) == [(2,), (3,), (4,)]
    assert list(conditioning_sets(adjacent, 0, 1, 2)) == [(2, 3), (2, 4)]


def test_progress_and_cancelling():
    class Watching(NoHooks):
        def __init__(self):
            self.seen = []

        def progress(self, progress):
            self.seen.append(progress)

        def cancelled(self):
            return len(self.seen) > 12

    hooks = Watching()
    with pytest.raises(Cancelled):
        search_skeleton(NODES, Scripted(), hooks=hooks)
    assert [p.order for p in hooks.seen] == [0] * 10 + [1] * 3
    assert hooks.seen[9].done == 9
    assert hooks.seen[9].pairs == 10


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_counting_sets_agrees_with_making_them(order):
    adjacent = [{1, 2, 3}, {0, 2, 4}, {0, 1}, {0}, {1}]
    assert count_sets(adjacent, 0, 1, order) == len(list(conditioning_sets(adjacent, 0, 1, order)))
