"""Lemma 2 against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms.gradients.curate_score import (
    SCHEDULES,
    budgets,
    growing_shares,
    largest_count,
    lemma_count,
    total,
)
from privcore.errors import ParameterError
from tests.messages import raises_code

firsts = st.floats(0.01, 3.0)
epsilons = st.floats(0.05, 30.0)


def brute(schedule, epsilon, first):
    """The largest I whose budgets, added one by one, stay within the total."""
    count = 0
    while budgets(schedule, first, count + 1).sum() <= epsilon * (1 + 1e-12):
        count += 1
    return count


@pytest.mark.parametrize("schedule", SCHEDULES)
@settings(deadline=None)
@given(epsilon=epsilons, first=st.one_of(firsts, st.just(1.0)))
def test_the_largest_count_is_that_of_a_search(schedule, epsilon, first):
    count = largest_count(schedule, epsilon, max(first, epsilon / 200))
    assert count == brute(schedule, epsilon, max(first, epsilon / 200))


@pytest.mark.parametrize("schedule", ["additive", "multiplicative"])
@settings(deadline=None)
@given(epsilon=epsilons, first=firsts)
def test_two_counts_of_lemma_2_are_exact(schedule, epsilon, first):
    if abs(first - 1) < 1e-3:
        first = 1.0
    assert lemma_count(schedule, epsilon, first) == largest_count(schedule, epsilon, first)


@settings(deadline=None)
@given(epsilon=epsilons, first=firsts)
def test_the_exponential_count_is_too_small(epsilon, first):
    """Never above what fits, and for many iterations e/(e − 1) = 1.58 times below it."""
    lemma, most = (
        lemma_count("exponential", epsilon, first),
        largest_count("exponential", epsilon, first),
    )
    assert lemma <= most
    if lemma >= 50:
        assert most / lemma == pytest.approx(np.e / (np.e - 1), rel=0.05)


def test_by_hand():
    # 0.1 · (1 + 1.25 + 1.5 + 1.75) = 0.55; five iterations need 0.7.
    assert lemma_count("additive", 0.6, 0.1) == 4
    assert lemma_count("exponential", 1.0, 0.1) == 3
    assert largest_count("exponential", 1.0, 0.1) == 6
    assert lemma_count("multiplicative", 1.0, 0.05) == 61
    assert lemma_count("multiplicative", 5.0, 1.0) == 5
    assert lemma_count("multiplicative", 0.1, 0.5) == 0
    assert lemma_count("additive", 0.01, 0.05) == 0
    with raises_code(ParameterError, "too-many-iterations"):
        largest_count("additive", 1e6, 1e-6)


@pytest.mark.parametrize("schedule", SCHEDULES)
@settings(deadline=None)
@given(first=firsts, count=st.integers(1, 300))
def test_sums_in_closed_form(schedule, first, count):
    if abs(first - 1) < 1e-6:
        first = 1.0
    assert total(schedule, first, count) == pytest.approx(budgets(schedule, first, count).sum())


def test_multiplicative_budgets_shrink_below_one_and_grow_above():
    assert (np.diff(budgets("multiplicative", 0.2, 9)) < 0).all()
    assert (np.diff(budgets("multiplicative", 2.0, 9)) > 0).all()
    for schedule in ("additive", "exponential"):
        assert (np.diff(budgets(schedule, 0.2, 9)) > 0).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
@settings(deadline=None)
@given(growth=st.floats(1.0, 1e4), count=st.integers(1, 500))
def test_shares_grow_and_their_squares_add_up_to_one(schedule, growth, count):
    shares = growing_shares(schedule, growth, count)
    assert (shares**2).sum() == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(shares) >= 0).all()
    if schedule == "multiplicative" and count > 1:
        assert shares[-1] / shares[0] == pytest.approx(growth)
