"""Log-linear models of noisy moments: closed forms without noise, levels and errors with it."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2_contingency, kstest

from privcore import kernels
from privcore.algorithms.moment_search.evidence import TableEvidence
from privcore.algorithms.moment_search.log_linear import (
    LIMITS,
    LogLinear,
    closed,
    codes_by_cell,
    codes_of,
    fitted,
    layout_of,
    margin,
    nearest_probabilities,
)
from privcore.algorithms.moment_search.moments import full_basis
from privcore.privacy.mechanisms import SimulatedNoise
from tests.algorithms.moment_search.releasing import (
    counted,
    data,
    of_pairs,
    of_tables,
    release_tables,
)
from tests.examples import examples


def probabilities(seed, levels, spread=0.5):
    generator = np.random.default_rng(seed)
    return generator.dirichlet(np.full(np.prod(levels), spread)).reshape(levels)


def models(moments):
    evidence = TableEvidence(moments, penalty=0.0)
    return LogLinear(moments, evidence.probabilities)


PAIRS = ((0, 1), (0, 2), (1, 2))


def test_a_fitted_table_has_the_margins_and_no_other_term():
    levels = (2, 3, 4)
    truth = probabilities(1, levels, 5.0)
    table = fitted(np.full(levels, 1 / 24), {a: margin(truth, a) for a in PAIRS})
    for axes in PAIRS:
        assert margin(table, axes) == pytest.approx(margin(truth, axes), abs=1e-5)
    # All terms of three columns of its logarithm are 0.
    logs = np.log(table)
    for axis, r in enumerate(levels):
        logs = np.moveaxis(np.tensordot(full_basis(r).T, logs, axes=(1, axis)), 0, axis)
    assert logs[1:, 1:, 1:] == pytest.approx(0, abs=1e-9)


@given(seed=st.integers(0, 10_000), columns=st.integers(1, 4))
@settings(max_examples=examples(30))
def test_a_table_is_fitted_to_one_margin_after_the_other(seed, columns):
    generator = np.random.default_rng(seed)
    levels = tuple(int(r) for r in generator.integers(2, 5, columns))
    truth = probabilities(seed, levels)
    wanted = [axes for size in (1, 2) for axes in combinations(range(columns), size)]
    goals = {axes: margin(truth, axes) for axes in wanted}
    start = table = np.full(levels, 1 / truth.size)
    gap, rounds = np.inf, 0
    while gap >= LIMITS[0] and rounds < LIMITS[1]:
        gap, rounds = 0.0, rounds + 1
        for axes, goal in goals.items():
            others = tuple(axis for axis in range(columns) if axis not in axes)
            summed = table.sum(axis=others, keepdims=True)
            goal = goal.reshape(summed.shape)
            gap += np.abs(goal - summed).sum()
            table = table * np.divide(goal, summed, out=np.zeros_like(summed), where=summed > 0)
    assert fitted(start, goals) == pytest.approx(table, rel=1e-9, abs=1e-15)


@given(
    counts=st.lists(st.floats(-50, 100), min_size=2, max_size=8).filter(lambda c: sum(c) > 1),
    least=st.sampled_from([1e-9, 1e-3]),
)
def test_nearest_probabilities_are_the_projection(counts, least):
    """No other such table is nearer: the residual makes no acute angle with any."""
    wanted = np.array(counts) / sum(counts)
    found = nearest_probabilities(np.array(counts), least)
    assert found.sum() == pytest.approx(1)
    assert found.min() >= least * (1 - 1e-9)
    for corner in range(len(counts)):
        other = np.full(len(counts), least)
        other[corner] = 1 - least * (len(counts) - 1)
        assert (wanted - found) @ (other - found) <= 1e-9 * max(1, abs(wanted).max())


def test_errors_of_a_term_are_those_of_regression_residuals():
    levels, n = (2, 3, 3), 200_000
    table = fitted(
        np.full(levels, 1 / 18),
        {a: margin(probabilities(3, levels, 3.0), a) for a in PAIRS},
    )
    noise = {
        (): 0.0,
        (0,): 0.1,
        (1,): 0.2,
        (2,): 0.3,
        (0, 1): 1.0,
        (0, 2): 2.0,
        (1, 2): 0.5,
        (0, 1, 2): 4.0,
    }
    held = codes_of(levels, PAIRS, (0, 1, 2))
    by_cell = [
        codes_by_cell([full_basis(levels[a])[:, 1:] for a in axes], [a in subset for a in axes])
        for axes, subset in zip(held.within, held.subsets, strict=True)
    ]
    each = [np.full(np.prod([levels[a] - 1 for a in s], dtype=int), noise[s]) for s in held.subsets]
    *_, sampling, entered = kernels.table_tests.model_test(
        table.reshape(-1),
        *layout_of(levels, (*PAIRS, (0, 1, 2))),
        np.concatenate(by_cell),
        held.ends,
        np.concatenate(each),
        np.zeros(4),
        float(n),
        1e-9,
    )
    rows = np.random.default_rng(0).choice(18, n, p=table.ravel())
    places = np.unravel_index(rows, levels)
    codes = [full_basis(r)[place, 1:] for r, place in zip(levels, places, strict=True)]

    def product(axes):
        result = np.ones((n, 1))
        for axis in axes:
            result = (result[:, :, None] * codes[axis][:, None, :]).reshape(n, -1)
        return result

    known = closed(PAIRS)
    assert known == [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    among = np.column_stack([np.ones(n), *map(product, known)])
    slopes, *_ = np.linalg.lstsq(among, product((0, 1, 2)), rcond=None)
    left = product((0, 1, 2)) - among @ slopes
    size = np.abs(sampling).max()
    assert sampling == pytest.approx(left.T @ left / n, abs=0.05 * size)
    variances = np.concatenate([[0.0], *(np.full(product(a).shape[1], noise[a]) for a in known)])
    entering = slopes.T @ (variances[:, None] * slopes) + 4.0 * np.eye(4)
    assert entered == pytest.approx(entering, rel=0.05, abs=0.1)


def test_without_noise_a_pair_explains_the_deviance_of_its_table():
    source = data(1)
    found = models(of_pairs(source)).explained(0, frozenset({2}))
    expected = chi2_contingency(source.table([0, 2]), correction=False, lambda_="log-likelihood")
    assert found.deviance == pytest.approx(expected.statistic, rel=1e-4)
    assert found.dof == pytest.approx(expected.dof)


def interacting(n=20_000, strength=0.8, seed=0):
    """The third column follows whether the first two are the same; pairs show nothing."""
    generator = np.random.default_rng(seed)
    a, b = (generator.integers(0, 2, n) for _ in range(2))
    c = np.where(generator.random(n) < strength, a ^ b, generator.integers(0, 2, n))
    return counted((a, b, c), (2, 2, 2))


def test_what_pairs_do_not_say_comes_from_tables():
    source = interacting()
    exact = chi2_contingency(
        source.table([0, 1, 2]).reshape(4, 2), correction=False, lambda_="log-likelihood"
    ).statistic
    family = (2, frozenset({0, 1}))
    alone = models(of_pairs(source)).explained(*family)
    assert alone.deviance < 0.01 * exact
    assert alone.dof == pytest.approx(2)
    seen = models(of_tables(source, [(0, 1, 2)], 20.0)).explained(*family)
    assert seen.deviance == pytest.approx(exact, rel=0.05)
    assert seen.dof > alone.dof


@pytest.mark.long
def test_noise_on_a_table_is_not_taken_for_an_interaction():
    """At a level of 0.001: fails by chance less than once in a million runs."""
    runs, seen = 300, 0
    source = interacting(strength=0.0)
    for seed in range(runs):
        found = models(of_tables(source, [(0, 1, 2)], 60.0, seed)).explained(2, frozenset({0, 1}))
        seen += found.dof > models(of_pairs(source, 1e7, seed)).explained(2, frozenset({0, 1})).dof
    assert binom.sf(seen - 1, runs, 1e-3) > 1e-6


def chained(seed, n=20_000):
    """Two columns that follow three others closely, and not each other."""
    generator = np.random.default_rng([seed, 7])
    causes = [generator.choice(3, n, p=(0.6, 0.3, 0.1))]
    for _ in range(2):
        follows = generator.random(n) < 0.6
        causes.append(np.where(follows, causes[0], generator.integers(0, 3, n)))
    effects = []
    for _ in range(2):
        leader = np.choose(generator.integers(0, 3, n), causes)
        follows = generator.random(n) < 0.9
        effects.append(np.where(follows, leader, generator.integers(0, 3, n)))
    return counted((*causes, *effects), (3, 3, 3, 3, 3))


@pytest.mark.long
@pytest.mark.parametrize("sigma", [pytest.param(0.0, marks=pytest.mark.long), 40.0])
def test_the_level_holds_given_columns_that_are_followed_closely(sigma):
    """Tables hold what pairs do not say; fails by chance less than once in a million runs."""
    runs = 200
    p_values = []
    for seed in range(runs):
        source = chained(seed)
        moments = of_pairs(source, sigma, seed)
        release_tables(
            moments, source, [(0, 1, 2, 3), (0, 1, 2, 4)], sigma / 4, SimulatedNoise(seed + 5_000)
        )
        p_values.append(models(moments).test(3, 4, (0, 1, 2)).p_value)
    assert binom.sf(sum(p < 0.05 for p in p_values) - 1, runs, 0.05) > 1e-6
    assert kstest(p_values, "uniform", alternative="greater").pvalue > 1e-6


@pytest.mark.parametrize("sigma", [40.0, 400.0])
def test_rare_levels_below_the_noise_depend_on_nothing(sigma):
    """Their shares are cleaned; fails by chance less than once in a million runs."""
    found: list[list[float]] = [[], [], []]
    for seed in range(100):
        generator = np.random.default_rng(seed)
        shares = [[0.97, 0.01, 0.01, 0.005, 0.005], [0.99, 0.006, 0.004, 0, 0], [0.98, 0.02]]
        values = [generator.choice(len(share), 4_000, p=share) for share in shares]
        evidence = TableEvidence(of_pairs(counted(values, (5, 5, 2)), sigma, seed), penalty=3.0)
        found[0].append(evidence.linear.test(0, 1).p_value)
        found[1].append(evidence.unexplained(0, 1, ()).p_value)
        found[2].append(evidence.unexplained(0, 1, (2,)).p_value)
    for p_values in found:
        assert binom.sf(sum(p < 0.05 for p in p_values) - 1, 100, 0.05) > 3e-7


def test_a_dependence_given_others_is_found():
    source = interacting()
    generator = np.random.default_rng(1)
    n = 20_000
    a = generator.integers(0, 3, n)
    b, c = (np.where(generator.random(n) < 0.7, a, generator.integers(0, 3, n)) for _ in range(2))
    c = np.where(generator.random(n) < 0.2, b, c)
    source = counted((a, b, c), (3, 3, 3))
    assert models(of_pairs(source, 30.0)).test(1, 2, (0,)).p_value < 1e-9
    assert models(of_pairs(source, 1e6)).test(1, 2, (0,)).p_value > 1e-3


def test_sets_of_too_many_combinations_have_no_model():
    generator = np.random.default_rng(2)
    values = [generator.integers(0, 40, 1_000) for _ in range(3)]
    evidence = TableEvidence(of_pairs(counted(values, (40, 40, 40))), penalty=3.0)
    assert evidence.unexplained(0, 1, (2,)) is None
    assert evidence.score(0, frozenset({1, 2})) == -np.inf
    assert evidence.final(0, 1, (2,)) == evidence.linear.test(0, 1, (2,))


def test_an_interaction_that_no_table_shows_is_not_taken_for_a_dependence():
    """The last two columns follow whether the first two are the same, and not each other."""
    generator, n = np.random.default_rng(3), 20_000
    a, b = (generator.integers(0, 2, n) for _ in range(2))
    c, d = (
        np.where(generator.random(n) < 0.6, a ^ b, generator.integers(0, 2, n)) for _ in range(2)
    )
    source = counted((a, b, c, d), (2, 2, 2, 2))
    evidence = TableEvidence(of_pairs(source), penalty=3.0)
    assert evidence.unexplained(2, 3, (0, 1)).p_value < 1e-12
    assert evidence.surely_unexplained(2, 3, (0, 1)) is None
    moments = of_pairs(source)
    release_tables(moments, source, [(0, 1, 2)], 10.0, SimulatedNoise(0))
    assert TableEvidence(moments, penalty=3.0).surely_unexplained(2, 3, (0, 1)) is None
    release_tables(moments, source, [(0, 1, 3)], 10.0, SimulatedNoise(1))
    shown = TableEvidence(moments, penalty=3.0)
    assert shown.surely_unexplained(2, 3, (0, 1)).p_value > 1e-3
    # One column has no interaction to lack, and the first alone says nothing.
    assert evidence.surely_unexplained(2, 3, (0,)).p_value < 1e-12
