"""Private interquartile ranges: by quantiles and by propose-test-release, exactly on neighbours.

docs/proofs/dp_quantile.md, docs/proofs/log_iqr.md.
"""

import math
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from privcore.errors import ParameterError
from privcore.extras.pairs.iqr import quantile_log_iqr, quartile_grid
from privcore.extras.pairs.propose_test_release import (
    changes_to_leave,
    intervals_around,
    release_cost,
    release_log_iqr,
    release_threshold,
)
from privcore.extras.pairs.scores import LEAST_IQR, log_iqr
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from tests.examples import examples, few

# False-alarm rate of each statistical test over seeds (the seeds are fixed).
ALARM = 1e-6

FLOOR = math.log(LEAST_IQR)

values_of = st.lists(
    st.one_of(st.floats(-2, 2), st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0])),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("source", [SimulatedNoise(2), SecureNoise()])
def test_quantiles_at_a_large_epsilon_give_the_log_iqr(source):
    values = np.clip(np.random.default_rng(1).normal(size=999), -2, 2)
    grid = quartile_grid(2.0)
    assert grid.size == 2001
    found = quantile_log_iqr(values, grid, 1e6, source)
    assert math.exp(found) == pytest.approx(math.exp(log_iqr(values)), abs=0.002 + 1e-9)


class Quartiles:
    """Records what is asked of a noise source."""

    kind = "simulated"

    def __init__(self):
        self.scales = []

    def noisy_max(self, scores, scale, perturbation):
        self.scales.append((scale, perturbation))
        return int(np.argmax(scores))


def test_each_quartile_has_half_the_epsilon():
    noise = Quartiles()
    quantile_log_iqr(np.linspace(-1, 1, 9), quartile_grid(1.0), 0.8, noise)
    # Scales are rounded up, by a hair.
    assert all(5.0 <= scale <= 5.0 * (1 + 1e-9) for scale, _ in noise.scales)
    assert [kind for _, kind in noise.scales] == ["exponential"] * 2


def least_changes(values, interval):
    """By trying all replacements of 0, 1, 2, … values by old, new and remote ones."""
    low, high = interval
    middles = [(a + b) / 2 for a, b in combinations(sorted(set(values)), 2)]
    candidates = sorted({*values, *middles, -1e30, 1e30})
    for k in range(len(values) + 1):
        for kept in combinations(values, len(values) - k):
            for new in combinations_with_replacement(candidates, k):
                if not low <= log_iqr(np.array([*kept, *new])) < high:
                    return k
    raise AssertionError


@pytest.mark.parametrize("seed", range(12))
def test_changes_to_leave_is_the_exact_distance(seed):
    generator = np.random.default_rng(seed)
    m = int(generator.integers(2, 8))
    values = generator.choice([0.0, 1.0, 1.5, 1.6, 1.9, 4.0], m)
    for interval in (*intervals_around(log_iqr(values)), (FLOOR - 1, 1.0), (-1.0, 50.0)):
        assert changes_to_leave(values, interval) == least_changes(values.tolist(), interval)


@settings(max_examples=examples(400))
@given(rest=values_of, one=st.floats(-2, 2), other=st.floats(-2, 2))
def test_the_distance_changes_by_at_most_one_between_neighbours(rest, one, other):
    """Both conditions on a distance: within an interval, and where a neighbour lies outside."""
    x, y = np.array([one, *rest]), np.array([other, *rest])
    for b in (*intervals_around(log_iqr(x)), (FLOOR - 0.5, FLOOR + 0.5), (-0.5, 3.0)):
        low, high = b
        first, second = changes_to_leave(x, b), changes_to_leave(y, b)
        assert abs(first - second) <= 1
        inside = [low <= log_iqr(v) < high for v in (x, y)]
        assert [d > 0 for d in (first, second)] == inside
        if inside == [True, False]:
            assert first == 1


@given(value=st.floats(-8, 3))
def test_two_intervals_of_length_one_hold_the_value(value):
    (a, b), (c, d) = intervals_around(value)
    assert a <= value < b
    assert c <= value < d
    assert (b - a, d - c, abs(a - c)) == (1, 1, 0.5)
    assert a == math.floor(a)


def passes(distances, epsilon, delta):
    """P(one of the noisy distances exceeds the threshold), exactly."""
    threshold = release_threshold(epsilon, delta)
    fails = [stats.laplace.cdf(threshold, d, 1 / epsilon) for d in distances]
    return 1 - fails[0] * fails[1], fails[0] * fails[1]


@pytest.mark.long
@pytest.mark.parametrize("delta", few([0.2, 1e-3], 1))
@pytest.mark.parametrize("epsilon", few([0.3, 1.0, 2.0], 1))
def test_the_test_costs_two_epsilon_to_refuse_and_one_to_pass(epsilon, delta):
    """All neighbouring distances; with ε more for the value either outcome costs at most 2ε."""
    refuse = accept = 0.0
    for one in product(range(0, 61, 4), repeat=2):
        for step in product((-1, 0, 1), repeat=2):
            other = np.maximum(np.add(one, step), 0)
            before, after = passes(one, epsilon, delta), passes(other, epsilon, delta)
            refuse = max(refuse, abs(math.log(before[1] / after[1])))
            if min(before[0], after[0]) > 1e-9:  # Below, 1 − P loses its digits.
                accept = max(accept, abs(math.log(before[0] / after[0])))
    assert release_cost(epsilon, "proven") == 2 * epsilon
    assert 1.9 * epsilon < refuse <= 2 * epsilon + 1e-9
    assert 0.8 * epsilon < accept <= epsilon + 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.5, 1e-2, 1e-6])
def test_neighbours_without_a_common_interval_are_released_with_delta_at_most(epsilon, delta):
    passed, _ = passes((1, 1), epsilon, delta)
    assert passed == pytest.approx(delta - delta**2 / 4, abs=1e-15)
    assert passes((0, 0), epsilon, delta)[0] < passed
    assert passes((0, 1), epsilon, delta)[0] < passed
    # A threshold without the 1 would not do.
    tail = stats.laplace.sf(release_threshold(epsilon, delta) - 1, 1, 1 / epsilon)
    assert 2 * tail > delta


def needed_delta(x, y, epsilon, delta, total):
    """The least δ with which the outputs on x and y are (total, δ)-close, in both directions.

    The densities of a released value are compared on a grid, the refusal exactly.
    """
    outcomes = []
    for data in (x, y):
        value = log_iqr(data)
        distances = [changes_to_leave(data, b) for b in intervals_around(value)]
        outcomes.append((value, *passes(distances, epsilon, delta)))
    grid = np.linspace(-60, 60, 240_001)
    worst = 0.0
    for one, other in (outcomes, outcomes[::-1]):
        densities = [p * stats.laplace.pdf(grid, v, 1 / epsilon) for v, p, _ in (one, other)]
        excess = np.maximum(0, densities[0] - math.exp(total) * densities[1])
        refused = max(0.0, one[2] - math.exp(total) * other[2])
        worst = max(worst, float(np.trapezoid(excess, grid)) + refused)
    return worst


@pytest.mark.parametrize("delta", few([0.1, 1e-3], 1))
@pytest.mark.parametrize("epsilon", few([0.5, 1.0], 1))
def test_outputs_on_neighbours_stay_within_two_epsilon_and_delta(epsilon, delta):
    """Random and worst data: near the ends of intervals, and jumps over many of them."""
    generator = np.random.default_rng(7)
    cases = []
    for _ in range(60):
        m = int(generator.integers(2, 60))
        ends = np.exp(generator.integers(-4, 3, 2) / 2)
        x = generator.choice([0.0, *ends, ends[0] * 0.999, *generator.uniform(0, 2, 4)], m)
        y = x.copy()
        y[0] = generator.choice([-1e3, 0.5, 1e3])
        cases.append((x, y))
    # The range jumps from LEAST_IQR to 1e3: whatever is released distinguishes the two.
    cases.append((np.array([0.0, 0.0, 1e3, 1e3]), np.array([0.0, 0.0, 0.0, 1e3])))
    cost = release_cost(epsilon, "proven")
    needed = [needed_delta(x, y, epsilon, delta, cost) for x, y in cases]
    assert max(needed) <= delta * (1 + 1e-6)
    assert needed[-1] > 0.9 * delta


def test_two_epsilon_is_nearly_needed():
    """Values 0 and almost 1 with one interval in common, which 6 and 7 changes leave."""
    epsilon, delta = 1.0, 1e-3
    high = math.e * 0.9999
    x = np.array([0.0] * 15 + [1.0] * 15 + [high] * 10)
    y = x.copy()
    y[15] = high
    found = [[changes_to_leave(v, b) for b in intervals_around(log_iqr(v))] for v in (x, y)]
    assert found == [[6, 1], [7, 1]]
    assert needed_delta(x, y, epsilon, delta, release_cost(epsilon, "proven")) <= delta
    assert needed_delta(x, y, epsilon, delta, 1.8 * epsilon) > 10 * delta


class Scripted:
    """A noise source whose Laplace draws are given, in units of the scale."""

    kind = "simulated"

    def __init__(self, *draws):
        self.draws, self.asked = list(draws), []

    def laplace(self, value, scale):
        self.asked.append((value, scale))
        return value + scale * self.draws.pop(0)


@pytest.mark.parametrize(
    ("draws", "released"),
    [((0, 0, 0.5), True), ((0, -9, 0.5), True), ((-9, 0, 0.5), True), ((-9, -9), False)],
)
def test_either_test_is_enough(draws, released):
    epsilon, delta = 0.5, math.exp(-5)
    assert release_threshold(epsilon, delta) == pytest.approx(11)
    noise = Scripted(*draws)
    found = release_log_iqr(0.2, lambda interval: 12, epsilon, delta, noise)
    assert found == (pytest.approx(1.2) if released else None)
    assert noise.asked[:2] == [(12.0, 2.0), (12.0, 2.0)]
    assert noise.asked[2:] == ([(0.2, 2.0)] if released else [])


def test_the_release_frequency_is_the_computed_one():
    epsilon, delta, runs = 0.8, 0.05, 20_000
    distances = dict(zip(intervals_around(0.3), (3, 4), strict=True))
    noise = SimulatedNoise(9)
    passed = sum(
        release_log_iqr(0.3, distances.__getitem__, epsilon, delta, noise) is not None
        for _ in range(runs)
    )
    expected = passes((3, 4), epsilon, delta)[0]
    assert stats.binomtest(passed, runs, expected).pvalue > ALARM
    assert stats.binomtest(passed, runs, passes((4, 5), epsilon, delta)[0]).pvalue < ALARM


def test_theorem_4_1_needs_both_distances_to_be_small():
    """Printed with A₁ *or* A₂ ≤ e: with 1 and 1,000 the value is released almost surely."""
    epsilon, delta = 1.0, 1e-6
    assert passes((1, 1_000), epsilon, delta)[0] > 0.999 > 1.5 * delta
    assert passes((1, 1), epsilon, delta)[0] <= delta


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [np.zeros(40), np.zeros(1), np.array([-2.0, 2.0])])
@pytest.mark.parametrize("epsilon", [1e-300, 1e-6, 1.0, 1e9])
def test_extreme_data_and_budgets(values, epsilon):
    value = log_iqr(values)
    found = release_log_iqr(
        value, lambda b: changes_to_leave(values, b), epsilon, 1e-6, SimulatedNoise(1)
    )
    assert found is None or math.isfinite(found)
    if values.size == 40 and epsilon == 1e9:
        assert found == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "reason"),
    [(0.0, 0.1, "ε"), (math.inf, 0.1, "ε"), (1.0, 0.0, "delta"), (1.0, 1.0, "delta")],
)
def test_bad_arguments_are_refused(epsilon, delta, reason):
    with pytest.raises(ParameterError, match=reason):
        release_log_iqr(0.0, lambda interval: 5, epsilon, delta, SimulatedNoise(1))
