"""The filter never overspends, whatever is asked of it, and refuses without side effects."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.errors import BudgetError
from privcore.privacy.accounting import PrivacyFilter
from privcore.privacy.accounting.guarantee import posterior_bound
from tests.messages import says


@given(
    unit=st.sampled_from(["epsilon", "rho"]),
    total=st.floats(1e-6, 100),
    asked=st.lists(st.floats(1e-9, 10), max_size=200),
)
def test_never_exceeds_the_total(unit, total, asked):
    ledger = PrivacyFilter(unit, total)
    granted = Fraction(0)
    for epsilon in asked:
        before = ledger.used
        exact = Fraction(epsilon) if unit == "epsilon" else Fraction(epsilon) ** 2 / 2
        # Rounded up, to the next double at most.
        cost = Fraction(ledger.cost(epsilon))
        assert exact <= cost <= exact * (1 + Fraction(1, 2**52))
        try:
            assert ledger.charge(epsilon) == float(cost)
            granted += cost
        except BudgetError:
            assert ledger.used == before
            assert granted + cost > Fraction(total)
    assert granted <= Fraction(total)


@given(asked=st.lists(st.floats(min_value=0, exclude_min=True, max_value=1e300), max_size=20))
def test_the_sum_is_exact_at_every_scale(asked):
    """From the smallest double on; what is shown is the exact sum, rounded once."""
    ledger = PrivacyFilter("epsilon", 1e302)
    for epsilon in asked:
        ledger.charge(epsilon)
    exact = sum(map(Fraction, asked), Fraction(0))
    assert ledger.used == float(exact)
    assert ledger.left == float(Fraction(1e302) - exact) * (1 - 1e-12)


def test_many_tiny_charges_do_not_slip_past_by_rounding():
    """In floating point 1 + 2^-54 == 1, so a float sum would grant these for ever."""
    ledger = PrivacyFilter("epsilon", 1.0)
    ledger.charge(1.0)
    with pytest.raises(BudgetError):
        ledger.charge(2.0**-54)


def test_exactly_the_total_is_granted():
    ledger = PrivacyFilter("epsilon", 1.0)
    for _ in range(4):
        ledger.charge(0.25)
    assert ledger.used == 1.0
    with pytest.raises(BudgetError):
        ledger.charge(1e-300)


def test_a_charge_must_be_positive():
    with pytest.raises(ValueError, match=says("charge-not-positive")):
        PrivacyFilter("epsilon", 1.0).charge(0.0)


def test_a_charge_that_would_underflow_counts_as_the_smallest_number():
    ledger = PrivacyFilter("rho", 1.0)
    assert ledger.charge(1e-170) == 5e-324
    assert ledger.used == 5e-324


@pytest.mark.parametrize("total", [0.0, -1.0, math.nan])
def test_no_filter_without_a_budget(total):
    with pytest.raises(BudgetError):
        PrivacyFilter("epsilon", total)


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(0.1, 0.52), (0.5, 0.62), (1, 0.73), (2, 0.88), (3, 0.95), (5, 0.993)]
)
def test_posterior_bound(epsilon, expected):
    assert posterior_bound(epsilon) == pytest.approx(expected, abs=0.006)
