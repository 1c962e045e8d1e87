"""What one replaced row can do to second moments: bounds, the rows that attain them, and a claim.

docs/proofs/second_moments.md.
"""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from privcore.counts import NumericRows
from privcore.privacy.mechanisms.moments import (
    l1_sensitivity,
    l2_sensitivity,
    upper_triangle,
)
from tests.examples import examples

ROUNDING = 1e-9


def released(row, centred):
    """The numbers that one row adds, times n: written out, not by the code under test."""
    p = len(row)
    products = [row[i] * row[j] for i in range(p) for j in range(i, p)]
    return np.array([*row, *products] if centred else products)


def clipped(row, radius):
    norm = np.linalg.norm(row)
    return row if norm <= radius else row * (radius / norm)


rows_in_the_box = st.integers(1, 6).flatmap(
    lambda p: st.tuples(
        *[arrays(np.float64, p, elements=st.floats(-1, 1, allow_subnormal=False))] * 2
    )
)


@settings(max_examples=examples(300))
@given(rows=rows_in_the_box, n=st.integers(1, 10_000), centred=st.booleans())
def test_replacing_one_row_keeps_to_the_bounds(rows, n, centred):
    one, other = rows
    change = (released(one, centred) - released(other, centred)) / n
    p = len(one)
    assert np.abs(change).sum() <= l1_sensitivity(p, n, centred=centred) + ROUNDING
    assert np.linalg.norm(change) <= l2_sensitivity(p, n, centred=centred) + ROUNDING


@settings(max_examples=examples(300))
@given(rows=rows_in_the_box, radius=st.floats(0.05, 2.0), centred=st.booleans())
def test_rows_of_bounded_norm_keep_to_theirs(rows, radius, centred):
    one, other = (clipped(row, radius) for row in rows)
    change = np.linalg.norm(released(one, centred) - released(other, centred))
    bound = l2_sensitivity(len(one), 1, centred=centred, radius=radius)
    assert change <= bound + ROUNDING
    assert bound <= l2_sensitivity(len(one), 1, centred=centred)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("centred", [True, False])
def test_all_rows_on_a_grid(p, centred):
    """Every pair of rows with entries in five (p = 3: three) places of [−1, 1]."""
    steps = np.linspace(-1, 1, 5 if p < 3 else 3)
    values = np.array([released(row, centred) for row in product(steps, repeat=p)])
    change = values[:, None] - values[None]
    assert np.abs(change).sum(axis=2).max() <= l1_sensitivity(p, 1, centred=centred) + ROUNDING
    assert np.linalg.norm(change, axis=2).max() <= l2_sensitivity(p, 1, centred=centred) + ROUNDING


@pytest.mark.parametrize("p", range(1, 8))
def test_the_l1_bounds_are_attained(p):
    ones = np.ones(p)
    change = released(ones, True) - released(-ones / (p + 1), True)
    assert np.abs(change).sum() == pytest.approx(l1_sensitivity(p, 1, centred=True))
    change = released(ones, False) - released(0 * ones, False)
    assert np.abs(change).sum() == pytest.approx(l1_sensitivity(p, 1, centred=False))


@pytest.mark.parametrize("p", range(1, 8))
def test_the_l2_bounds_are_attained(p):
    """Sign vectors with product −1 (with means, p odd) and 0 (without, p even)."""
    ones, signs = np.ones(p), np.where(np.arange(p) < (p + 1) // 2, -1.0, 1.0)
    centred = p % 2 == 1
    change = np.linalg.norm(released(ones, centred) - released(signs, centred))
    assert change == pytest.approx(l2_sensitivity(p, 1, centred=centred))


@pytest.mark.parametrize("radius", [0.3, 0.6, 0.8, 1.0])
@pytest.mark.parametrize("centred", [True, False])
def test_no_search_beats_the_bound_for_rows_and_it_is_nearly_attained(radius, centred):
    generator = np.random.default_rng(5)

    def change(rows):
        one, other = (clipped(row, radius) for row in np.split(rows, 2))
        return -np.linalg.norm(released(one, centred) - released(other, centred))

    found = min(
        minimize(change, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10}).fun
        for start in generator.uniform(-1, 1, (12, 4))
    )
    bound = l2_sensitivity(2, 1, centred=centred, radius=radius)
    exact = math.sqrt(2) * radius**2
    if centred:
        exact = math.sqrt(2 * radius**4 + 2 * radius**2 + 0.5) if radius**2 > 0.5 else 2 * radius
    assert -found == pytest.approx(exact, rel=1e-4)
    assert exact <= bound + ROUNDING


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("radius", [None, 0.9])
def test_the_released_numbers_are_those_counted(centred, radius):
    """Moments at the released positions are the means of what is bounded above, each once."""
    rows = np.random.default_rng(2).uniform(-1, 1, (50, 4))
    source = NumericRows(("a", "b", "c", "d"), ((-1.0, 1.0),) * 4, rows)
    numbers = source.moments(radius)[upper_triangle(4, centred=centred)]
    used = rows if radius is None else [clipped(row, radius) for row in rows]
    expected = np.mean([released(row, centred) for row in used], axis=0)
    assert np.sort(numbers) == pytest.approx(np.sort(expected), abs=1e-6)


def test_one_row_moves_the_moments_by_no_more_than_the_sensitivity():
    """End to end: two sources that differ in one row, the worst one."""
    rows = np.random.default_rng(3).uniform(-1, 1, (40, 3))
    for centred, other in ((True, -np.ones(3) / 4), (False, np.zeros(3))):
        before, after = rows.copy(), rows.copy()
        before[7], after[7] = np.ones(3), other
        kept = upper_triangle(3, centred=centred)
        names, bounds = ("a", "b", "c"), ((-1.0, 1.0),) * 3
        moved = np.abs(
            NumericRows(names, bounds, before).moments()[kept]
            - NumericRows(names, bounds, after).moments()[kept]
        ).sum()
        assert moved == pytest.approx(l1_sensitivity(3, 40, centred=centred))


def published(p, n):
    """Xu, Yuan & Wu 2017, Theorem 2."""
    return p * (p + 1) / (2 * (n - 1))


def test_the_published_constant_fails():
    """Four times too small for covariances in a box, and without bounds there is no constant."""
    p, n = 3, 100
    low = -np.ones((n, p))
    high = low.copy()
    high[0] = 1
    upper = np.triu_indices(p)
    change = np.abs(np.cov(high.T)[upper] - np.cov(low.T)[upper]).sum()
    assert change == pytest.approx(2 * p * (p + 1) / n)
    assert change > 3.9 * published(p, n)
    # The same rows, moments of (1, x) and centring afterwards: within the bound.
    moved = (released(high[0], True) - released(low[0], True)) / n
    assert np.abs(moved).sum() <= l1_sensitivity(p, n, centred=True)
    unbounded = np.abs(released(np.array([50.0, 50.0]), False)).sum() / n
    assert unbounded == pytest.approx(75)
    assert unbounded > 2_000 * published(2, n)
