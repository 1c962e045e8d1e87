"""Columns with levels, measured in few numbers each."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from privcore.algorithms import discover
from privcore.algorithms.engine import planned_events, search_again
from privcore.algorithms.moment_search.evidence import LineEvidence
from privcore.algorithms.moment_search.measure import bases_of
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.plan import exact_counts, noisy, plan_lines
from privcore.algorithms.moment_search.released import read_released, released_as_dict
from privcore.algorithms.moment_search.visible import PublicShape, plan_levels
from privcore.counts import InMemoryCounts
from privcore.data import Column, Dataset
from privcore.display.sentences import changing_sentence
from privcore.errors import DataError
from privcore.independence import get_score
from privcore.independence.linear_scores import basis_of
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import gaussian_delta, planned_mu
from privcore.privacy.mechanisms.moments import (
    CENTRED_SHARE,
    SQUARES,
    upper_triangle,
    weighted_sensitivity,
)
from tests.algorithms.moment_search.releasing import release_rows
from tests.examples import examples
from tests.transcripts import Recorder

# Ordered, ordered with missing values last, yes/no, few levels, many.
KINDS = (("ordinal", 5), ("ordinal", 4), ("nominal", 2), ("nominal", 3), ("nominal", 7))
LEVELS, ORDERED = tuple(r for _, r in KINDS), (5, 3, 0, 0, 0)


def table_of(seed, n=400, shares=None):
    """Columns of `KINDS`, drawn alike in all levels or by shares of the first ones."""
    drawn, columns, values = np.random.default_rng(seed), [], []
    for k, (kind, r) in enumerate(KINDS):
        names = [str(v) for v in range(r)]
        if k == 1:
            names[-1] = "(missing)"
        columns.append(Column(f"c{k}", kind, tuple(names), declared=True))
        p = None if shares is None else np.r_[shares, np.full(r - 1, (1 - shares) / (r - 1))]
        values.append(drawn.choice(r, n, p=p).astype(np.uint8))
    return Dataset("lines", tuple(columns), tuple(values))


def source_of(*drawn, **more):
    return InMemoryCounts.from_dataset(table_of(*drawn, **more))


def answers(seed, n=1_000, columns=5):
    """Answers 1 to 5 along a chain."""
    drawn = np.random.default_rng(seed)
    values = [drawn.standard_normal(n)]
    for _ in range(columns - 1):
        values.append(0.7 * values[-1] + drawn.standard_normal(n))
    levels = tuple("12345")
    return Dataset(
        "answers",
        tuple(Column(f"q{k}", "ordinal", levels, declared=True) for k in range(columns)),
        tuple(np.clip(np.round(2 + v), 0, 4).astype(np.uint8) for v in values),
    )


def test_which_levels_have_an_order():
    assert table_of(1).ordered == ORDERED
    assert source_of(1).ordered == ORDERED
    assert source_of(1).subsample(50, SimulatedNoise(1)).ordered == ORDERED


@pytest.mark.parametrize("shares", [0.2, 0.6, 0.97])
def test_coordinates_have_mean_0_and_variance_1(shares):
    for (kind, r), ordered in zip(KINDS, ORDERED, strict=True):
        share = np.r_[shares, np.full(r - 1, (1 - shares) / (r - 1))]
        basis = basis_of(share, ordered)
        assert basis.shape == (r, 1 if kind == "ordinal" or r == 2 else 2)
        assert share @ basis == pytest.approx(np.zeros(basis.shape[1]), abs=1e-12)
        assert share @ (basis**2).sum(axis=1) == pytest.approx(basis.shape[1])


def test_a_line_is_in_order_and_a_missing_value_in_its_middle():
    line = basis_of(np.array([0.1, 0.3, 0.2, 0.4]), 3).ravel()
    assert line[0] < line[1] < line[2]
    assert line[3] == pytest.approx(0, abs=0.5)
    assert line[0] < line[3] < line[2]


def test_groups_are_the_most_frequent_levels_and_the_rest():
    basis = basis_of(np.array([0.05, 0.4, 0.1, 0.35, 0.1]), 0)
    assert np.array_equal(basis[0], basis[2])
    assert np.array_equal(basis[0], basis[4])
    assert len({tuple(row) for row in basis.round(9)}) == 3


def plan_of(n, mu, radius=None):
    return plan_lines(n, LEVELS, ORDERED, mu, MomentSearchParameters(longest_row=radius))


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 500),
    shares=st.sampled_from([None, 0.6, 0.97]),
    radius=st.sampled_from([0.3, 0.9, 3.0]),
    counted=st.integers(0, 500),
)
def test_no_row_is_longer_than_what_the_noise_covers(seed, shares, radius, counted):
    """Whatever noise on the counts makes of the map, two rows move by what is planned for."""
    plan = plan_of(2, 1.0, radius)
    source = source_of(seed, n=2, shares=shares)
    exact = {(c,): exact_counts(source, (c,)) for c in range(len(source.levels))}
    counts = noisy(exact, "counts", 10.0, SimulatedNoise(counted))
    # The counts as drawn, with the noise that is planned for.
    bases = bases_of([replace(m, variance=plan.units.sigma**2) for m in counts], plan)
    rows = np.concatenate([b[c] for b, c in zip(bases, source.unique()[0], strict=True)], axis=1)
    exact = (
        [
            source.with_rows(source.unique()[0], np.array(m)).coded(bases, 1.0)
            for m in ([2, 0], [0, 2])
        ]
        if source.unique_rows == 2
        else [source.coded(bases, 1.0)] * 2
    )
    share = np.r_[CENTRED_SHARE, np.ones(rows.shape[1])]
    weight = np.outer(share, share) / np.where(np.eye(len(share)), math.sqrt(SQUARES), 1)
    for moments in exact:
        assert np.trace(moments[1:, 1:]) <= 1 + 1e-9
    change = ((exact[0] - exact[1]) * weight)[upper_triangle(rows.shape[1], centred=True)]
    assert np.linalg.norm(change) <= weighted_sensitivity(1.0, 1, CENTRED_SHARE) + 1e-9
    assert plan.rows.sigma >= weighted_sensitivity(1.0, plan.n, CENTRED_SHARE) / plan.rows.mu


@pytest.mark.parametrize("shares", [None, 0.97])
def test_squares_have_the_larger_noise(shares):
    plan, noise, source = (
        plan_of(400, 1.0),
        Recorder(1),
        source_of(2, shares=shares),
    )
    release_rows(source, plan, noise)
    (_, drawn, _, _), (_, products, sigma, _), (_, squares, more, _) = noise.calls
    assert drawn.sum() == len(KINDS) * 400
    assert len(squares) == plan.rows.columns
    assert len(products) == 7 * 8 // 2
    assert sigma == plan.rows.sigma
    assert more >= math.sqrt(SQUARES) * sigma
    assert squares.sum() <= 1 + 1e-9


class Played(SimulatedNoise):
    """The same outputs whatever the values are."""

    def gaussian_array(self, values, sigma):
        return super().gaussian_array(np.zeros(len(values)) + len(values) % 7, sigma)


def test_the_map_follows_from_the_noisy_counts_alone():
    """Two tables that have nothing in common, with the same outputs: groups and all else."""
    asked = {"epsilon": 1.0, "measured": "lines"}
    results = [
        discover(table_of(seed, shares=shares), "moment-search", asked, noise=Played(3))
        for seed, shares in ((1, None), (2, 0.9))
    ]
    one, other = (result.released.statistics for result in results)
    assert all(map(np.array_equal, one.units.bases, other.units.bases))
    assert results[0].graph == results[1].graph
    assert results[0].findings == results[1].findings


@settings(max_examples=examples(100), deadline=None)
@given(
    p=st.integers(2, 60),
    n=st.integers(50, 10**6),
    epsilon=st.floats(0.01, 20),
    delta=st.sampled_from([1e-9, 1e-6, 1e-3]),
)
def test_both_releases_together_are_the_total(p, n, epsilon, delta):
    plan = plan_lines(n, (5,) * p, (5,) * p, planned_mu(epsilon, delta), MomentSearchParameters())
    together = math.hypot(plan.units.mu, plan.rows.mu)
    assert gaussian_delta(epsilon, together) <= delta
    assert gaussian_delta(epsilon, together * (1 + 1e-9)) > delta * (1 - 1e-6)
    assert plan.units.sigma >= math.sqrt(2 * p) / plan.units.mu
    assert plan.pairs is None


def form_of(plan):
    forms = ("whole", "pairs", "rows", "distances")
    (form,) = (name for name in forms if getattr(plan, name) is not None)
    return form


def test_the_form_follows_from_public_facts():
    parameters = MomentSearchParameters.checked({"epsilon": 1.0}, "moment-search")

    def form(n, r, p, ordered):
        return form_of(plan_levels(n, (r,) * p, (r if ordered else 0,) * p, parameters))

    assert form(1_000, 5, 12, True) == "rows"
    assert form(300, 5, 12, False) == "rows"
    assert form(1_000, 5, 12, False) == "distances"
    assert form(200_000, 5, 12, True) == "pairs"
    assert form(200_000, 5, 12, False) == "pairs"
    assert form(5_000, 5, 12, True) == "rows"
    assert form(10_000, 5, 12, True) == "distances"
    assert form(10_000, 2, 6, True) == "whole"
    named = {"levels": "pairs", "lines": "rows", "distances": "distances"}
    for measured, plan in named.items():
        asked = MomentSearchParameters.checked({"measured": measured}, "moment-search")
        assert form_of(plan_levels(1_000, (5,) * 12, (5,) * 12, asked)) == plan


def test_a_run_keeps_to_its_plan_and_finds_the_chain():
    data = answers(1)
    result = discover(data, "moment-search", {"epsilon": 1.0}, seed=1)
    assert result.in_lines
    assert result.spent.used == 1.0
    source = InMemoryCounts.from_dataset(data)
    assert result.planned == planned_events("moment-search", {"epsilon": 1.0}, source)
    assert len(result.planned) == 2
    assert result.graph.skeleton == {(k, k + 1) for k in range(4)}
    assert [len(margin.probabilities) for margin in result.margins] == [5] * 5


@pytest.mark.long
@pytest.mark.parametrize("conditioning_set", [(), (2,), (2, 4)])
def test_the_level_holds_when_the_noise_is_large(conditioning_set):
    """Independent columns, unequal levels; fails by chance less than once in a million runs."""
    false, plan = 0, plan_of(400, 0.5)
    for seed in range(500):
        source, noise = source_of(seed, shares=0.5), SimulatedNoise(seed)
        kept = release_rows(source, plan, noise)
        false += LineEvidence(kept, 5.0).test(0, 3, conditioning_set).p_value < 0.05
    assert binom.sf(false - 1, 500, 0.05) > 1e-6


def test_what_is_kept_can_be_written_read_and_searched_again():
    data = answers(2)
    result = discover(data, "moment-search", {"epsilon": 1.0}, seed=2)
    kept = result.released.statistics
    read = read_released(released_as_dict(kept))
    assert released_as_dict(read) == released_as_dict(kept)
    again = search_again("moment-search", read, data.names, {"epsilon": 1.0}, result.guarantee)
    assert again.graph == result.graph
    assert again.findings == result.findings
    for field in ("counts", "bases", "noisy", "sigma"):
        with pytest.raises(DataError):
            read_released({**released_as_dict(kept), field: None})


def test_what_would_show_more_is_said_where_little_is_seen():
    parameters = MomentSearchParameters.checked({"epsilon": 0.3}, "moment-search")
    small = PublicShape(500, (5,) * 20, 20, ordered=(5,) * 20)
    assert changing_sentence(small, parameters)
    assert not changing_sentence(PublicShape(50_000, (5,) * 20, 20, ordered=(5,) * 20), parameters)
    assert small.measured_as(parameters) == ("one trend",) * 20


def test_pc_on_lines_is_the_likelihood_ratio_of_their_regression():
    """Two ordered columns given another: against residuals by least squares."""
    data, score = answers(5), get_score("lines")
    source = InMemoryCounts.from_dataset(data)
    shares = [source.table([c]) / data.n for c in range(3)]
    x, y, z = (basis_of(s, 5)[v, 0] for s, v in zip(shares, data.values, strict=False))
    left = [v - np.polyval(np.polyfit(z, v, 1), z) for v in (x, y)]
    r = np.corrcoef(*left)[0, 1]
    expected = -(data.n - 1 - 2.5) * math.log(1 - r * r)
    assert score.value(source, 0, 1, (2,)) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert score.evaluate(source, 0, 1, ()).p_value < 1e-9
    assert discover(data, "pc", {"score": "lines"}).graph.skeleton >= {(0, 1), (1, 2)}
