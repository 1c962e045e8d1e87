"""Bounds on the work of a search hold, and a search that reaches its limit says so."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.search.skeleton import Decision, conditioning_sets, search_skeleton
from privcore.data import load_network
from privcore.errors import ParameterError
from privcore.extras.lab.work import estimate, most_tests, searches_by_tests
from tests.examples import examples

SEARCHING = [name for name in ALGORITHMS if searches_by_tests(name)]


@given(p=st.integers(2, 9), order=st.integers(0, 7))
def test_the_most_tests_are_those_of_the_complete_graph(p, order):
    complete = [set(range(p)) - {i} for i in range(p)]
    asked = sum(
        len(list(conditioning_sets(complete, x, y, order))) for x, y in combinations(range(p), 2)
    )
    assert most_tests(p, order) == most_tests(p, order, p - 1) == asked


@given(
    p=st.integers(3, 10), order=st.integers(1, 4), share=st.floats(0, 1), seed=st.integers(0, 99)
)
def test_no_graph_of_that_degree_asks_for_more(p, order, share, seed):
    generator = np.random.default_rng(seed)
    adjacent = [set() for _ in range(p)]
    for x, y in combinations(range(p), 2):
        if generator.random() < share:
            adjacent[x].add(y)
            adjacent[y].add(x)
    degree = max(map(len, adjacent))
    asked = sum(
        len(list(conditioning_sets(adjacent, x, y, order)))
        for x in range(p)
        for y in adjacent[x]
        if x < y
    )
    assert asked <= most_tests(p, order, max(degree, 1))


class Coins(Decision):
    """Independent by the toss of a coin, the same for the same question."""

    def __init__(self, seed):
        self._seed = seed
        self.asked = 0

    def independent(self, x, y, given):
        self.asked += 1
        return np.random.default_rng([self._seed, x, y, *given]).random() < 0.2


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 999), limit=st.integers(1, 60), stable=st.booleans())
def test_a_limit_cuts_the_same_search_short(seed, limit, stable):
    names = tuple("abcdef")
    whole = search_skeleton(names, Coins(seed), stable=stable)
    decision = Coins(seed)
    cut = search_skeleton(names, decision, stable=stable, limit=limit)
    assert cut.tests_run == decision.asked == min(limit, whole.tests_run)
    if cut.stopped is None:
        assert cut == whole
    else:
        assert cut.stopped == "work"
        assert cut.separating_sets.items() <= whole.separating_sets.items()
        assert cut.graph.skeleton >= whole.graph.skeleton
        assert sum(cut.unreached.values()) >= whole.tests_run - limit


@pytest.fixture(scope="module")
def sachs():
    return count(load_network("sachs").sample(5_000, 1))


@pytest.mark.parametrize("name", SEARCHING)
def test_every_search_keeps_to_the_limit_and_says_what_is_left(sachs, name):
    private = {"epsilon": 1e6} if ALGORITHMS[name].private else {}
    given = {
        k: v
        for k, v in {**private, "max_tests": 2_000}.items()
        if k in {p.name for p in ALGORITHMS[name].parameters}
    }
    if name == "lapmech":
        sachs = count(load_network("asia").sample(5_000, 1))
    whole = discover(sachs, name, given, seed=1)
    assert whole.stopped is None
    for limit in (20, 100):
        if limit >= whole.tests_run:
            continue
        cut = discover(sachs, name, given, seed=1, test_limit=limit)
        assert cut.stopped == "work"
        assert cut.tests_run <= limit
        assert cut.unreached.tests > 0
        assert cut.unreached.epsilon is None
        assert cut.unreached.first <= cut.unreached.last
        # Stopping is post-processing: the promise is the same.
        assert cut.guarantee == whole.guarantee


@pytest.mark.parametrize("score", ["g2", "chi2", "z-star"])
def test_pc_makes_just_as_many_tests_as_it_may(sachs, score):
    whole = discover(sachs, "pc", {"score": score})
    for limit in (1, 54, 55, 56, 200, whole.tests_run - 1):
        cut = discover(sachs, "pc", {"score": score}, test_limit=limit)
        assert (cut.stopped, cut.tests_run) == ("work", limit)
        # Scores may be made in another way then, and differ by rounding.
        for step, other in zip(cut.trace, whole.trace[:limit], strict=True):
            assert (step[:5], step.independent) == (other[:5], other.independent)
            assert step.score == pytest.approx(other.score, rel=1e-9)
    for limit in (whole.tests_run, None):
        assert discover(sachs, "pc", {"score": score}, test_limit=limit).graph == whole.graph


def test_an_estimate_is_made_of_public_facts():
    found = estimate(10_000, (2,) * 37, "pc", {"max_order": 2})
    assert [work.order for work in found.orders] == [0, 1, 2]
    assert found.orders[0] == (0, 666, 666)
    assert found.orders[2].at_most == 666 * 595
    assert found.tests < found.tests_at_most
    assert found.seconds > 0
    assert found.sentence().startswith("About ")
    assert estimate(10_000, (2,) * 5, "pc", {"max_order": "auto"}).tests_at_most == 80
    assert estimate(100, (2, 2), "pc").tests == 1
    assert estimate(10_000, (2,) * 5, "moment-search") is None
    with pytest.raises(ParameterError, match="degree"):
        estimate(10_000, (2,) * 5, "pc", degree=0)
    with pytest.raises(ParameterError, match="test-limit"):
        discover(load_network("asia").sample(50, 1), "pc", test_limit=0)
