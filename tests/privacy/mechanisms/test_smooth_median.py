"""The median with smooth-sensitivity noise: every pair of small neighbours, exactly.

docs/proofs/smooth_median.md.
"""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from privcore.privacy.mechanisms.selection import SmoothMedian, smooth_bound
from tests.examples import examples


def neighbours(grid, m):
    """Every pair of sorted data sets of m values on the grid that differ in one value."""
    for rest in combinations_with_replacement(grid, m - 1):
        for one in grid:
            for other in grid:
                if one < other:
                    yield np.array([*rest, one]), np.array([*rest, other])


def needed_delta(epsilon, one, other, scales):
    """The least δ for which two Laplace outputs are (ε, δ)-close in both directions.

    The positive part of p − e^ε q, integrated piecewise between the kinks.
    """
    worst = 0.0
    for a, b, s, t in ((one, other, *scales), (other, one, *scales[::-1])):

        def excess(x, a=a, b=b, s=s, t=t):
            p = stats.laplace.pdf(x, a, s)
            return np.maximum(0.0, p - math.exp(epsilon) * stats.laplace.pdf(x, b, t))

        width = 40 * max(s, t)
        grid = np.unique(
            np.concatenate([np.linspace(min(a, b) - width, max(a, b) + width, 20_001), [a, b]])
        )
        worst = max(worst, float(integrate.trapezoid(excess(grid), grid)))
    return worst


def dilation_delta(epsilon, stretch):
    """sup over sets of P(Z ∈ E) − e^{ε/2} P(Z ∈ e^λ E), Z Laplace, λ = stretch > 0: closed form."""
    start = (epsilon / 2 + stretch) / math.expm1(stretch)
    return math.exp(-start) * -math.expm1(-stretch)


@pytest.mark.parametrize("beta", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("m", [1, 3, 5])
def test_the_bound_is_smooth_on_all_small_data(m, beta):
    """S(x) ≤ e^β S(y) for every pair of neighbours, and the factor is attained."""
    grid = np.linspace(0, 1, 5)
    ratios = []
    for one, other in neighbours(grid, m):
        s, t = smooth_bound(one, 0, 1, beta), smooth_bound(other, 0, 1, beta)
        ratios.append(max(s / t, t / s))
    assert max(ratios) <= math.exp(beta) * (1 + 1e-12)
    if m > 1:
        assert max(ratios) == pytest.approx(math.exp(beta))


@settings(max_examples=examples(300))
@given(
    rest=st.lists(st.floats(0, 1), min_size=0, max_size=14).filter(lambda v: len(v) % 2 == 0),
    one=st.floats(0, 1),
    other=st.floats(0, 1),
    beta=st.floats(0.01, 3),
)
def test_the_bound_covers_the_change_of_the_median(rest, one, other, beta):
    x, y = np.array([*rest, one]), np.array([*rest, other])
    s, t = smooth_bound(x, 0, 1, beta), smooth_bound(y, 0, 1, beta)
    assert abs(np.median(x) - np.median(y)) <= min(s, t) + 1e-12
    assert s <= math.exp(beta) * t + 1e-12


def test_values_outside_the_range_count_as_its_ends():
    assert smooth_bound(np.array([-3.0, 0.5, 9.0]), 0, 1, 0.2) == smooth_bound(
        np.array([0.0, 0.5, 1.0]), 0, 1, 0.2
    )


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-5])
def test_neighbours_stay_within_epsilon_and_delta(epsilon, delta):
    """The outputs on all pairs of three values in {0, ½, 1}, compared exactly."""
    mechanism = SmoothMedian.proven(epsilon, delta)
    seen = set()
    for one, other in neighbours(np.linspace(0, 1, 3), 3):
        scales = mechanism.scale(one, 0, 1), mechanism.scale(other, 0, 1)
        case = (float(np.median(one)), float(np.median(other)), *scales)
        if case not in seen:
            seen.add(case)
            assert needed_delta(epsilon, *case[:2], scales) <= delta * 1.01
    assert len(seen) > 5


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 5.0, 12.0, 20.0, 100.0, 1e6])
@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-6, 1e-12])
def test_the_dilation_needs_no_more_than_delta(epsilon, delta):
    """Condition (*) of the proof, at the calibration in use."""
    mechanism = SmoothMedian.proven(epsilon, delta)
    assert 0 < mechanism.beta <= epsilon / 2
    assert mechanism.alpha == epsilon / 2
    assert dilation_delta(epsilon, mechanism.beta) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("stretch", [0.05, 0.7, 3.0])
def test_the_closed_form_of_the_dilation_is_the_integral(stretch):
    epsilon = 1.0
    z = np.linspace(-60, 60, 1_200_001)
    density = np.exp(-np.abs(z)) / 2
    stretched = np.exp(stretch - math.exp(stretch) * np.abs(z)) / 2
    excess = np.maximum(0, density - math.exp(epsilon / 2) * stretched)
    assert integrate.trapezoid(excess, z) == pytest.approx(
        dilation_delta(epsilon, stretch), abs=1e-6
    )


def closed_form(epsilon, delta):
    """β = ε/(2 ln(2/δ)) of Nissim, Raskhodnikova & Smith, for ε below 1."""
    return epsilon / (2 * math.log(2 / delta))


@settings(max_examples=examples(200))
@given(epsilon=st.floats(1e-3, 1.0), delta=st.floats(1e-15, 0.7))
def test_the_closed_form_holds_up_to_one_and_is_never_larger(epsilon, delta):
    beta = closed_form(epsilon, delta)
    assert beta <= epsilon / 2
    assert dilation_delta(epsilon, beta) <= delta
    assert SmoothMedian.proven(epsilon, delta).beta >= beta * (1 - 1e-9)


@settings(max_examples=examples(200))
@given(epsilon=st.floats(1e-3, 1e4), delta=st.floats(1e-15, 0.7))
def test_a_closed_form_that_holds_at_every_epsilon(epsilon, delta):
    """β = ln(1 + ε/(2 ln(2/δ))) needs less than δ/2, and the calibration is never smaller."""
    beta = math.log1p(closed_form(epsilon, delta))
    assert dilation_delta(epsilon, beta) <= delta / 2
    assert SmoothMedian.proven(epsilon, delta).beta >= beta * (1 - 1e-9)


def test_the_closed_form_fails_at_a_large_epsilon():
    assert dilation_delta(12, closed_form(12, 1e-6)) == pytest.approx(1.234e-6, rel=1e-3)
    assert dilation_delta(20, closed_form(20, 1e-6)) > 1e-5


def test_the_printed_constants_fail():
    """Definition 10's β = ε ln(1/δ)/2: the dilation needs .851, not .001."""
    mechanism = SmoothMedian.published(1.0, 1e-3)
    assert mechanism.beta == pytest.approx(math.log(1e3) / 2)
    assert dilation_delta(1.0, mechanism.beta) == pytest.approx(0.851, abs=1e-3)
    # The same on a pair of data sets: both have the median 0, their noise differs by e^β.
    one, other = np.array([0.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    scales = mechanism.scale(one, 0, 1), mechanism.scale(other, 0, 1)
    assert needed_delta(1.0, 0.0, 0.0, scales) > 0.5
    proven = SmoothMedian.proven(1.0, 1e-3)
    scales = proven.scale(one, 0, 1), proven.scale(other, 0, 1)
    assert needed_delta(1.0, 0.0, 0.0, scales) <= 1e-3


def test_the_printed_exponent_fails():
    """e^{−kε} in place of e^{−kβ}: δ = .197 is needed at ε = 1, whatever the requested δ."""
    one, other = np.array([0.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    scales = tuple(smooth_bound(values, 0, 1, 1.0) / 0.5 for values in (one, other))
    assert scales[1] / scales[0] == pytest.approx(math.e)
    assert needed_delta(1.0, 0.0, 0.0, scales) == pytest.approx(0.197, abs=1e-3)
