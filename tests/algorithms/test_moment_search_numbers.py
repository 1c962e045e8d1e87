"""Moment search on numbers and on mixed tables: its limit, its noise, what it is computed from."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from privcore.algorithms import count, discover
from privcore.algorithms.engine import planned_events
from privcore.counts import NumericRows
from privcore.data import Column, Dataset, StructuralExample, discretise
from privcore.graphs import cpdag_of_names
from privcore.measures import cpdag_metrics, skeleton_metrics
from privcore.privacy.mechanisms.gaussian import gaussian_mu
from tests.examples import few
from tests.messages import shows
from tests.transcripts import Recorder


def example(seed, n, nodes=12, density=0.2):
    data = StructuralExample(
        "linear-gaussian", nodes=nodes, density=density, graph_seed=seed
    ).sample(n, seed)
    return count(data), cpdag_of_names(data.names, data.true_edges)


@pytest.mark.long
@pytest.mark.parametrize("graphs", [1, pytest.param(6, marks=pytest.mark.long)])
def test_with_a_vast_budget_it_is_at_least_as_good_as_pc(graphs):
    ours, theirs = [], []
    for seed in range(700, 700 + graphs):
        source, truth = example(seed, 50_000)
        found = discover(source, "moment-search", {"epsilon": 1e5}, seed=1).graph
        reference = discover(source, "pc", {"threshold": 0.01}).graph
        ours.append((skeleton_metrics(found, truth).f1, cpdag_metrics(found, truth).f1))
        theirs.append((skeleton_metrics(reference, truth).f1, cpdag_metrics(reference, truth).f1))
    (skeleton, cpdag), (of_pc, marks_of_pc) = np.mean(ours, axis=0), np.mean(theirs, axis=0)
    assert skeleton >= of_pc
    assert cpdag >= marks_of_pc
    assert skeleton > 0.95


@pytest.mark.long
@pytest.mark.parametrize("graphs", [5])
def test_more_budget_finds_more(graphs):
    """On average; the figures are far apart."""
    quality = [
        np.mean(
            [
                skeleton_metrics(
                    discover(source, "moment-search", {"epsilon": epsilon}, seed=1).graph, truth
                ).f1
                for source, truth in (example(seed, 10_000) for seed in range(710, 710 + graphs))
            ]
        )
        for epsilon in (0.03, 0.2, 1e3)
    ]
    assert quality[0] + 0.1 < quality[1] < quality[2]


def uniform(generator, n):
    return generator.uniform(-1, 1, (n, 6)) * 0.6 + 0.2


def skewed(generator, n):
    """Far from the middle of their bounds, with long tails on one side."""
    return np.clip(generator.exponential(0.1, (n, 6)) - 0.9, -1, 1)


@pytest.mark.long
@pytest.mark.parametrize("draw", [uniform, skewed])
@pytest.mark.parametrize("epsilon", few([0.3, 5.0, 1e4], 1))
@pytest.mark.parametrize("runs", [15, pytest.param(100, marks=pytest.mark.long)])
def test_where_nothing_depends_on_anything_few_runs_show_an_edge(epsilon, draw, runs):
    """At most q = .03 of the runs; fails by chance less than once in a million.

    Shortening rows must not make columns depend on each other, whatever their shape.
    """
    any_edge = 0
    for seed in range(runs):
        rows = draw(np.random.default_rng(seed), 3_000)
        source = NumericRows(tuple("abcdef"), ((-1.0, 1.0),) * 6, rows)
        found = discover(source, "moment-search", {"epsilon": epsilon}, seed=seed)
        any_edge += bool(found.graph.skeleton)
    assert binom.sf(any_edge - 1, runs, 0.03) > 1e-6


def mixed(n=6_000, seed=1):
    generator = np.random.default_rng(seed)
    sex = generator.integers(0, 2, n)
    height = 165 + 12 * sex + 6 * generator.standard_normal(n)
    shoe = 0.2 * height + 5 + 0.8 * generator.standard_normal(n)
    dice = generator.integers(0, 6, n)
    columns = (
        Column("sex", "nominal", ("f", "m"), declared=True),
        Column("height", "continuous", bounds=(140.0, 210.0), declared=True),
        Column("shoe", "continuous", bounds=(30.0, 50.0), declared=True),
        Column("dice", "ordinal", tuple("123456"), declared=True),
    )
    values = (
        sex.astype(np.uint8),
        np.clip(height, 140, 210),
        np.clip(shoe, 30, 50),
        dice.astype(np.uint8),
    )
    return Dataset("mixed", columns, values)


def without(data, *names):
    kept = [k for k, name in enumerate(data.names) if name not in names]
    return Dataset(
        "mixed", tuple(data.columns[k] for k in kept), tuple(data.values[k] for k in kept)
    )


def test_numbers_beside_more_than_two_levels_are_cut_by_what_is_released():
    data, noise = mixed(), Recorder(1)
    asked = {"epsilon": 5.0}
    result = discover(data, "moment-search", asked, noise=noise)
    assert {(0, 1), (1, 2)} <= result.graph.skeleton
    assert not any(3 in pair for pair in result.graph.skeleton)
    assert shows(result.guarantee.public, "cut-by-release", columns="height, shoe", levels=4)
    assert result.intervals is None
    assert result.guarantee.holds
    assert planned_events("moment-search", asked, count(data)) == result.planned
    # The middle and spread of the two numbers alone, with a tenth of the budget; then counts.
    (_, scales, sigma, _), (_, pairs, _, _), *_ = noise.calls
    assert scales.shape == (4,)
    assert sigma == pytest.approx(
        2 * math.sqrt(2) / data.n / (gaussian_mu(5.0, 1e-6) * math.sqrt(0.1))
    )
    by_hand = tuple(
        np.mean((2 * values - low - high) / (high - low))
        for values, (low, high) in zip(data.values[1:3], ((140, 210), (30, 50)), strict=True)
    )
    assert scales[:2] == pytest.approx(by_hand, abs=1e-6)
    assert len(result.margins[1].probabilities) == 4
    assert max(result.margins[1].probabilities) < 0.35
    assert pairs.shape == (1 + 3 + 3 + 5 + 3 + 3 + 5 + 9 + 15 + 15,)


def test_numbers_beside_yes_and_no_stay_numbers_where_lines_tell_all():
    data = without(mixed(30_000), "dice")
    result = discover(data, "moment-search", {"epsilon": 1.0}, seed=1)
    assert result.intervals is None
    assert result.graph.skeleton == {(0, 1), (1, 2)}
    assert shows(result.guarantee.public, "two-levels-as-numbers")
    # The same moments as of a table in which yes and no are numbers.
    coded = Dataset(
        "coded",
        (Column("sex", "continuous", bounds=(0.0, 1.0), declared=True), *data.columns[1:]),
        (data.values[0].astype(float), *data.values[1:]),
    )
    assert count(data).numbers().moments() == pytest.approx(count(coded).moments())
    assert planned_events("moment-search", {}, count(data)) == result.planned


def test_numbers_beside_yes_and_no_are_cut_where_lines_miss_much():
    data = without(mixed(30_000), "dice")
    height = data.values[1]
    far = (np.abs(height - height.mean()) > 8).astype(np.uint8)
    bent = Dataset(
        "bent",
        (*data.columns, Column("far", "nominal", ("no", "yes"), declared=True)),
        (*data.values, far),
    )
    result = discover(bent, "moment-search", {"epsilon": 1.0}, seed=1)
    assert result.intervals == 8
    assert (1, 3) in result.graph.skeleton
    assert [len(m.probabilities) for m in result.margins] == [2, 8, 8, 2]


def test_pc_cuts_mixed_columns_alike():
    data = mixed()
    result = discover(data, "pc", {"mixed_levels": 3})
    by_hand = discover(discretise(data, {"height": 3, "shoe": 3}), "pc")
    assert result.graph == by_hand.graph
