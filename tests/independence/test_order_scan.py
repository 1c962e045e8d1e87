"""A whole order tested by compiled kernels: the same answers as test by test."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore import kernels
from privcore.algorithms import count, discover
from privcore.algorithms.search.model import NoHooks
from privcore.counts import InMemoryCounts, projections
from privcore.data import load_network
from privcore.errors import Cancelled
from privcore.independence import table_scores
from tests.examples import examples
from tests.one_by_one import one_by_one

SCORES = pytest.mark.parametrize("score", ["g2", "chi2"])


def source_of(seed, p, rows, most):
    """Columns that depend on a column before them, with up to `most` levels."""
    generator = np.random.default_rng(seed)
    levels = generator.integers(2, most + 1, p)
    columns = []
    for j in range(p):
        noise = generator.integers(0, levels[j], rows)
        cause = columns[generator.integers(j)] if j and generator.random() < 0.8 else 0 * noise
        columns.append(np.where(generator.random(rows) < 0.4, noise, cause % levels[j]))
    names = tuple(f"c{j}" for j in range(p))
    ones = np.ones(rows, dtype=np.int64)
    return lambda: InMemoryCounts(names, tuple(map(int, levels)), tuple(columns), ones)


def assert_same(fast, slow):
    assert fast.graph == slow.graph
    assert fast.separating_sets == slow.separating_sets
    assert fast.tests_run == slow.tests_run
    assert fast.orders_run == slow.orders_run
    for ours, theirs in zip(fast.trace, slow.trace, strict=True):
        assert ours[:5] == theirs[:5]
        assert ours.independent == theirs.independent
        assert ours.score == pytest.approx(theirs.score, rel=1e-9, abs=1e-12)


def both_ways(make, given_parameters):
    fast = discover(make(), "pc", given_parameters)
    with one_by_one():
        slow = discover(make(), "pc", given_parameters)
    return fast, slow


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    p=st.integers(2, 8),
    rows=st.sampled_from([5, 60, 800]),
    most=st.sampled_from([2, 3, 9]),
    score=st.sampled_from(["g2", "chi2"]),
    level=st.sampled_from([1e-4, 0.05, 0.4]),
)
def test_searches_agree_with_testing_one_by_one(seed, p, rows, most, score, level):
    asked = {"score": score, "threshold": level, "max_order": None}
    with pytest.MonkeyPatch.context() as patch:
        # Rows are merged however few there are.
        patch.setattr(projections, "_FEW_ROWS", 0)
        assert_same(*both_ways(source_of(seed, p, rows, most), asked))


@SCORES
@pytest.mark.parametrize("name", ["asia", "sachs"])
def test_networks_agree_with_testing_one_by_one(name, score):
    data = load_network(name).sample(5_000, 1)
    assert_same(*both_ways(lambda: count(data), {"score": score}))


@SCORES
def test_a_value_at_the_threshold_is_decided_by_its_p_value(score):
    """The level is the p-value of one test, so that rounding could decide either way."""
    make = source_of(3, 6, 500, 3)
    plain = discover(make(), "pc", {"score": score})
    levels = {step.score for step in plain.trace if 0.001 < step.score < 0.5}
    assert len(levels) > 5
    for level in sorted(levels)[:12]:
        assert_same(*both_ways(make, {"score": score, "threshold": level}))


@SCORES
@pytest.mark.parametrize(("limit", "value"), [("_CELLS", 20), ("_DEGREES", 4), ("_TESTS", 7)])
def test_tests_that_do_not_fit_are_made_one_by_one(monkeypatch, score, limit, value):
    monkeypatch.setattr(table_scores, limit, value)
    data = load_network("survey").sample(20_000, 2)
    fast, slow = both_ways(lambda: count(data), {"score": score, "threshold": 0.2})
    assert_same(fast, slow)
    assert fast.orders_run > 2


def test_a_repeated_search_takes_what_is_kept(monkeypatch):
    source = source_of(4, 6, 500, 3)()
    first = discover(source, "pc", {"score": "g2"})

    def refuse(*arguments):
        raise AssertionError("counted again")

    monkeypatch.setattr(kernels.tables, "test_pairs", refuse)
    assert_same(discover(source, "pc", {"score": "g2"}), first)


def test_a_search_can_be_cancelled_within_an_order():
    class Cancel(NoHooks):
        def __init__(self):
            self.seen = 0

        def progress(self, progress):
            self.seen += 1

        def cancelled(self):
            return self.seen > 5

    hooks = Cancel()
    with pytest.raises(Cancelled):
        discover(source_of(5, 8, 100, 3)(), "pc", {"score": "g2"}, hooks=hooks)
    assert hooks.seen == 6
