"""Surrogates have the public shape and nothing of the rows; targets are met, barely."""

import math
from dataclasses import replace

import numpy as np
import pytest

from privcore.algorithms import discover
from privcore.algorithms.search.model import NoHooks
from privcore.data import Dataset, StructuralExample, load_network
from privcore.errors import Cancelled, DataError, ParameterError
from privcore.extras.lab.planning.adviser import (
    epsilon_for_noise,
    epsilon_for_quality,
    most_runs,
    noise_against_threshold,
)
from privcore.extras.lab.planning.surrogate import Shape, Surrogates, expected_quality, surrogate
from tests.messages import raises_code, shows


@pytest.fixture(scope="module")
def child():
    return load_network("child").sample(2_000, 1)


@pytest.fixture(scope="module")
def numbers():
    return StructuralExample("linear-gaussian", nodes=6).sample(2_000, 1)


def test_surrogates_have_exactly_the_levels_and_rows(child):
    shape = Shape.of(child)
    for seed in (1, 2):
        made = surrogate(shape, seed)
        assert (made.n, made.levels) == (child.n, child.levels)
        assert len(made.true_edges) == child.p
        assert not made.caveats
    one, two, again = (surrogate(shape, seed) for seed in (1, 2, 1))
    assert one.true_edges != two.true_edges
    assert all((a == b).all() for a, b in zip(one.values, again.values, strict=True))


def test_surrogates_of_numbers_have_the_bounds(numbers):
    ends = tuple((-10.0 * i, 3.0) for i in range(1, 7))
    made = surrogate(Shape(500, bounds=ends), 3)
    assert tuple(column.bounds for column in made.columns) == ends
    for values, (low, high) in zip(made.values, ends, strict=True):
        assert abs(values.mean() - (low + high) / 2) < 0.1 * (high - low)
        assert values.std() == pytest.approx((high - low) / 8, rel=0.15)
    assert Shape.of(numbers).bounds == tuple(c.bounds for c in numbers.columns)


def test_nothing_but_the_shape_is_read(child):
    """Two tables of the same shape have the same surrogates, whatever their rows say."""
    other = Dataset("other", child.columns, tuple(np.zeros_like(v) for v in child.values))
    assert Shape.of(other) == Shape.of(child)


def test_mixed_columns_have_no_shape(numbers, child):
    mixed = Dataset(
        "mixed", (numbers.columns[0], child.columns[0]), (numbers.values[0], child.values[0])
    )
    with raises_code(DataError, "columns-of-both-kinds"):
        Shape.of(mixed)


def test_quality_grows_with_the_budget_and_failures_are_said():
    shape = Shape(5_000, levels=(2, 3, 2, 3, 2, 2))
    surrogates = Surrogates(shape, (1, 2, 3))
    low, high = (surrogates.quality("priv-pc", {"epsilon": e}) for e in (0.01, 100))
    assert high.f1["non_private"]["skeleton"].mean > 0.8
    assert low.f1["truth"]["skeleton"].mean < high.f1["truth"]["skeleton"].mean
    assert high.runs == 3
    assert high == expected_quality(shape, "priv-pc", {"epsilon": 100}, (1, 2, 3))
    refused = expected_quality(Shape(50, levels=(9,) * 12), "lapmech", {"epsilon": 1}, (1, 2))
    assert refused.runs == 0
    assert shows(refused.failures[0], "full-table-too-large")
    assert math.isnan(refused.f1["truth"]["cpdag"].mean)
    with pytest.raises(ParameterError):
        surrogates.quality("priv-pc", {"epsilon": -1})


@pytest.mark.parametrize("name", ["laplace-pc", "svt-pc", "priv-pc", "sg-pc"])
def test_the_noise_stated_is_the_noise_of_a_run(name):
    """Scales from the run's own log; they are Laplace's but for SG-PC."""
    dataset = load_network("asia").sample(5_000, 1)
    deviation, threshold = noise_against_threshold(Shape.of(dataset), name, {"epsilon": 2.0})
    steps = discover(dataset, name, {"epsilon": 2.0}, seed=1).trace
    scale = max(s.noise_scale for s in steps if s.phase != "sieve")
    if name == "priv-pc":
        scale = next(s.noise_scale for s in steps if s.phase == "examine")
    factor = {"sg-pc": 1.0, "svt-pc": math.sqrt(2 * (1 + 1 / 4))}.get(name, math.sqrt(2))
    assert deviation == pytest.approx(factor * scale, rel=1e-9)
    assert threshold == pytest.approx(1.959964, rel=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("name", ["laplace-pc", "svt-pc", "priv-pc", "sg-pc"])
def test_the_smallest_epsilon_for_a_noise(name):
    shape = Shape(100_000, levels=(2,) * 8)
    reached = epsilon_for_noise(shape, name, {}, 0.25)
    deviation, threshold = noise_against_threshold(shape, name, {"epsilon": reached.epsilon})
    assert deviation <= 0.25 * threshold
    less = noise_against_threshold(shape, name, {"epsilon": reached.epsilon * (1 - 1e-5)})[0]
    assert less > 0.25 * threshold
    assert epsilon_for_noise(replace(shape, n=20), name, {}, 1e-6).epsilon is None


class Counted(NoHooks):
    def __init__(self, done, stop=False):
        self.done, self.stop, self.heard = done, stop, 0

    def progress(self, progress):
        self.heard += 1

    def cancelled(self):
        return self.stop


def test_the_quality_can_be_watched_and_cancelled():
    """Every run reports, and one that is cancelled is no failure among the others."""
    surrogates = Surrogates(Shape(500, levels=(2, 2, 3)), (1, 2, 3))
    made = []

    def watch(done):
        made.append(Counted(done))
        return made[-1]

    quality = surrogates.quality("priv-pc", {"epsilon": 1}, watch)
    assert [hooks.done for hooks in made] == [0, 1, 2]
    assert all(hooks.heard for hooks in made)
    assert quality == surrogates.quality("priv-pc", {"epsilon": 1})
    with pytest.raises(Cancelled):
        surrogates.quality("priv-pc", {"epsilon": 1}, lambda done: Counted(done, stop=done == 1))
    made.clear()
    epsilon_for_quality(surrogates, "priv-pc", {}, 0.8, points=3, watch=watch)
    told = [hooks.done for hooks in made]
    assert told == list(range(len(told)))
    assert len(told) <= most_runs(surrogates, points=3)


def test_the_smallest_epsilon_for_a_quality():
    surrogates = Surrogates(Shape(20_000, levels=(2, 3, 2, 3, 2, 2)), (1, 2, 3, 4))
    reached = epsilon_for_quality(surrogates, "priv-pc", {}, 0.8, low=0.01, high=100, points=6)
    values = dict(reached.tried)
    assert list(values) == sorted(values)
    assert 0.01 < reached.epsilon < 100
    assert max(v for e, v in values.items() if e <= reached.epsilon) >= 0.8
    assert "seeds 1, 2, 3, 4" in reached.note
    never = epsilon_for_quality(surrogates, "priv-pc", {}, 1.1, points=3)
    assert never.epsilon is None


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: epsilon_for_noise(s, "lapmech", {}, 0.5),
        lambda s: epsilon_for_noise(s, "priv-pc", {}, 0.0),
        lambda s: epsilon_for_noise(s, "priv-pc", {"calibration": "published"}, 0.5),
        lambda s: epsilon_for_quality(Surrogates(s), "priv-pc", {}, 0.5, low=2, high=1),
    ],
)
def test_impossible_targets_are_refused(ask):
    with pytest.raises(ParameterError):
        ask(Shape(1_000, levels=(2,) * 4))
