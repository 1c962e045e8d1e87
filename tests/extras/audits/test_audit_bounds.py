"""The bounds that audits rest on, against exact computations and an independent library."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from privcore.errors import ParameterError
from privcore.extras.audits.statistics import (
    clopper_pearson_high,
    clopper_pearson_low,
    rough_epsilon,
)


@given(
    runs=st.integers(1, 50_000),
    share=st.floats(0, 1),
    alpha=st.sampled_from([0.05, 0.01, 1e-4, 1e-8]),
)
def test_the_bounds_are_those_of_scipy(runs, share, alpha):
    hits = round(share * runs)
    # Two-sided at 1 − 2α has α in either tail; SciPy searches for it to within about 1e-12.
    exact = binomtest(hits, runs).proportion_ci(1 - 2 * alpha, method="exact")
    assert clopper_pearson_low(hits, runs, alpha) == pytest.approx(exact.low, rel=1e-6, abs=1e-11)
    assert clopper_pearson_high(hits, runs, alpha) == pytest.approx(exact.high, rel=1e-6)


@pytest.mark.parametrize("probability", [0.001, 0.02, 0.37, 0.5, 0.9])
@pytest.mark.parametrize("runs", [10, 200])
def test_each_bound_is_wrong_with_probability_at_most_alpha(probability, runs):
    """Computed exactly, by adding up all counts."""
    alpha = 0.025
    counts = np.arange(runs + 1)
    mass = binom.pmf(counts, runs, probability)
    lows = np.array([clopper_pearson_low(int(k), runs, alpha) for k in counts])
    highs = np.array([clopper_pearson_high(int(k), runs, alpha) for k in counts])
    assert mass[lows > probability].sum() <= alpha + 1e-12
    assert mass[highs < probability].sum() <= alpha + 1e-12


def test_no_hits_and_only_hits():
    assert clopper_pearson_low(0, 10, 0.05) == 0
    assert clopper_pearson_high(10, 10, 0.05) == 1
    # (1 − p)^10 = 0.05 and p^10 = 0.05.
    assert clopper_pearson_high(0, 10, 0.05) == pytest.approx(1 - 0.05**0.1)
    assert clopper_pearson_low(10, 10, 0.05) == pytest.approx(0.05**0.1)


def test_the_rough_bound_ranks_as_the_exact_one():
    hits, others, alpha = np.array([500, 200, 40, 6]), np.array([180, 60, 9, 0]), 0.01
    exact = [
        math.log(clopper_pearson_low(k, 1000, alpha) / clopper_pearson_high(j, 1000, alpha))
        for k, j in zip(hits.tolist(), others.tolist(), strict=True)
    ]
    rough = rough_epsilon(hits, others, 1000, 0.0, alpha)
    assert list(np.argsort(rough)) == list(np.argsort(exact))
    assert rough[:2] == pytest.approx(exact[:2], abs=0.05)


@pytest.mark.parametrize(
    ("hits", "runs", "alpha"), [(3, 2, 0.1), (-1, 2, 0.1), (0, 0, 0.1), (1, 2, 1.0)]
)
def test_counts_and_levels_are_checked(hits, runs, alpha):
    with pytest.raises(ParameterError):
        clopper_pearson_low(hits, runs, alpha)
