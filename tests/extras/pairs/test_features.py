"""Explicit features of the Gaussian kernel: the certified error, and that it is not vacuous."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from privcore.errors import ParameterError
from privcore.extras.pairs.scores import LEAST_WIDTH, feature_count, gaussian_features
from tests.messages import raises_code

ROUNDING = 1e-13
WIDTHS = [LEAST_WIDTH, 0.05, 0.2, 1.0, 7.0, 1e6]


def kernel(a, b, width):
    return np.exp(-((a[:, None] - b) ** 2) / (2 * width**2))


def error(width, reach, tolerance):
    values = np.linspace(-reach, reach, 401)
    features = gaussian_features(values, width, reach, tolerance)
    return float(np.abs(features @ features.T - kernel(values, values, width)).max())


@pytest.mark.parametrize("tolerance", [1e-12, 1e-3, 0.5])
@pytest.mark.parametrize("reach", [1.0, 2.0])
@pytest.mark.parametrize("share", WIDTHS)
def test_the_error_is_at_most_the_tolerance_and_of_its_order(share, reach, tolerance):
    found = error(share * reach, reach, tolerance)
    assert tolerance / 10 < found <= tolerance + ROUNDING


@pytest.mark.parametrize("share", WIDTHS)
def test_at_the_finest_tolerance_only_rounding_is_left(share):
    assert error(share, 1.0, 1e-16) <= ROUNDING


@given(
    a=st.floats(-2, 2),
    b=st.floats(-2, 2),
    share=st.floats(LEAST_WIDTH, 100),
    tolerance=st.floats(1e-14, 0.9),
)
def test_any_two_values(a, b, share, tolerance):
    one, other = np.array([a]), np.array([b])
    features = [gaussian_features(v, 2 * share, 2.0, tolerance) for v in (one, other)]
    product = float((features[0] @ features[1].T)[0, 0])
    assert abs(product - kernel(one, other, 2 * share)[0, 0]) <= tolerance + ROUNDING


@pytest.mark.parametrize("share", WIDTHS)
def test_both_parts_of_the_certificate(share):
    """The number of features follows from the two bounds of the docstring."""
    tolerance, q = 1e-12, 1e-12 / (4 + 1e-12)
    assert 2 * q / (1 - q) == pytest.approx(tolerance / 2)
    period = 2 + share * math.sqrt(-2 * math.log(q))
    last = (feature_count(share, 1.0) - 1) // 2
    missing = [2 * ndtr(-share * 2 * math.pi / period * k) for k in (last, last - 1)]
    assert missing[0] <= tolerance / 2 < missing[1]


def test_the_count_is_that_of_the_features_and_grows_with_the_inverse_width():
    counts = [feature_count(width, 1.0) for width in (1.0, 0.2, 0.05, LEAST_WIDTH)]
    assert counts == [25, 43, 111, 249]
    for width, count in zip((1.0, LEAST_WIDTH), (25, 249), strict=True):
        assert gaussian_features(np.zeros(3), width, 1.0).shape == (3, count)
    assert gaussian_features(np.zeros(0), 1.0, 1.0).shape == (0, 25)
    assert feature_count(0.2, 2.0) == feature_count(0.1, 1.0)


def test_values_outside_the_reach_are_moved_to_the_bound():
    outside = gaussian_features(np.array([-9.0, 0.5, 3.0]), 0.3, 1.0)
    inside = gaussian_features(np.array([-1.0, 0.5, 1.0]), 0.3, 1.0)
    assert (outside == inside).all()


@pytest.mark.parametrize("width", [0.0, -1.0, LEAST_WIDTH * 0.99, math.inf, math.nan])
def test_widths_below_the_public_limit_are_refused(width):
    with raises_code(ParameterError, "kernel-width"):
        gaussian_features(np.zeros(2), width, 1.0)


@pytest.mark.parametrize("tolerance", [0.0, 1.0, math.nan])
def test_bad_tolerances_are_refused(tolerance):
    with pytest.raises(ParameterError, match="tolerance"):
        feature_count(1.0, 1.0, tolerance)
