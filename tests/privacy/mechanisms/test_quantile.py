"""A private quantile: its utilities are distances, and exact probabilities on neighbours.

docs/proofs/dp_quantile.md.
"""

import math
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from privcore.errors import ParameterError
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from privcore.privacy.mechanisms.selection import (
    chosen_quantile,
    cut_utilities,
    quantile_utilities,
)
from tests.examples import examples
from tests.privacy.mechanisms.laws import exponential_chances

# False-alarm rate of each statistical test over seeds (the seeds are fixed).
ALARM = 1e-6

GRID = np.array([-1.0, 0.0, 1.0, 2.0])


def quantile(values, q):
    return sorted(values)[max(math.ceil(q * len(values)), 1) - 1]


def chosen(values, q, grid, epsilon, noise):
    return chosen_quantile(quantile_utilities(values, q, grid), grid, epsilon, noise)


def law(values, q, epsilon):
    return exponential_chances(quantile_utilities(np.array(values), q, GRID), 2 / epsilon)


@pytest.mark.parametrize("q", [0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("m", [1, 2, 4, 5])
def test_utilities_count_the_records_to_replace(q, m):
    """By trying all replacements of 0, 1, 2, … records by grid values."""
    for values in combinations_with_replacement(GRID, m):
        found = quantile_utilities(np.array(values), q, GRID)
        nearest = np.full(GRID.size, -np.inf)
        for k in range(m, -1, -1):
            for kept in set(combinations(values, m - k)):
                for new in combinations_with_replacement(GRID, k):
                    nearest[GRID.tolist().index(quantile((*kept, *new), q))] = -k
        assert (found == nearest).all()


@settings(max_examples=examples(300))
@given(
    rest=st.lists(st.floats(-3, 3), max_size=30),
    one=st.floats(-3, 3),
    other=st.floats(-3, 3),
    q=st.floats(0.01, 1),
    size=st.integers(1, 30),
)
def test_utilities_are_one_sensitive(rest, one, other, q, size):
    grid = np.linspace(-1, 2, size)
    before, after = (quantile_utilities(np.array([v, *rest]), q, grid) for v in (one, other))
    assert np.abs(before - after).max() <= 1
    assert before.max() == 0


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_a_quantile_costs_epsilon_and_no_more(epsilon):
    """All data sets of 3 grid values, all neighbours, both quartiles; ε is approached."""
    worst = 0.0
    for q in (0.25, 0.75):
        laws = {values: law(values, q, epsilon) for values in product(GRID, repeat=3)}
        for rest in product(GRID, repeat=2):
            around = np.log([laws[(*rest, value)] for value in GRID])
            worst = max(worst, float((around.max(axis=0) - around.min(axis=0)).max()))
    assert 0.6 * epsilon < worst <= epsilon + 1e-9


def test_frequencies_are_those_of_the_law():
    noise, runs, epsilon = SimulatedNoise(5), 20_000, 1.5
    values = np.array([-1.0, 0.0, 0.0, 2.0, 2.0])
    drawn = [chosen(values, 0.75, GRID, epsilon, noise) for _ in range(runs)]
    observed = [drawn.count(value) for value in GRID]
    assert stats.chisquare(observed, runs * law(values, 0.75, epsilon)).pvalue > ALARM
    assert stats.chisquare(observed, runs * law(values, 0.75, 1.25 * epsilon)).pvalue < ALARM


@pytest.mark.parametrize("source", [SimulatedNoise(1), SecureNoise()])
def test_at_a_large_epsilon_it_is_the_quantile_on_the_grid(source):
    grid = np.linspace(-1, 1, 201)
    values = np.random.default_rng(3).uniform(-1, 1, 999)
    for q in (0.25, 0.5, 0.75):
        found = chosen(values, q, grid, 1e6, source)
        assert abs(found - quantile(values, q)) <= 0.005 + 1e-12


@pytest.mark.parametrize("m", [1, 2, 500])
@pytest.mark.parametrize("value", [0.3, 0.304, -7.0, 7.0])
def test_equal_values_count_for_the_nearest_grid_value(value, m):
    """Also where they lie between two grid values, or outside."""
    grid = np.linspace(-1, 1, 201)
    utilities = quantile_utilities(np.full(m, value), 0.25, grid)
    nearest = grid[np.abs(grid - value).argmin()]
    assert grid[utilities.argmax()] == nearest
    assert (np.sort(utilities)[:-1] < 0).all()


def test_the_rank_is_wrong_by_at_most_the_stated_number():
    """P(utility < −t) ≤ g e^{−εt/2}, exactly, on data where it matters."""
    values, epsilon = np.repeat(GRID, [1, 7, 7, 1]), 1.0
    utilities = quantile_utilities(values, 0.5, GRID)
    probabilities = exponential_chances(utilities, 2 / epsilon)
    for t in range(8):
        assert probabilities[utilities < -t].sum() <= GRID.size * math.exp(-epsilon * t / 2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 1e9])
def test_extreme_budgets(epsilon):
    values = np.zeros(10)
    drawn = {chosen(values, 0.5, GRID, epsilon, SimulatedNoise(k)) for k in range(100)}
    assert drawn == ({0.0} if epsilon > 1 else set(GRID))


@pytest.mark.parametrize(
    ("q", "grid", "epsilon", "reason"),
    [
        (0.5, GRID, 0.0, "ε"),
        (0.5, GRID, math.inf, "ε"),
        (0.5, GRID, math.nan, "ε"),
        (0.0, GRID, 1.0, "quantile"),
        (1.1, GRID, 1.0, "quantile"),
        (0.5, np.zeros(0), 1.0, "grid"),
        (0.5, np.zeros(2), 1.0, "grid"),
        (0.5, GRID[::-1], 1.0, "grid"),
    ],
)
def test_bad_arguments_are_refused(q, grid, epsilon, reason):
    with pytest.raises(ParameterError, match=reason):
        chosen(np.zeros(3), q, grid, epsilon, SimulatedNoise(1))


def test_cut_utilities_are_largest_where_the_share_lies_below():
    utilities = cut_utilities(np.array([0.0, 0.0, 1.0, 5.0]), 1, 2, np.array([0.0, 0.5, 1.0, 2.0]))
    # Below 0 lies none of four, below 0.5 and 1 two, below 2 three; halves count twice.
    assert utilities.tolist() == [-4.0, 0.0, 0.0, -2.0]


@pytest.mark.parametrize(("part", "parts"), [(1, 2), (1, 3), (2, 3), (3, 4)])
def test_cut_utilities_have_the_sensitivity_of_their_parts(part, parts):
    """On all tables of up to three records, each of which may have no number."""
    records = (None, -1.0, 0.5, 1.0)

    def utilities(table):
        return cut_utilities(np.array([v for v in table if v is not None]), part, parts, GRID)

    largest = 0.0
    for size in (1, 2, 3):
        for table in combinations_with_replacement(records, size):
            for other in records:
                moved = np.abs(utilities(table) - utilities((other, *table[1:]))).max()
                largest = max(largest, moved)
    assert largest == parts
