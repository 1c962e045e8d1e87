"""Distances of pairs from independence: what a record moves, and what they say of links."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from privcore.algorithms import discover
from privcore.algorithms.engine import planned_events, search_again
from privcore.algorithms.moment_search.distances import DistanceEvidence, expected_counts
from privcore.algorithms.moment_search.moments import Measurement
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.plan import Distances, plan_distances
from privcore.algorithms.moment_search.posterior import bayes_factors
from privcore.algorithms.moment_search.released import (
    read_released,
    released_as_dict,
    released_distances,
)
from privcore.algorithms.moment_search.visible import (
    POWER,
    PublicShape,
    distance_reference,
    seen_by_distance,
    visible,
)
from privcore.counts import InMemoryCounts
from privcore.data import Column, Dataset
from privcore.display.sentences import shape_sentence
from privcore.errors import DataError
from privcore.graphs.constraints import Constraints
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import planned_mu
from privcore.privacy.mechanisms.no_noise import NoNoise
from tests.examples import examples
from tests.messages import raises_code
from tests.transcripts import Recorder

ASKED = {"measured": "distances"}


def dataset(values, levels):
    columns = tuple(
        Column(f"c{k}", "nominal", tuple(map(str, range(r))), declared=True)
        for k, r in enumerate(levels)
    )
    return Dataset("t", columns, tuple(np.asarray(v).astype(np.uint8) for v in values))


def counted(rows, levels):
    return InMemoryCounts.from_dataset(dataset(np.array(rows).T, levels))


def noisy_counts(levels, generator, n):
    """Counts of levels as any noise may make them."""
    return [
        Measurement((c,), generator.normal(n / r, n, size=r), 25.0, "counts")
        for c, r in enumerate(levels)
    ]


def distances_of(rows, levels, expected):
    noise = Recorder(1)
    Distances(n=len(rows), mu=1.0, columns=len(levels)).measure(
        counted(rows, levels), noise, expected
    )
    ((_, values, _, _),) = noise.calls
    return values


@pytest.mark.parametrize("levels", [(2, 2), (2, 3), (3, 3, 3)])
def test_no_replaced_record_moves_distances_by_more_and_some_do_by_as_much(levels):
    """All neighbours of two tables, exact, and one of whose pairs all distances move by 2."""
    bound, records = Distances(n=3, mu=1.0, columns=len(levels)), list(product(*map(range, levels)))
    rest, largest = [records[0], records[-1]], 0.0
    for seed in range(3):
        expected = list(expected_counts(noisy_counts(levels, np.random.default_rng(seed), 3), 3))
        if seed == 0:
            # No row is expected in the cells of the first record, which others may leave empty.
            expected = [(pair, np.zeros_like(own)) for pair, own in expected]
            for _, own in expected:
                own[1, 1] = 3.0
        found = np.array([distances_of([*rest, r], levels, expected) for r in records])
        assert (found * 2**10 == np.round(found * 2**10)).all()
        for one, other in combinations(found, 2):
            largest = max(largest, float(np.linalg.norm(one - other)))
    assert largest == pytest.approx(bound.sensitivity, rel=1e-15)


@settings(max_examples=examples(100), deadline=None)
@given(
    levels=st.lists(st.integers(1, 5), min_size=2, max_size=5),
    n=st.integers(2, 60),
    seed=st.integers(0, 10**6),
)
def test_whatever_counts_were_released_each_distance_moves_by_2_at_most(levels, n, seed):
    drawn = np.random.default_rng(seed)
    expected = list(expected_counts(noisy_counts(levels, drawn, n), n))
    rows = drawn.integers(0, levels, (n, len(levels)))
    one = distances_of(rows, levels, expected)
    rows[0] = drawn.integers(0, levels)
    assert (np.abs(distances_of(rows, levels, expected) - one) <= 2).all()
    for pair, own in expected:
        assert own.shape == tuple(levels[c] for c in pair)
        assert (own >= 0).all()
        assert own.sum() == pytest.approx(n, abs=own.size * 2**-10)


def test_the_plan_spends_all_and_its_noise_does_not_grow_with_levels():
    mu = planned_mu(1.0, 1e-6)
    few, many = (plan_distances(2_000, (r,) * 6, mu) for r in (2, 9))
    assert few.distances == many.distances
    assert math.fsum(1 / event.value**2 for event in few.events) == pytest.approx(mu * mu)
    assert few.shares == pytest.approx((0.3, 0.5, 0.2))
    again = plan_distances(2_000, (2,) * 6, mu, counted=False)
    assert again.units is None
    assert math.fsum(1 / event.value**2 for event in again.events) == pytest.approx(mu * mu)


def linked(n, kind, seed=1, levels=5):
    """Three columns: each unordered level has a favourite one of the next column."""
    drawn = np.random.default_rng(seed)
    x, z, other = drawn.integers(0, levels, (3, n))
    if kind == "chain":
        y = np.where(drawn.random(n) < 0.6, (3 * x) % levels, other)
        z = np.where(drawn.random(n) < 0.6, (2 * y) % levels, z)
    elif kind == "collider":
        kept = drawn.random(n)
        y = np.where(kept < 0.45, (3 * x) % levels, np.where(kept < 0.9, z, other))
    else:
        y = other
    return dataset((x, y, z), (levels,) * 3)


@pytest.mark.parametrize("kind", ["chain", "collider", "none"])
def test_links_and_directions_of_three_columns(kind):
    result = discover(linked(20_000, kind), "moment-search", ASKED, seed=1)
    graph = result.graph
    assert graph.skeleton == (frozenset() if kind == "none" else {(0, 1), (1, 2)})
    assert graph.directed == ({(0, 1), (2, 1)} if kind == "collider" else frozenset())
    for pair, finding in result.findings.items():
        # A dependence has to exceed what a path explains, which is much.
        unlinked = "not enough budget" if kind == "chain" else "no edge seen"
        assert finding.verdict == ("edge" if pair in graph.skeleton else unlinked)
    # What has no link is not counted.
    tables = result.released.tables
    assert {pair for pair in combinations(range(3), 2) if tables.covers(pair)} == graph.skeleton
    assert result.spent.rounds == (2 if kind == "none" else 3)
    assert result.spent.planned_rounds == 3


def evidence(data, seed=1, sigma=10.0, level=0.03, known=None, links=True):
    """From releases with this noise on counts of levels and on distances."""
    source, noise = InMemoryCounts.from_dataset(data), SimulatedNoise(seed)
    levels, p = source.levels, len(source.levels)
    counts = [
        Measurement((c,), noise.gaussian_array(source.table((c,)) * 1.0, sigma), sigma**2, "counts")
        for c in range(p)
    ]
    exact = [
        np.abs(source.table(pair) - own).sum() for pair, own in expected_counts(counts, source.n)
    ]
    found = Measurement(
        tuple(range(p)), noise.gaussian_array(np.array(exact), sigma), sigma**2, "distances"
    )
    made = released_distances(source.n, counts, found)
    parameters = MomentSearchParameters(false_edges=level)
    return DistanceEvidence(made, parameters, known or Constraints.none(p)), levels


@pytest.mark.parametrize(("n", "sigma"), [(500, 0.5), (500, 10.0), (2_000, 100.0)])
def test_without_dependence_a_distance_is_as_far_off_as_stated(n, sigma):
    """Mean 0 and variance 1 of the standardised distances, for any share of noise."""
    excess = []
    for seed in range(60):
        drawn = np.random.default_rng(seed)
        data = dataset([drawn.integers(0, r, n) for r in (2, 3, 5, 5, 7)], (2, 3, 5, 5, 7))
        tests = evidence(data, seed, sigma)[0].linear
        excess += [float(tests.excess(*pair, 0.0)) for pair in combinations(range(5), 2)]
    assert abs(np.mean(excess)) < 0.35
    assert 0.75 < np.std(excess) < 1.25


def test_a_path_explains_and_a_further_link_has_to_exceed_it():
    chain = evidence(linked(20_000, "chain"))[0]
    assert chain.links == ((0, 1), (1, 2))
    assert not chain.test(0, 2, (1,)).p_value < 0.03
    assert chain.test(0, 2, ()).p_value < 1e-6
    # A copy of the first column is linked beyond what the middle one explains.
    data = linked(20_000, "chain")
    copied = dataset((*data.values[:2], data.values[0]), (5,) * 3)
    assert (0, 2) in evidence(copied)[0].links


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ({"forbid": "c0 -- c1"}, {(0, 2), (1, 2)}),
        ({"require": "c0 -- c2"}, {(0, 1), (0, 2), (1, 2)}),
    ],
)
def test_knowledge_is_obeyed(text, links):
    asked = {**ASKED, "knowledge": Knowledge.of(**text).text}
    result = discover(linked(20_000, "chain"), "moment-search", asked, seed=1)
    assert set(result.graph.skeleton) == links


@pytest.mark.parametrize("levels", [(5, 5), (2, 9), (3, 4)])
def test_what_is_called_visible_is_found_as_often_as_said(levels):
    """Dependences spread over cells as chance is, of the smallest size that is stated."""
    n, level, (r, s) = 4_000, 0.001, levels
    plan = plan_distances(n, levels, planned_mu(1.0, 1e-6))
    seen = seen_by_distance(n, levels, plan, level)
    wanted = MomentSearchParameters(false_edges=level)
    assert visible(plan, wanted, 1, levels).alone == seen
    drawn = np.random.default_rng(1)
    sigma, product_of = plan.distances.sigma, np.full((r, s), 1 / (r * s))
    one, other = np.full(r, 1 / r), np.full(s, 1 / s)
    reference = distance_reference(one, other, n, plan.units.sigma**2, sigma)
    found = runs = 0
    while runs < 400:
        spread = drawn.normal(size=(r, s))
        spread -= spread.mean(axis=0)
        spread -= spread.mean(axis=1, keepdims=True)
        size = seen * math.sqrt(min(levels) - 1)
        shares = product_of * (1 + spread * size / np.sqrt((spread**2 * product_of).sum()))
        if (shares < 0).any():
            continue
        runs += 1
        margins = [
            share + drawn.normal(0, plan.units.sigma / n, share.size) for share in (one, other)
        ]
        table = drawn.multinomial(n, shares.ravel()).reshape(r, s)
        distance = np.abs(table - n * np.multiply.outer(*margins)).sum() + drawn.normal(0, sigma)
        found += distance > reference.mean + 3.0902 * reference.deviation
    assert found / runs > POWER - 0.06


def test_a_budget_that_sees_nothing_says_so():
    plan = plan_distances(100, (5, 5), planned_mu(0.05, 1e-6))
    assert seen_by_distance(100, (5, 5), plan, 0.001) is None
    result = discover(linked(100, "chain"), "moment-search", {**ASKED, "epsilon": 0.05}, seed=1)
    assert {f.verdict for f in result.findings.values()} == {"not enough budget"}


def test_searched_again_and_read_back_it_says_the_same():
    data = linked(4_000, "collider")
    result = discover(data, "moment-search", ASKED, seed=2)
    kept = read_released(released_as_dict(result.released.statistics))
    again = search_again(
        "moment-search", kept, data.names, dict(result.parameters), result.guarantee
    )
    assert again.graph == result.graph
    assert dict(again.findings) == dict(result.findings)
    known = Knowledge.of(forbid="c0 -- c1").text
    other = search_again("moment-search", kept, data.names, {"knowledge": known}, result.guarantee)
    assert (0, 1) not in other.graph.skeleton


def test_a_run_like_one_on_other_rows_is_refused_before_noise_is_drawn():
    like = discover(linked(400, "chain"), "moment-search", ASKED, seed=1).released.statistics
    noise = Recorder(1)
    with raises_code(DataError, "distances-of-other-rows"):
        discover(linked(401, "chain"), "moment-search", ASKED, noise=noise, like=like)
    assert noise.calls == []


def test_levels_without_rows_and_runs_without_noise_have_a_graph():
    data = linked(300, "chain", levels=7)
    columns = [*data.values, np.zeros(300)]
    result = discover(dataset(columns, (7, 7, 9, 3)), "moment-search", ASKED, noise=NoNoise())
    assert {(0, 1), (1, 2)} <= set(result.graph.skeleton)
    assert all(3 not in pair for pair in result.graph.skeleton)


def test_the_plan_follows_from_public_facts():
    data = linked(500, "chain")
    source = InMemoryCounts.from_dataset(data)
    result = discover(data, "moment-search", ASKED, seed=3)
    assert result.planned == planned_events("moment-search", ASKED, source)
    shape = PublicShape.of(source)
    assert shape.plan(MomentSearchParameters(**ASKED)).distances is not None


def test_distances_refer_to_the_noisy_counts_alone():
    data, noise = linked(500, "chain"), Recorder(3)
    discover(data, "moment-search", ASKED, noise=noise)
    (_, _, sigma, counted_), (_, values, _, _), *_ = noise.calls
    parts = np.split(np.asarray(counted_), [5, 10])
    counts = [Measurement((c,), part, sigma**2, "counts") for c, part in enumerate(parts)]
    source = InMemoryCounts.from_dataset(data)
    assert values.tolist() == [
        np.abs(source.table(pair) - own).sum() for pair, own in expected_counts(counts, 500)
    ]


def test_a_result_says_how_it_was_measured():
    data = linked(2_000, "chain")
    by_distance, by_level = (
        discover(data, "moment-search", {"measured": form}, seed=1)
        for form in ("distances", "levels")
    )
    assert by_distance.by_distances
    assert not by_level.by_distances
    assert shape_sentence(by_distance)
    assert not shape_sentence(by_level)
    assert len(by_distance.guarantee.public) == len(by_level.guarantee.public) + 1
    shape = PublicShape.of(InMemoryCounts.from_dataset(data))
    assert len(set(shape.measured_as(MomentSearchParameters(**ASKED)))) == 1
    with_all = MomentSearchParameters(measured="levels")
    assert shape.measured_as(with_all) != shape.measured_as(MomentSearchParameters(**ASKED))


def test_a_larger_distance_makes_an_edge_more_probable():
    made, _ = evidence(linked(600, "none"), sigma=100.0)
    tests, factors = made.linear, []
    for distance in np.linspace(0.0, 6.0, 13) * tests.deviation[0, 1] + tests.mean[0, 1]:
        tests.distances[0, 1] = distance
        factors.append(float(bayes_factors(made.row(1, ()), tests.n)[0]))
    assert np.all(np.diff(factors) > 0)
    assert factors[0] < 0 < factors[-1]


def test_probabilities_are_high_for_links_and_low_for_independent_pairs():
    stated = {kind: [] for kind in ("chain", "none")}
    for kind, held in stated.items():
        for seed in range(5):
            found = discover(linked(3_000, kind, seed), "moment-search", ASKED, seed=seed)
            held += [found.findings[pair].probability for pair in ((0, 1), (1, 2))]
    assert min(stated["chain"]) > 0.9
    assert np.mean(stated["none"]) < 0.25


def test_independent_columns_rarely_have_a_link():
    """Among the runs, at most the FDR level, here 0.2, have one."""
    linked_runs = 0
    for seed in range(60):
        drawn = np.random.default_rng(seed)
        data = dataset([drawn.integers(0, 4, 800) for _ in range(6)], (4,) * 6)
        linked_runs += bool(evidence(data, seed, 20.0, level=0.2)[0].links)
    assert binom.sf(linked_runs - 1, 60, 0.2) > 1e-3
    assert linked_runs > 0
