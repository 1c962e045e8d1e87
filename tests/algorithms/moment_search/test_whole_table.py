"""Likelihoods of DAGs on one noisy table of all columns, and the release itself."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privcore.algorithms.moment_search.likelihood.table_model import TableModel
from privcore.algorithms.moment_search.likelihood.table_search import (
    search_table,
    search_table_again,
    worth,
)
from scipy.stats import binom, dlaplace, poisson

from privcore.algorithms.moment_search.likelihood.cell_likelihood import (
    CellLikelihood,
    cell_information,
)
from privcore.algorithms.moment_search.likelihood.table_climb import MOST_STEPS
from privcore.algorithms.moment_search.likelihood.whole_evidence import (
    LikelihoodRatios,
    WholeEvidence,
)
from privcore.algorithms.moment_search.release.plan import plan_whole
from privcore.algorithms.moment_search.release.releases import release_whole
from privcore.counts import InMemoryCounts
from privcore.privacy.mechanisms import SimulatedNoise
from tests.examples import examples

LEVELS = (2, 3, 2)
EMPTY, CHAIN = (frozenset(),) * 3, (frozenset(), frozenset({0}), frozenset({1}))
COLLIDER = (frozenset(), frozenset({0, 2}), frozenset())


def exact(count, expected, scale):
    """Poisson and discrete Laplace, summed up."""
    x = np.arange(0, int(expected + 12 * math.sqrt(expected) + 60))
    return float((poisson.pmf(x, expected) * dlaplace.pmf(count - x, 1 / scale)).sum())


def likelihood(count, expected, scale):
    return CellLikelihood(np.array([float(count)]), scale).at(np.array([expected]))


@settings(max_examples=examples(150))
@given(expected=st.floats(1e-4, 9.9), scale=st.floats(0.1, 4.9), above=st.floats(-6, 6))
def test_of_small_cells_it_is_exact(expected, scale, above):
    count = round(expected + above * (scale + math.sqrt(expected)))
    found = likelihood(count, expected, scale)
    assert found.total == pytest.approx(math.log(exact(count, expected, scale)), abs=1e-6)
    step = 1e-5 * expected
    rise = [likelihood(count, expected + s, scale).total for s in (step, -step)]
    assert found.slopes[0] == pytest.approx((rise[0] - rise[1]) / (2 * step), rel=1e-4, abs=1e-5)


@settings(max_examples=examples(150))
@given(expected=st.floats(30, 1e4), scale=st.floats(1.0, 40.0), above=st.floats(-3, 3))
def test_of_large_cells_it_is_nearly_so(expected, scale, above):
    """The normal law in the place of Poisson's, within what its skewness makes of it."""
    count = round(expected + above * (scale + math.sqrt(expected)))
    found = likelihood(count, expected, scale)
    skewed = (1 + abs(above) ** 3) / math.sqrt(expected)
    assert found.total == pytest.approx(math.log(exact(count, expected, scale)), abs=skewed)
    step = 1e-5 * expected
    rise = [likelihood(count, expected + s, scale).total for s in (step, -step)]
    assert found.slopes[0] == pytest.approx((rise[0] - rise[1]) / (2 * step), rel=1e-3, abs=1e-6)


@settings(max_examples=examples(60))
@given(
    count=st.floats(-1e6, 1e6).map(round), expected=st.floats(1e-9, 1e6), scale=st.floats(0.02, 1e4)
)
def test_it_is_finite_wherever_a_search_may_go(count, expected, scale):
    found = likelihood(count, expected, scale)
    assert np.isfinite(found.total)
    assert np.isfinite(found.slopes).all()


@pytest.mark.parametrize("scale", [0.7, 2.0, 20.0])
@pytest.mark.parametrize("expected", [0.01, 3.0, 40.0, 2_000.0])
def test_the_information_is_about_fisher_s(expected, scale):
    reach = 12 * (scale + math.sqrt(expected)) + 20
    counts = np.unique(np.round(np.linspace(expected - reach, expected + reach, 4_001)))
    found = CellLikelihood(counts, scale)
    there = np.full(len(counts), expected)
    chance = np.array([math.exp(likelihood(c, expected, scale).total) for c in counts])
    fisher = float((chance * found.at(there).slopes ** 2).sum() / chance.sum())
    assert cell_information(np.array([expected]), scale)[0] == pytest.approx(fisher, rel=0.4)


def sampled(n, seed, kind="collider"):
    """x → y ← z, x → y → z, or independent columns; counts of all combinations."""
    generator = np.random.default_rng(seed)
    x, z = generator.integers(0, 2, n), generator.integers(0, 2, n)
    y = generator.integers(0, 3, n)
    if kind == "collider":
        y = np.where(generator.random(n) < 0.5, x + z, y)
    if kind == "chain":
        y = np.where(generator.random(n) < 0.5, 2 * x, y)
        z = np.where(generator.random(n) < 0.5, y > 0, z)
    table = np.zeros(LEVELS)
    np.add.at(table, (x, y, z), 1)
    return table


def noisy(table, scale, seed):
    flat = SimulatedNoise(seed).discrete_laplace_array(table.ravel().astype(np.int64), scale)
    return flat.reshape(table.shape).astype(float)


def test_without_noise_shares_are_those_of_the_counts():
    table = sampled(5_000, 1)
    fit = TableModel(table, 5_000, 0.05).fit(COLLIDER)
    first, last = table.sum(axis=(1, 2)) / 5_000, table.sum(axis=(0, 1)) / 5_000
    middle = table / table.sum(axis=1, keepdims=True)
    expected = 5_000 * first[:, None, None] * middle * last
    assert fit.expected.reshape(LEVELS) == pytest.approx(expected, rel=0.02)
    assert fit.dof == 1 + 4 * 2 + 1


@pytest.mark.parametrize("scale", [0.5, 5.0, 50.0])
def test_no_shares_near_those_found_are_more_likely(scale):
    model = TableModel(noisy(sampled(5_000, 1), scale, 2), 5_000, scale)
    fit = model.fit(COLLIDER)
    generator = np.random.default_rng(3)
    cells = CellLikelihood(model.counts, scale)
    for _ in range(50):
        moved = fit.probabilities * np.exp(generator.normal(0, 0.03, fit.probabilities.size))
        sums = np.bincount(fit.layout.groups, moved)
        there = fit.layout.expected(np.full(12, 5_000.0), moved / sums[fit.layout.groups])
        assert -2 * cells.at(there).total > fit.deviance - 0.1


@settings(max_examples=examples(25))
@given(seed=st.integers(0, 1_000), scale=st.sampled_from([0.3, 4.0, 25.0]))
def test_equivalent_dags_are_as_likely(seed, scale):
    table = noisy(sampled(4_000, seed, "chain"), scale, seed)
    model = TableModel(table, 4_000, scale)
    turned = (frozenset({1}), frozenset({2}), frozenset())
    assert model.fit(CHAIN).deviance == pytest.approx(model.fit(turned).deviance, abs=0.5)
    more = (frozenset(), frozenset({0}), frozenset({0, 1}))
    assert model.fit(more).deviance <= model.fit(CHAIN).deviance + 0.5


def test_the_search_finds_a_collider_and_keeps_to_what_is_allowed():
    model = TableModel(noisy(sampled(20_000, 4), 10.0, 5), 20_000, 10.0)
    rules = {"penalty": 3.0, "max_parents": 2}
    best, most = search_table(model, EMPTY, **rules)
    assert best == COLLIDER
    single, less = search_table(model, EMPTY, penalty=3.0, max_parents=1)
    assert all(len(parents) < 2 for parents in single)
    other, apart = search_table(model, EMPTY, **rules, allowed=lambda dag: 0 not in dag[1])
    assert 0 not in other[1]
    assert max(less, apart) < most
    limited, _ = search_table(model, EMPTY, **rules, among={0, 1})
    assert limited[2] == frozenset()


def every_dag():
    """All DAGs of three columns: 25."""
    for one, two, three in product((None, True, False), repeat=3):
        dag = [set(), set(), set()]
        for (a, b), turned in zip(combinations(range(3), 2), (one, two, three), strict=True):
            if turned is not None:
                dag[a if turned else b].add(b if turned else a)
        if not all(any(c in p for c in range(3)) for p in dag):
            yield tuple(map(frozenset, dag))


@pytest.mark.parametrize("scale", [1.0, 20.0, 80.0])
def test_it_finds_the_best_of_all_dags(scale):
    """And an arrow is worth what the best DAG is better than the best without it."""
    model = TableModel(noisy(sampled(4_000, 4), scale, 5), 4_000, scale)
    scored = {dag: worth(model.fit(dag), 3.0) for dag in every_dag()}
    assert len(scored) == 25
    best, most = search_table(model, EMPTY, penalty=3.0, max_parents=2)
    assert most == pytest.approx(max(scored.values()), abs=0.3)
    around = {c: {0, 1, 2} - {c} for c in range(3)}
    seen = WholeEvidence(model, best, 3.0)
    for effect, causes in enumerate(best):
        for cause in causes:
            others = max(w for dag, w in scored.items() if cause not in dag[effect])
            found = seen.arrow(best, (cause, effect), around, 2)
            assert found == pytest.approx((most - others) / 2, abs=0.3)


def dense(seed):
    """Five columns in which everything depends on everything: many optima, few of them high."""
    generator = np.random.default_rng(seed)
    table = generator.multinomial(20_000, generator.dirichlet(np.full(32, 0.3))).reshape((2,) * 5)
    return TableModel(noisy(table, 20.0, seed), 20_000, 20.0)


@pytest.mark.long
def test_begun_again_a_search_leaves_a_local_optimum():
    """It is at least as good always, and better on some."""
    rules, gains = {"penalty": 3.0, "max_parents": 4}, []
    for seed in range(12):
        _, most = search_table(dense(seed), (frozenset(),) * 5, **rules)
        model = dense(seed)
        steps = []
        best, reached = search_table_again(model, (frozenset(),) * 5, **rules, between=steps.append)
        assert steps == list(range(len(steps)))
        assert reached == worth(model.fit(best), 3.0)
        gains.append(reached - most)
    assert min(gains) > -1e-6  # numpy's sums and compiled ones differ in the last digit
    assert sum(gain > 1 for gain in gains) >= 2
    assert max(gains) > 5


def test_a_search_ends_where_another_did():
    steps, known, rules = [], [], {"penalty": 3.0, "max_parents": 4}
    start = (frozenset(),) * 5
    best, most = search_table(dense(0), start, **rules, between=steps.append)
    found = search_table(dense(0), start, **rules, known=most, between=known.append)
    assert found == (best, pytest.approx(most, abs=1e-6))
    assert len(known) == len(steps) - 8


@pytest.mark.long
def test_options_given_up_early_would_not_have_been_taken(monkeypatch):
    rules = {"penalty": 3.0, "max_parents": 4}
    found = [search_table_again(dense(seed), (frozenset(),) * 5, **rules) for seed in range(4)]
    monkeypatch.setattr(
        "privcore.algorithms.moment_search.likelihood.table_search._FEW_STEPS", MOST_STEPS
    )
    for seed, (best, most) in enumerate(found):
        late = search_table_again(dense(seed), (frozenset(),) * 5, **rules)
        assert late == (best, pytest.approx(most, abs=1e-6))


def test_steps_can_be_ended():
    def ended(moves):
        raise KeyboardInterrupt

    model = TableModel(sampled(500, 4), 500, 1.0)
    with pytest.raises(KeyboardInterrupt):
        search_table(model, EMPTY, penalty=3.0, max_parents=2, between=ended)


@pytest.mark.parametrize(("scale", "n"), [(0.4, 400), (4.0, 4_000), (20.0, 20_000)])
def test_a_false_edge_passes_as_often_as_its_p_value_says(scale, n):
    """More than 9 in 100 at level .05 would be caught; fails by chance less than 1e-6 at .06."""
    runs, passed = 400, 0
    dag = (frozenset(), frozenset({0}), frozenset())
    for seed in range(runs):
        table = noisy(sampled(n, seed, "none"), scale, seed)
        passed += LikelihoodRatios(TableModel(table, n, scale)).edge(dag, 0, 1).p_value < 0.05
    assert binom.sf(passed - 1, runs, 0.06) > 1e-6
    assert binom.cdf(passed, runs, 0.02) > 1e-6


def test_causes_that_were_chosen_among_many_count_for_less():
    model = TableModel(noisy(sampled(2_000, 4), 10.0, 5), 2_000, 10.0)
    ratios = LikelihoodRatios(model)
    pair, both = ratios.edge(CHAIN, 0, 1), ratios.edge(COLLIDER, 0, 1)
    assert pair.among == 1
    assert both.among == 2
    alone = both._replace(among=1)
    assert both.p_value == pytest.approx(min(2 * alone.p_value, 1))


def test_what_is_said_without_noise_is_what_the_counts_say():
    n, table = 20_000, sampled(20_000, 6)
    seen = WholeEvidence(TableModel(table, n, 0.05), COLLIDER, 3.0)
    joint = table.sum(axis=2) / n
    alone = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    v = math.sqrt(((joint - alone) ** 2 / alone).sum())
    assert seen.effect(0, 1) == pytest.approx(v, abs=0.01)
    assert seen.effect(1, 0) == seen.effect(0, 1)
    assert seen.effect(0, 2) == pytest.approx(0, abs=1e-3)
    power = seen.power(0, 1, ())
    assert (power.dof, power.asked) == (2, 6.0)
    assert power.information == pytest.approx(n, rel=0.01)
    assert seen.power(0, 2, (1,)).dof == 3


def test_noise_takes_information_away():
    powers = []
    for scale in (0.05, 5.0, 50.0):
        seen = WholeEvidence(TableModel(sampled(5_000, 6), 5_000, scale), COLLIDER, 3.0)
        powers.append(seen.power(0, 2, ()).information)
    assert powers[0] > 1.05 * powers[1] > 1.05 * 1.05 * powers[2]


records = st.tuples(*[st.integers(0, r - 1) for r in LEVELS])


def counts_of(rows):
    kept, many = np.unique(np.array(rows), axis=0, return_counts=True)
    columns = tuple(kept[:, k] for k in range(3))
    return InMemoryCounts(("a", "b", "c"), LEVELS, columns, many.astype(np.int64))


class NoNoise(SimulatedNoise):
    def discrete_laplace_array(self, values, scale):
        return values


@given(rows=st.lists(records, min_size=2, max_size=20), other=records)
def test_a_replaced_record_moves_the_table_by_two_at_most(rows, other):
    plan = plan_whole(len(rows), LEVELS, 1.0, cells=12)
    before, after = (
        release_whole(counts_of(those), plan, NoNoise(0)) for those in (rows, [other, *rows[1:]])
    )
    moved = np.abs(before - after).sum()
    assert moved == (2 if other != rows[0] else 0)
    assert moved <= plan.scale * 1.0 + 1e-12


@given(epsilon=st.floats(1e-3, 100), n=st.integers(1, 10**7))
def test_a_plan_is_of_public_facts(epsilon, n):
    plan = plan_whole(n, LEVELS, epsilon, cells=12)
    assert 2 / plan.scale <= epsilon
    assert plan.noise == pytest.approx(12 * dlaplace.var(1 / plan.scale) / n)
    assert 0 < plan.weight <= 1
    assert plan_whole(n, LEVELS, epsilon, cells=11) is None
    assert plan_whole(n, (5,), epsilon, cells=11) is None
