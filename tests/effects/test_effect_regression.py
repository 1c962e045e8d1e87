"""Coefficients from noisy second moments: least squares, its interval, and coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from privcore.algorithms.search.result import NoisyMoments
from privcore.effects import Estimate
from privcore.effects.adjusting import coefficient
from tests.examples import examples

Array = NDArray[np.float64]
SHARE = 0.5


def moments_of(
    rows: Array,
    sigma: float = 0.0,
    scale: Array | None = None,
    random: np.random.Generator | None = None,
) -> NoisyMoments:
    """Means, weighed by `SHARE`, and mean products, with independent noise on each."""
    n, p = rows.shape
    weighed = np.column_stack([np.full(n, SHARE), rows])
    products = weighed.T @ weighed / n
    if random is not None:
        noise = np.triu(random.normal(0, sigma, (p + 1, p + 1)))
        noise[0, 0] = 0.0
        products = products + noise + np.triu(noise, 1).T
    means = products[0, 1:] / SHARE
    covariance = products[1:, 1:] - np.outer(means, means)
    units = np.ones(p) if scale is None else scale
    return NoisyMoments(means, covariance, sigma, SHARE, units)


def linear_rows(random: np.random.Generator, n: int, effect: float = 0.7) -> Array:
    """z, w → x → y ← z, w, with means that are not 0, within about −1 … 1."""
    z, w = random.normal(0.2, 0.2, n), random.normal(-0.1, 0.2, n)
    x = 0.5 * z - 0.4 * w + random.normal(0.1, 0.2, n)
    y = effect * x + 0.6 * z + 0.3 * w + random.normal(0, 0.2, n)
    return np.column_stack([z, w, x, y])


Z, W, X, Y = range(4)


def least_squares(rows: Array, others: tuple[int, ...]) -> tuple[float, float]:
    """The coefficient of X and half of its 95 % interval, by numpy."""
    design = np.column_stack([np.ones(len(rows)), rows[:, X], rows[:, list(others)]])
    slopes, left, *_ = np.linalg.lstsq(design, rows[:, Y])
    freedom = len(rows) - design.shape[1]
    variance = float(left[0]) / freedom * np.linalg.inv(design.T @ design)[1, 1]
    return float(slopes[1]), float(stats.t.ppf(0.975, freedom) * math.sqrt(variance))


@settings(max_examples=examples(50), deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(), (Z,), (W,), (Z, W), (W, Z)]),
    st.sampled_from([500, 20_000]),
)
def test_without_noise_it_is_least_squares(seed: int, others: tuple[int, ...], n: int) -> None:
    """With the interval of the t distribution, within two per cent."""
    rows = linear_rows(np.random.default_rng(seed), n)
    slope, half = least_squares(rows, others)
    effect = coefficient(moments_of(rows), n, X, Y, others)
    assert effect.value == pytest.approx(slope, abs=1e-9)
    assert effect.high - effect.low == pytest.approx(2 * half, rel=0.02)
    assert (effect.high + effect.low) / 2 == pytest.approx(slope, abs=0.02 * half)


def test_it_is_in_the_units_of_the_data() -> None:
    """Units of the outcome, for one of the cause."""
    rows, scale = linear_rows(np.random.default_rng(1), 1_000), np.array([1.0, 1.0, 5.0, 20.0])
    plain = coefficient(moments_of(rows), 1_000, X, Y, (Z, W))
    units = coefficient(moments_of(rows, scale=scale), 1_000, X, Y, (Z, W))
    assert np.array(units) == pytest.approx(4 * np.array(plain))


def test_a_column_turned_round_turns_the_sign() -> None:
    rows = linear_rows(np.random.default_rng(1), 1_000)
    plain = coefficient(moments_of(rows, 0.01), 1_000, X, Y, (Z, W))
    turned = coefficient(moments_of(rows * [1, 1, -1, 1], 0.01), 1_000, X, Y, (Z, W))
    assert np.array(turned) == pytest.approx([-plain.value, -plain.high, -plain.low])


def test_adjusted_for_what_comes_before_both_it_is_the_effect() -> None:
    rows = linear_rows(np.random.default_rng(6), 200_000)
    adjusted = coefficient(moments_of(rows), 200_000, X, Y, (Z, W))
    plain = coefficient(moments_of(rows), 200_000, X, Y, ())
    assert adjusted.low < 0.7 < adjusted.high
    assert not plain.low < 0.7 < plain.high


def test_more_noise_makes_wider_intervals_until_there_is_no_bound() -> None:
    rows = linear_rows(np.random.default_rng(2), 5_000)
    widths = []
    for sigma in (0.0, 0.001, 0.003, 0.006, 0.1):
        effect = coefficient(moments_of(rows, sigma), 5_000, X, Y, (Z, W))
        widths.append(effect.high - effect.low)
    assert widths == sorted(widths)
    assert len(set(widths)) == 5
    assert math.isfinite(widths[3])
    effect = coefficient(moments_of(rows, 0.1), 5_000, X, Y, (Z, W))
    assert (effect.low, effect.high) == (-math.inf, math.inf)
    assert math.isfinite(effect.value)


def slope_of(products: Array, others: list[int]) -> float:
    """From mean products of (`SHARE`, rows), as they are released."""
    means = products[0, 1:] / SHARE
    covariance = products[1:, 1:] - np.outer(means, means)
    among = [X, *others]
    return float(np.linalg.solve(covariance[np.ix_(among, among)], covariance[among, Y])[0])


@pytest.mark.parametrize("others", [(), (Z,), (Z, W)])
def test_little_noise_moves_it_as_far_as_its_slopes_say(others: tuple[int, ...]) -> None:
    """The interval without sampling is that of the delta method, slopes by differences.

    With means far from 0, whose noise counts most, and a coefficient far from 0.
    """
    rows = linear_rows(np.random.default_rng(3), 2_000, effect=3.0)
    rows = rows + np.array([0.8, -0.6, 0.7, 1.5])
    weighed = np.column_stack([np.full(2_000, SHARE), rows])
    products, step = weighed.T @ weighed / 2_000, 1e-6
    slopes = []
    for i in range(5):
        for j in range(max(i, 1), 5):
            moved = np.zeros((5, 5))
            moved[i, j] = moved[j, i] = step
            ahead, back = (slope_of(products + side * moved, list(others)) for side in (1, -1))
            slopes.append((ahead - back) / (2 * step))
    sigma = 1e-5
    effect = coefficient(moments_of(rows, sigma), 10**12, X, Y, others)
    expected = 2 * 1.96 * sigma * float(np.linalg.norm(slopes))
    assert effect.high - effect.low == pytest.approx(expected, rel=0.01)


def test_there_is_none_where_noise_leaves_the_cause_no_variance() -> None:
    means, covariance = np.zeros(2), np.array([[-0.001, 0.0], [0.0, 0.1]])
    moments = NoisyMoments(means, covariance, 0.01, SHARE, np.ones(2))
    assert coefficient(moments, 1_000, 0, 1, ()) is None


def test_intervals_are_for_a_level() -> None:
    rows = linear_rows(np.random.default_rng(2), 5_000)
    half = {}
    for level in (0.5, 0.95, 0.99):
        effect = coefficient(moments_of(rows), 5_000, X, Y, (Z, W), level)
        half[level] = (effect.high - effect.low) / 2
    for level in (0.5, 0.99):
        ratio = stats.norm.ppf((1 + level) / 2) / stats.norm.ppf(0.975)
        assert half[level] == pytest.approx(ratio * half[0.95], rel=0.01)


def noisy_effect(seed: int, sigma: float, effect: float) -> Estimate:
    random = np.random.default_rng([11, seed])
    n = int(random.choice([300, 3_000]))
    rows = linear_rows(random, n, effect)
    estimate = coefficient(moments_of(rows, sigma, random=random), n, X, Y, (Z, W))
    return Estimate(0.0, -math.inf, math.inf) if estimate is None else estimate


@pytest.mark.long
@pytest.mark.parametrize("sigma", [0.0003, 0.001, 0.003])
@pytest.mark.parametrize("effect", [0.0, 0.7])
def test_intervals_hold_the_truth_as_often_as_they_say(sigma: float, effect: float) -> None:
    """300 tables each; false-alarm rate 1e-6 on either side if the coverage is 93 to 97 %.

    Residual variances are 0.04, so that the largest noise is a thirteenth of what it hides.
    """
    runs = 300
    tried = [noisy_effect(seed, sigma, effect) for seed in range(runs)]
    hits = sum(one.low <= effect <= one.high for one in tried)
    assert stats.binom.cdf(hits, runs, 0.93) > 1e-6, f"{hits} of {runs} hold the truth"
    assert stats.binom.sf(hits - 1, runs, 0.97) > 1e-6, f"{hits} of {runs}: too wide"


def test_where_noise_hides_the_cause_the_truth_is_not_excluded() -> None:
    """Noise as large as the residual variance: at least 93 %, mostly without bounds."""
    runs = 300
    tried = [noisy_effect(seed, 0.04, 0.7) for seed in range(runs)]
    hits = sum(one.low <= 0.7 <= one.high for one in tried)
    assert stats.binom.cdf(hits, runs, 0.93) > 1e-6, f"{hits} of {runs} hold the truth"
    assert sum(not math.isfinite(one.high) for one in tried) > runs / 2
