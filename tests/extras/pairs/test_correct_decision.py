"""Probabilities of a correct decision against integrals and draws."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from privcore.extras.pairs.evaluation import (
    four_laplace_probability,
    laplace_interval,
    laplace_probability,
)

FORMS = {2: laplace_probability, 4: four_laplace_probability}
GAPS = [-3.0, -0.4, 0.0, 0.01, 0.5, 1.0, 2.5, 6.0, 20.0]


def by_inversion(gap, scale, draws):
    """P(sum of `draws` Laplace variables < gap), from their characteristic function."""

    def integrand(t):
        return gap / math.pi * np.sinc(t * gap / math.pi) / (1 + (scale * t) ** 2) ** draws

    edges = np.linspace(0, 200 / scale, 401)
    pieces = [integrate.quad(integrand, a, b)[0] for a, b in pairwise(edges)]
    return 0.5 + sum(pieces)


@pytest.mark.parametrize("scale", [0.3, 1.0])
@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("draws", FORMS)
def test_closed_forms_are_the_integrals(draws, gap, scale):
    assert FORMS[draws](gap, scale) == pytest.approx(by_inversion(gap, scale, draws), abs=1e-6)


def test_theorem_2_is_the_convolution_of_two_laplace_laws():
    """The same by another route: ∫ f(x) F(x + gap) dx."""
    for gap in GAPS:
        x = np.linspace(-60, 60, 1_200_001)
        product = stats.laplace.pdf(x) * stats.laplace.cdf(x + gap)
        expected = integrate.trapezoid(product, x)
        assert laplace_probability(gap, 1.0) == pytest.approx(expected, abs=1e-6)


def test_what_is_printed_in_theorem_4_is_wrong():
    """With the printed exponential, and with the printed γ."""
    scale, gap = 2.0, 1.0
    exact = by_inversion(gap, scale, 4)
    polynomial = 48 * scale**3 + 33 * scale**2 * gap + 9 * scale * gap**2 + gap**3
    correct = 1 - polynomial * math.exp(-gap / scale) / (96 * scale**3)
    printed = 1 - polynomial * math.exp(-scale / scale**3) / (96 * scale**3)
    assert correct == pytest.approx(exact, abs=1e-6)
    assert abs(printed - exact) > 0.1
    # Q_x, Q_y, Q_rX, Q_rY with x → y the right order: printed, the gap ends with + Q_rY.
    q_x, q_y, r_x, r_y = 0.3, 0.4, -0.2, -1.1
    assert q_x + r_y < q_y + r_x
    right, misprint = q_y + r_x - q_x - r_y, q_y + r_x - q_x + r_y
    assert four_laplace_probability(right, 1.0) > 0.5 > four_laplace_probability(misprint, 1.0)


@given(gap=st.floats(-50, 50), scale=st.floats(1e-3, 1e3))
def test_the_two_orders_add_up_to_one(gap, scale):
    for form in FORMS.values():
        assert 0 <= form(gap, scale) <= 1
        assert form(gap, scale) + form(-gap, scale) == pytest.approx(1, abs=1e-12)
        assert form(gap, scale) <= form(gap + 0.1, scale) + 1e-12
        assert form(3 * gap, 3 * scale) == pytest.approx(form(gap, scale), abs=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", FORMS.values())
def test_extreme_ratios(form):
    assert form(1e4, 1.0) == 1
    assert form(-1e4, 1.0) == 0
    assert 0 < form(-700.0, 1.0) < 1e-290
    for scale in (0.0, 5e-324, 1e-300):
        assert form(1.0, scale) == 1
        assert form(-1.0, scale) == 0
        assert form(0.0, scale) == 0.5
    assert form(1.0, 1e300) == pytest.approx(0.5)
    assert form(1e300, 1e300) == pytest.approx(form(1.0, 1.0))
    assert form(5e-324, 5e-324) == pytest.approx(form(1.0, 1.0))


@pytest.mark.parametrize("form", FORMS.values())
def test_arrays_and_numbers_agree(form):
    gaps, scales = np.array([-1.0, 0.0, 2.0]), np.array([0.5, 1.0, 3.0])
    both = form(gaps, scales)
    for found, gap, scale in zip(both, gaps, scales, strict=True):
        assert found == form(float(gap), float(scale))
    assert isinstance(form(1.0, 2.0), float)
    assert (form(gaps, 1.0) == form(gaps, np.ones(3))).all()
    assert (form(1.0, scales) == form(np.ones(3), scales)).all()
    assert form(gaps[:, None], scales).shape == (3, 3)


@pytest.mark.parametrize("level", [0.0, 0.5, 0.95, 0.999999])
def test_the_interval_holds_the_value_as_often_as_it_says(level):
    low, high = laplace_interval(2.0, 0.7, level)
    covered = stats.laplace.cdf(high, 2.0, 0.7) - stats.laplace.cdf(low, 2.0, 0.7)
    assert covered == pytest.approx(level, abs=1e-12)
    assert laplace_interval(2.0, 0.0, level) == (2.0, 2.0)
