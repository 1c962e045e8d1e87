"""Moments of numbers: tests without noise, a level that holds with it, scores, orders."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, kstest, norm

from privcore.algorithms.moment_search.evidence import LineEvidence
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.plan import Plan, RowMoments, Scales, plan_numbers
from privcore.algorithms.moment_search.released import NumberUnits
from privcore.algorithms.moment_search.search import OrderSearch
from privcore.counts import NumericRows
from privcore.graphs import cpdag_of_dag
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import gaussian_delta
from privcore.privacy.mechanisms.moments import CENTRED_SHARE, upper_triangle
from tests.algorithms.moment_search.releasing import release_rows
from tests.examples import examples, few
from tests.transcripts import Recorder

QUIET = 1e9


def planned(n, p, mu, radius=50.0):
    """Two releases with the same mu, none of shapes; by default nothing is shortened."""
    units = Scales(n=n, mu=mu, columns=tuple(range(p)))
    rows = RowMoments(n=n, mu=mu, columns=p, radius=radius)
    return Plan(n=n, levels=(0,) * p, units=units, rows=rows, intervals=2)


def rows(seed, n=3_000, p=5, weight=0.5, shift=0.0):
    """A random linear model in the box."""
    generator = np.random.default_rng(seed)
    values = generator.standard_normal((n, p)) / 5
    for k in range(1, p):
        for cause in range(k):
            if generator.random() < 0.5:
                values[:, k] += weight * generator.choice((-1, 1)) * values[:, cause]
    return np.clip(values / np.abs(values).max() * 0.8 + shift, -1, 1)


def source_of(values):
    p = values.shape[1]
    return NumericRows(tuple("abcdefgh"[:p]), ((-1.0, 1.0),) * p, values)


def quiet(values, penalty=5.0):
    return noisy_moments(values, QUIET, 0, penalty)


def noisy_moments(values, mu, seed, penalty=5.0, radius=50.0):
    plan = planned(*values.shape, mu, radius)
    source, noise = source_of(values), SimulatedNoise(seed)
    return LineEvidence(release_rows(source, plan, noise), penalty)


@pytest.mark.parametrize("radius", [0.5, 1.0, 50.0])
def test_no_row_is_longer_than_what_the_noise_covers(radius):
    """Rows in corners of the box: their squares add up to 1 at most, to 1 where shortened."""
    values = np.where(np.random.default_rng(1).random((200, 4)) < 0.5, -1.0, 1.0)
    noise = Recorder(1)
    units = NumberUnits(np.zeros(4), np.ones(4), radius, np.ones(4), CENTRED_SHARE)
    planned(200, 4, 1.0, radius).rows.measure(source_of(values), noise, units)
    (_, _, sigma, _), (_, squares, more, _) = noise.calls
    assert more >= math.sqrt(2) * sigma
    assert squares.sum() <= 1 + 1e-9
    assert radius > 1 or squares.sum() > 0.999


def left_of(values, column, given):
    known = np.column_stack([np.ones(len(values)), values[:, list(given)]])
    return values[:, column] - known @ np.linalg.lstsq(known, values[:, column], rcond=None)[0]


@pytest.mark.parametrize("given_columns", [(), (3,), (2, 3, 4)])
def test_without_noise_a_test_is_the_correlation_of_regression_residuals(given_columns):
    values = rows(1, shift=0.1)
    r = np.corrcoef(left_of(values, 0, given_columns), left_of(values, 1, given_columns))[0, 1]
    z = math.sqrt(len(values)) * r
    found = quiet(values).test(0, 1, given_columns)
    assert found.value == pytest.approx(z * z, rel=1e-4)
    assert found.p_value == pytest.approx(2 * norm.sf(abs(z)), rel=1e-3)


@pytest.mark.parametrize("parents", [(1,), (1, 2), (0, 1, 3, 4)])
def test_without_noise_the_score_is_bic_s_form(parents):
    values, column = rows(2), 2 if 2 not in parents else 4
    deviance = len(values) * math.log(
        left_of(values, column, ()).var() / left_of(values, column, parents).var()
    )
    found = quiet(values, penalty=7.0).score(column, frozenset(parents))
    assert found == pytest.approx(deviance - 7 * len(parents), abs=0.01 + 1e-4 * deviance)


@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 1_000), mu=st.sampled_from([0.3, 3.0, QUIET]), penalty=st.floats(0, 20))
def test_gains_are_what_a_further_cause_adds_to_the_score(seed, mu, penalty):
    evidence = noisy_moments(rows(seed), mu, seed, penalty, radius=1.5)
    for parents in (frozenset(), frozenset({1}), frozenset({1, 2})):
        gains = evidence.gains(0, parents)
        # Last in the order in which a score adds causes up, so that the noise's part is the same.
        added = evidence.score(0, parents | {4}) - evidence.score(0, parents)
        assert gains[4] == pytest.approx(added, rel=1e-6, abs=1e-4)
        assert all(gains[c] == -math.inf for c in {0, *parents})


@pytest.mark.long
@pytest.mark.parametrize("given_columns", [(), (2,), (2, 3)])
def test_the_noise_s_variance_is_that_of_drawn_noise(given_columns):
    """Means far from 0, columns that depend on those given, and nearly none on each other.

    Mean squares of 800 draws are within five of their standard deviations, a quarter.
    """
    values, squares, weights = rows(4, n=20_000, shift=0.15), [], []
    exact = quiet(values).test(0, 1, given_columns).value
    for seed in range(800):
        noisy = noisy_moments(values, 0.75, seed, radius=3.0)
        found = noisy.test(0, 1, given_columns)
        squares.append(found.value / found.first**2)
        weights.append(found.first)
    expected = 1 / np.mean(weights) - 1
    assert exact < 0.1 * expected
    assert np.mean(squares) == pytest.approx(expected + exact, rel=0.25)


@pytest.mark.long
@pytest.mark.parametrize("mu", few([0.2, 2.0], 1))
@pytest.mark.parametrize("given_columns", [pytest.param((), marks=pytest.mark.long), (2, 3)])
def test_the_level_holds_when_the_noise_is_large(mu, given_columns):
    """x and y independent given the rest, which they depend on; means far from 0.

    Fails by chance less than once in a million runs, were the p-values uniform.
    """
    p_values, n = [], 4_000
    for seed in range(500):
        generator = np.random.default_rng(seed)
        values = generator.standard_normal((n, 4)) / 5
        for cause in given_columns:
            values[:, 0] += 0.4 * values[:, cause]
            values[:, 1] -= 0.3 * values[:, cause]
        shifted = np.clip(values + np.array([0.3, -0.2, 0.1, 0.0]), -1, 1)
        noisy = noisy_moments(shifted, mu, seed, radius=2.0)
        p_values.append(noisy.test(0, 1, given_columns).p_value)
    false = sum(p < 0.05 for p in p_values)
    assert binom.sf(false - 1, 500, 0.05) > 1e-6
    assert binom.cdf(false, 500, 0.05) > 1e-6
    assert kstest(p_values, "uniform").pvalue > 1e-6


unit = st.floats(-1, 1, allow_subnormal=False)
pairs_of_rows = st.integers(1, 6).flatmap(
    lambda p: st.tuples(*[st.lists(unit, min_size=p, max_size=p)] * 2)
)


@settings(max_examples=examples(300), deadline=None)
@given(pairs_of_rows)
def test_a_row_moves_means_and_mean_squares_by_no_more_than_claimed(drawn):
    one, other = (np.array([*row, *np.square(row)]) for row in drawn)
    p = len(drawn[0])
    assert np.linalg.norm(one - other) <= 2 * math.sqrt(p) + 1e-9
    assert planned(1, p, 1.0).units.sigma == pytest.approx(2 * math.sqrt(p))


def test_that_much_is_attained():
    change = np.array([1.0, 1.0]) - np.array([-1.0, 1.0])
    assert np.linalg.norm(change) == pytest.approx(planned(1, 1, 1.0).units.sigma)


rows_and_units = st.tuples(
    st.lists(unit, min_size=3, max_size=3),
    st.lists(unit, min_size=3, max_size=3),
    st.lists(unit, min_size=3, max_size=3),
    st.lists(st.floats(1e-3, 1), min_size=3, max_size=3),
    st.floats(0.3, 10),
)


@settings(max_examples=examples(300), deadline=None)
@given(rows_and_units)
def test_whatever_the_units_a_row_moves_the_moments_by_no_more_than_claimed(drawn):
    """One row of two replaced, in any units that the first release may say."""
    one, other, centre, scale, longest = drawn
    shared = [0.3, -0.2, 0.9]
    moments = [
        source_of(np.array([shared, row])).moments_about(np.array(centre), np.array(scale), longest)
        for row in (one, other)
    ]
    weight = np.array([CENTRED_SHARE, 1, 1, 1])
    # Squares have √2 times the noise.
    weights = np.outer(weight, weight) / np.where(np.eye(4), math.sqrt(2), 1)
    change = ((moments[0] - moments[1]) * weights)[upper_triangle(3, centred=True)]
    assert np.linalg.norm(change) <= planned(2, 3, 1.0).rows.sigma + 1e-9


def test_rows_in_other_units_are_those_counted():
    values = rows(7, n=50)
    centre, scale = np.full(5, 0.1), np.linspace(0.1, 0.5, 5)
    units = (values - centre) / scale / 2.0
    units /= np.maximum(np.linalg.norm(units, axis=1), 1)[:, None]
    full = np.column_stack([np.ones(50), units])
    found = source_of(values).moments_about(centre, scale, 2.0)
    expected = np.mean([np.outer(f, f) for f in full], axis=0)
    assert found == pytest.approx(expected, abs=1e-6)


def planned_for(n, p, epsilon, delta=1e-6, radius=None):
    parameters = MomentSearchParameters(epsilon=epsilon, delta=delta, longest_row=radius)
    return plan_numbers(n, (0,) * p, parameters)


@settings(max_examples=examples(100), deadline=None)
@given(
    p=st.integers(2, 100),
    n=st.integers(100, 10**7),
    epsilon=st.floats(0.01, 100),
    delta=st.sampled_from([1e-9, 1e-6, 1e-3]),
    radius=st.sampled_from([None, 0.5, 4.0]),
)
def test_all_releases_together_are_the_total(p, n, epsilon, delta, radius):
    plan = planned_for(n, p, epsilon, delta, radius)
    planned = [release for release in (plan.units, plan.pairs, plan.rows) if release is not None]
    together = math.hypot(*(release.mu for release in planned))
    assert gaussian_delta(epsilon, together) <= delta
    assert gaussian_delta(epsilon, together * (1 + 1e-9)) > delta * (1 - 1e-6)
    assert math.fsum(plan.shares) == pytest.approx(1)
    assert len(plan.shares) == len(planned)
    assert plan.rows.radius == radius or radius is None
    assert 1 <= planned_for(n, p, epsilon, delta).rows.radius <= 3


@settings(max_examples=examples(60), deadline=None)
@given(p=st.integers(2, 100), n=st.integers(100, 10**7), epsilon=st.floats(0.01, 50))
def test_the_less_noise_the_longer_rows_may_be(p, n, epsilon):
    radius = planned_for(n, p, epsilon).rows.radius
    assert radius <= planned_for(10 * n, p, epsilon).rows.radius
    assert radius <= planned_for(n, p, 2 * epsilon).rows.radius


def test_units_do_not_matter_where_there_is_little_noise():
    """Narrow columns far from the middle of their bounds say as much as wide ones."""
    values = rows(8, n=5_000)
    moved = values * np.array([0.02, 0.5, 0.1, 1, 0.05]) + np.array([0.9, -0.4, 0.5, 0, -0.9])
    one, other = (noisy_moments(v, 2e3, 1, radius=3.0) for v in (values, moved))
    for given_columns in ((), (2, 3)):
        before, after = (e.test(0, 1, given_columns) for e in (one, other))
        assert after.value == pytest.approx(before.value, rel=0.1, abs=0.3)
        assert after.first > 0.9


def best_by_brute_force(evidence, columns):
    """Every order, and every set of causes before each column."""
    best, found = -math.inf, None
    for order in permutations(range(columns)):
        parents, total = [frozenset()] * columns, 0.0
        for place, column in enumerate(order):
            options = [frozenset()]
            for earlier in order[:place]:
                options += [option | {earlier} for option in options]
            parents[column] = max(options, key=lambda o, c=column: evidence.score(c, o))
            total += evidence.score(column, parents[column])
        if total > best + 1e-6:
            best, found = total, tuple(parents)
    return best, found


@pytest.mark.parametrize("seed", range(12))
def test_orders_lead_to_the_best_of_all_dags(seed):
    evidence = quiet(rows(seed, n=20_000, p=4), penalty=10.0)
    found = OrderSearch(evidence.gains, [range(4)] * 4).best(range(4))
    best, expected = best_by_brute_force(evidence, 4)
    total = sum(evidence.score(c, parents) for c, parents in enumerate(found))
    assert total == pytest.approx(best, abs=1.0)
    names = ("a", "b", "c", "d")
    graphs = [
        cpdag_of_dag(names, {(p, c) for c, ps in enumerate(dag) for p in ps})
        for dag in (found, expected)
    ]
    assert graphs[0] == graphs[1]


def test_a_search_over_orders_asks_whether_to_go_on():
    class Enough(Exception):
        pass

    def between(moves):
        raise Enough

    with pytest.raises(Enough):
        OrderSearch(quiet(rows(1)).gains, [range(5)] * 5).best(range(5), between)
