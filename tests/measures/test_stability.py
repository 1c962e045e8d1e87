"""How often a graph comes out again, where the answer is known."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore import discover
from privcore.algorithms import count
from privcore.algorithms.search.model import NoHooks
from privcore.counts import InMemoryCounts
from privcore.data import Column, Dataset
from privcore.errors import Cancelled, DataError, ParameterError
from privcore.extras.lab import stability as module
from privcore.extras.lab.stability import Stability, frequencies, halves, judge
from privcore.graphs import PDAG
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.storage.external import ExternalCounts
from tests.examples import examples
from tests.messages import begins, outside, raises_code, reads, says, shows


def table(**columns):
    """Whole numbers are levels, others are numbers."""
    kinds = [
        Column(name, "nominal", tuple(f"l{k}" for k in range(values.max() + 1)), declared=True)
        if values.dtype.kind == "i"
        else Column(name, "continuous", bounds=(-5.0, 5.0), declared=True)
        for name, values in columns.items()
    ]
    return Dataset("t", tuple(kinds), tuple(columns.values()))


def chain(n=4_000, seed=0):
    """a — b — c, each the same as the last in 9 of 10 rows; d is independent."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.9, a, 1 - a)
    c = np.where(rng.random(n) < 0.9, b, 1 - b)
    return table(a=a, b=b, c=c, d=rng.integers(0, 2, n))


def independent(n=4_000, seed=0):
    rng = np.random.default_rng(seed)
    return table(a=rng.integers(0, 2, n), b=rng.integers(0, 3, n), c=rng.integers(0, 2, n))


def numbers(n=2_000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, n).clip(-5, 5)
    return table(x=x, y=(x + rng.normal(0, 0.3, n)).clip(-5, 5), z=rng.normal(0, 1, n).clip(-5, 5))


def rows_of(source):
    """Number of rows by configuration."""
    configurations, counts = source.unique()
    return {tuple(map(int, row)): int(k) for *row, k in zip(*configurations, counts, strict=True)}


@settings(max_examples=examples(50), deadline=None)
@given(n=st.integers(4, 60), seed=st.integers(0, 1_000))
def test_no_row_is_in_both_halves_and_all_are_in_one(n, seed):
    rng = np.random.default_rng(seed)
    source = InMemoryCounts.from_dataset(table(a=rng.integers(0, 2, n), b=rng.integers(0, 3, n)))
    one, other = halves(source, SimulatedNoise(seed))
    assert (one.n, other.n) == (n // 2, n - n // 2)
    first, second = rows_of(one), rows_of(other)
    together = {row: first.get(row, 0) + second.get(row, 0) for row in {*first, *second}}
    assert together == rows_of(source)
    assert one.levels == other.levels == source.levels


@settings(max_examples=examples(50), deadline=None)
@given(n=st.integers(4, 60), seed=st.integers(0, 1_000))
def test_rows_of_numbers_are_halved_too(n, seed):
    source = count(numbers(n, seed))
    one, other = halves(source, SimulatedNoise(seed))
    assert (one.n, other.n) == (n // 2, n - n // 2)
    assert one.bounds == other.bounds == source.bounds
    together = np.vstack([one.rows()[0], other.rows()[0]])
    np.testing.assert_array_equal(np.unique(together, axis=0), np.unique(source.rows()[0], axis=0))


def test_every_row_is_as_likely_in_either_half():
    """Over 400 cuts of 20 distinct rows; 0.35 to 0.65 is 6 standard deviations."""
    counted = InMemoryCounts.from_dataset(table(a=np.repeat([0, 1], 10), b=np.tile(range(10), 2)))
    number = count(numbers(20))
    for source in (counted, number):
        first = [halves(source, SimulatedNoise(seed))[0] for seed in range(400)]
        rows, times = np.unique(
            np.vstack([part.rows()[0] for part in first]), axis=0, return_counts=True
        )
        assert len(rows) == 20
        assert 0.35 < times.min() / 400 < 0.5 < times.max() / 400 < 0.65


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ["moment-search", "pc"])
def test_halves_of_independent_columns_agree_on_no_edge(algorithm):
    data = independent()
    parameters = {"threshold": 1e-6} if algorithm == "pc" else {"epsilon": 2.0}
    result = discover(data, algorithm, seed=1, **parameters)
    judged = judge(data, result, runs=8)
    assert not result.graph.skeleton
    assert judged.half_f1 == 1
    assert judged.pairs == judged.seldom == []
    assert shows(judged.sentence(), "no-half-shows-an-edge")
    assert judged.seldom_sentence() == ""


@pytest.mark.long
def test_the_edges_of_a_strong_chain_come_back_each_time():
    data = chain()
    result = discover(data, epsilon=5.0, seed=1)
    judged = judge(data, result, runs=6)
    assert sorted(result.graph.skeleton) == [(0, 1), (1, 2)]
    for seen in (judged.over_rolls, judged.over_halves):
        assert {pair: often.adjacent for pair, often in seen.items()} == {(0, 1): 1, (1, 2): 1}
    assert (judged.same, judged.roll_f1, judged.half_f1, judged.seldom) == (6, 1, 1, [])
    assert reads(
        judged.sentence(),
        "rolls-agree",
        rolls=6,
        same=6,
        mean="1.00",
        share=100,
        half_mean="1.00",
        halvings=3,
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("data", "algorithm"),
    [
        (chain(600), "moment-search"),
        (chain(600), "laplace-pc"),
        (numbers(600), "moment-search"),
        (numbers(600), "pc"),
    ],
)
def test_a_seed_says_all(data, algorithm):
    result = discover(data, algorithm, seed=1)
    judged = judge(data, result, runs=6, seed=3)
    assert judge(count(data), result, runs=6, seed=3) == judged
    more = judge(data, result, runs=8, seed=3)
    assert more.rolls[: len(judged.rolls)] == judged.rolls
    assert more.halves[:3] == judged.halves
    if algorithm == "laplace-pc":
        assert judge(data, result, runs=6, seed=4) != judged


def test_every_run_has_the_settings_of_the_result_and_noise_of_its_own(monkeypatch):
    calls = []
    inner = module.discover

    def spy(source, algorithm, parameters, *, noise, **more):
        draw = noise.laplace(0.0, 1.0)
        calls.append((source.n, algorithm, dict(parameters), draw))
        return inner(source, algorithm, parameters, noise=noise, **more)

    data = chain(601)
    result = discover(data, "priv-pc", epsilon=0.7, delta=1e-5, seed=1)
    monkeypatch.setattr(module, "discover", spy)
    judge(data, result, runs=5)
    assert [n for n, *_ in calls] == [601] * 5 + [300, 301] * 2
    assert all(call[1:3] == ("priv-pc", dict(result.parameters)) for call in calls)
    assert len({draw for *_, draw in calls}) == len(calls)


def test_without_noise_there_are_halves_only():
    data = chain()
    judged = judge(data, discover(data, "pc"), runs=4)
    assert (judged.rolls, judged.roll_f1, len(judged.halves)) == ((), None, 2)
    assert begins(judged.sentence(), "halves-agree")
    assert judged.as_dict()["rolls"] is None


def test_mixed_columns_are_taken_as_in_the_run():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 3_000)
    data = table(a=a, x=(3 * a + rng.normal(0, 0.5, a.size)).clip(-5, 5))
    judged = judge(data, discover(data, epsilon=5.0, seed=1), runs=4)
    assert judged.over_halves[0, 1].adjacent == 1
    parts = halves(count(data).numbers(), SimulatedNoise(1))
    assert [part.own_levels for part in parts] == [(2, 0), (2, 0)]


NODES = ("a", "b", "c")
SHOWN = PDAG(NODES, directed=frozenset({(0, 1)}), undirected=frozenset({(1, 2)}))
BACK = PDAG(NODES, directed=frozenset({(1, 0)}))
BOTH = PDAG(NODES, bidirected=frozenset({(0, 1)}))
NONE = PDAG(NODES)


def test_frequencies_count_pairs_and_arrows():
    seen = frequencies([SHOWN, BACK, BOTH, NONE])
    assert seen == {(0, 1): (0.75, 0.25, 0.25), (1, 2): (0.25, 0.0, 0.0)}


def test_what_is_said_of_a_graph_by_hand():
    judged = Stability(SHOWN, (SHOWN, BACK, NONE, SHOWN), ((SHOWN, BACK), (NONE, BACK)))
    assert judged.same == 2
    assert judged.roll_f1 == pytest.approx((1 + 2 / 3 + 0 + 1) / 4)
    assert judged.half_f1 == pytest.approx((2 / 3 + 0) / 2)
    assert judged.seldom == [(1, 2)]
    assert reads(judged.seldom_sentence(), "seldom-edges", edges="b – c (25 %)")
    assert reads(
        judged.sentence(),
        "rolls-agree",
        rolls=4,
        same=2,
        mean="0.67",
        share=33,
        half_mean="0.33",
        halvings=2,
    )
    said = json.loads(json.dumps(judged.as_dict()))
    assert said["seldom"] == [["b", "c"]]
    assert said["rolls"] == {"runs": 4, "same": 2, "f1": judged.roll_f1}
    first = said["pairs"][0]
    assert (first["pair"], first["shown"]) == (["a", "b"], True)
    assert first["over_halves"] == {"adjacent": 0.75, "forward": 0.25, "backward": 0.5}
    assert said["note"].startswith("Not private")


def test_a_half_that_cannot_be_run_is_said():
    rng = np.random.default_rng(0)
    rare = np.eye(1, 400, dtype=np.int64)[0]
    # One half has the only row of a level, so that the other has a constant column.
    data = table(a=rng.integers(0, 2, 400), b=rng.integers(0, 2, 400), rare=rare)
    with raises_code(DataError, "no-half-could-be-run", reason="Column 'rare'"):
        judge(data, discover(data, "notears"), runs=4)
    rare = (np.arange(400) < 4).astype(np.int64)
    data = table(a=rng.integers(0, 2, 400), b=rng.integers(0, 2, 400), rare=rare)
    judged = judge(data, discover(data, "notears"), runs=20)
    assert 0 < len(judged.refused) < 10
    assert len(judged.halves) == 10 - len(judged.refused)
    assert shows(judged.sentence(), "half-could-not-be-run", reason="Column 'rare'")


def test_it_can_be_cancelled_and_tells_how_far_it_is():
    data, seen = chain(400), []

    class Stop(NoHooks):
        def cancelled(self):
            return len(seen) > 3

    def watch(done, of):
        seen.append((done, of))
        return Stop()

    with pytest.raises(Cancelled):
        judge(data, discover(data, "laplace-pc", seed=1), runs=4, watch=watch)
    assert seen == [(0, 8), (1, 8), (2, 8), (3, 8)]


def test_what_cannot_be_judged_is_refused_in_one_sentence():
    data = chain(400)
    result = discover(data, "pc")
    with pytest.raises(ParameterError, match=outside("stability", 1)):
        judge(data, result, runs=1)
    with pytest.raises(DataError, match=says("too-few-rows-to-halve", rows=3, least=4)):
        judge(table(a=np.array([0, 1, 1]), b=np.array([1, 0, 1])), result, runs=2)
    with raises_code(DataError, "halved-in-memory"):
        halves(object.__new__(type("Rows", (ExternalCounts,), {"n": 10})), SimulatedNoise(0))
