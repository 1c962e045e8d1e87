"""The noise-aware search over moments: its limit, its false edges, and what it releases."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from privcore.algorithms import count, discover
from privcore.algorithms.moment_search.plan import pair_features_sensitivity
from privcore.data import Column, Dataset, load_network
from privcore.graphs import cpdag_of_names
from privcore.measures import cpdag_metrics, skeleton_metrics
from privcore.privacy.mechanisms.gaussian import gaussian_mu
from tests.examples import examples, few


def sampled(network, rows, seed=3):
    data = load_network(network).sample(rows, seed)
    return count(data), cpdag_of_names(data.names, data.true_edges)


@pytest.mark.long
@pytest.mark.parametrize("network", few(["cancer", "earthquake", "survey", "sachs"], 2))
def test_with_a_vast_budget_the_true_edges_are_found(network):
    source, truth = sampled(network, 100_000)
    found = discover(source, "moment-search", {"epsilon": 1e5}, seed=1).graph
    reference = discover(source, "pc", {"score": "g2", "threshold": 0.01}).graph
    assert skeleton_metrics(found, truth).f1 >= skeleton_metrics(reference, truth).f1 - 1e-9
    assert cpdag_metrics(found, truth).f1 >= cpdag_metrics(reference, truth).f1 - 1e-9


@pytest.mark.long
def test_edges_of_a_gate_are_kept():
    """asia's `either` is an OR: its parents determine it, and separate it from no child."""
    source, truth = sampled("asia", 100_000)
    reference = discover(source, "pc", {"score": "g2", "threshold": 0.01}).graph
    found = discover(source, "moment-search", {"epsilon": 1e5}, seed=1).graph
    assert skeleton_metrics(reference, truth).recall == 1
    assert skeleton_metrics(found, truth).recall == 1


@pytest.mark.parametrize(
    ("epsilon", "most"),
    [
        (0.1, 0),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in ((1.0, 0), (1e4, 0), (0.1, 4096), (1.0, 4096), (1e4, 4096))
        ),
    ],
)
@pytest.mark.parametrize("runs", [8, pytest.param(150, marks=pytest.mark.long)])
def test_where_nothing_depends_on_anything_few_runs_show_an_edge(epsilon, most, runs):
    """The share of runs with any edge is q = .03, but for approximations; more than .08 would be
    caught.  Fails by chance less than once in a million where it is .05."""
    generator = np.random.default_rng(5)
    any_edge = 0
    levels = (2, 2, 3, 2, 4, 2)
    columns = tuple(
        Column(f"c{k}", "nominal", tuple(map(str, range(r))), declared=True)
        for k, r in enumerate(levels)
    )
    for seed in range(runs):
        rare = generator.uniform(0.03, 0.5, 6)
        values = tuple(
            np.where(generator.random(5_000) < s, generator.integers(1, r, 5_000), 0)
            for s, r in zip(rare, levels, strict=True)
        )
        source = count(Dataset("t", columns, tuple(v.astype(np.uint8) for v in values)))
        asked = {"epsilon": epsilon, "whole_table": most}
        found = discover(source, "moment-search", asked, seed=seed)
        any_edge += bool(found.graph.skeleton)
    assert binom.sf(any_edge - 1, runs, 0.05) > 1e-6


def test_the_releases_have_the_noise_that_was_derived():
    source, _ = sampled("survey", 50_000)
    result = discover(source, "moment-search", {"epsilon": 1.0, "whole_table": 0}, seed=1)
    pairs, *rounds = (step for step in result.trace if step.phase == "release")
    mu = gaussian_mu(1.0, 1e-6)
    sensitivity = pair_features_sensitivity(source.levels)
    assert pairs.noise_scale == pytest.approx(sensitivity / (mu * math.sqrt(0.55)))
    assert len(rounds) == 3
    for tables in rounds:
        # Each of K tables changes by √2 at most.
        many = (tables.noise_scale * mu * math.sqrt(0.15)) ** 2 / 2
        assert many == pytest.approx(round(many))
        assert 1 <= round(many) <= len(source.names)
    assert [step.charge for step in (pairs, *rounds)] == pytest.approx([0.55, 0.15, 0.15, 0.15])
    assert result.guarantee.holds
    assert result.guarantee.delta == 1e-6


def test_few_combinations_of_levels_are_counted_at_once():
    source, _ = sampled("survey", 50_000)
    cells = math.prod(source.levels)
    results = [
        discover(source, "moment-search", {"epsilon": 0.5, "whole_table": most}, seed=1)
        for most in (cells, cells - 1)
    ]
    (release,) = (step for step in results[0].trace if step.phase == "release")
    assert (release.noise_scale, release.charge) == (pytest.approx(4.0), 1.0)
    assert (results[0].guarantee.epsilon, results[0].guarantee.delta) == (0.5, 0.0)
    assert results[0].spent.planned_rounds == 1
    assert results[1].spent.planned_rounds == 4


def test_a_small_budget_buys_one_release():
    source, _ = sampled("survey", 2_000)
    result = discover(
        source, "moment-search", {"epsilon": 0.05, "whole_table": 0, "measured": "levels"}, seed=1
    )
    assert result.spent.rounds == result.spent.planned_rounds == 1
    assert [step.charge for step in result.trace if step.phase == "release"] == [1.0]


@pytest.mark.filterwarnings("error")
@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.sampled_from([2, 5, 300]),
    levels=st.lists(st.integers(2, 4), min_size=2, max_size=5),
    epsilon=st.sampled_from([1e-3, 0.3, 10.0, 1e6]),
    penalty=st.sampled_from([0.0, 3.0]),
)
def test_any_small_table_has_an_answer(seed, n, levels, epsilon, penalty):
    """Constant columns, copies, hardly any rows, next to no noise or nothing else."""
    generator = np.random.default_rng(seed)
    values = []
    for r in levels:
        kind = generator.random()
        drawn = generator.integers(0, r, n)
        values.append(
            drawn * 0 if kind < 0.2 else values[-1] % r if values and kind < 0.5 else drawn
        )
    columns = tuple(
        Column(f"c{k}", "nominal", tuple(map(str, range(r))), declared=True)
        for k, r in enumerate(levels)
    )
    data = Dataset("t", columns, tuple(v.astype(np.uint8) for v in values))
    asked = {"epsilon": epsilon, "penalty": penalty, "false_edges": 0.5}
    result = discover(count(data), "moment-search", asked, seed=seed)
    assert all(0 <= found.effect <= 1 for found in result.findings.values())
