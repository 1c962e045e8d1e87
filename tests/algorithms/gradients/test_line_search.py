"""The private line search, and the release of means and squares: sensitivity, exactness, choice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from privcore.algorithms.gradients.noisy_gradients import (
    best_trial,
    clipped_mean,
    clipped_slopes,
    slopes_sensitivity,
)
from privcore.algorithms.gradients.optimiser import Penalty, least_squares
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.moments import columns_sensitivity, release_columns
from tests.examples import examples
from tests.transcripts import Recorder

weights = hnp.arrays(float, (4, 4), elements=st.floats(-1.5, 1.5))
row = hnp.arrays(float, 4, elements=st.floats(-1e3, 1e3))
unit = hnp.arrays(float, 4, elements=st.floats(-1, 1))


@settings(deadline=None, max_examples=examples(200))
@given(
    weights,
    st.lists(weights, min_size=1, max_size=4),
    row,
    row,
    st.integers(1, 30),
    st.floats(0.01, 100),
    st.integers(0, 5),
)
def test_replacing_one_record_keeps_to_the_bound(w, trials, old, new, n, clip, seed):
    others = np.random.default_rng(seed).normal(size=(n - 1, 4))
    slopes = [
        clipped_slopes(np.vstack((others, one)), np.ones(n), w, trials, clip) for one in (old, new)
    ]
    bound = slopes_sensitivity(clip, len(trials), n)
    assert np.linalg.norm(slopes[0] - slopes[1]) <= bound * (1 + 1e-9) + 1e-12


def test_the_bound_is_attained():
    """W = 0 and all trials towards the same edge: rows along (1, 1) and (1, −1) are opposites."""
    zero, ones = np.zeros((2, 2)), np.ones(10)
    trials = [np.array([[0.0, size], [0.0, 0.0]]) for size in (0.1, 0.2, 0.3)]
    rows = np.zeros((10, 2))
    rows[0] = (5.0, 50.0)
    before = clipped_slopes(rows, ones, zero, trials, 2.0)
    rows[0] = (5.0, -50.0)
    change = np.linalg.norm(before - clipped_slopes(rows, ones, zero, trials, 2.0))
    assert change == pytest.approx(slopes_sensitivity(2.0, 3, 10), rel=1e-5)


def test_without_clipping_they_are_the_slopes_of_the_loss(monkeypatch):
    generator = np.random.default_rng(1)
    rows, times = generator.normal(size=(30, 4)), generator.integers(1, 5, 30).astype(float)
    w = generator.normal(size=(4, 4))
    trials = [w + generator.normal(size=(4, 4)) for _ in range(3)] + [w]
    widths, centre = np.array([0.5, 1.0, 2.0, 3.0]), np.array([0.1, -0.2, 0.0, 0.5])
    scaled = (rows - centre) * widths
    moments = (scaled * times[:, None]).T @ scaled / times.sum()
    here = least_squares(moments, w)[0]
    expected = [
        (least_squares(moments, t)[0] - here) / max(np.linalg.norm(t - w), 1e-9) for t in trials
    ]
    for block in (1 << 13, 7):
        monkeypatch.setattr("privcore.algorithms.gradients.noisy_gradients._BLOCK", block)
        found = clipped_slopes(rows, times, w, trials, 1e9, widths, centre)
        assert found == pytest.approx(expected, rel=1e-5)
        # The slope of a short step is that of the gradient, but for the second order.
        step = np.zeros((4, 4))
        step[1, 2] = 1e-2
        gradient = clipped_mean(rows, times, w, 1e3, widths, centre)
        slope = clipped_slopes(rows, times, w, [w + step], 1e9, widths, centre)
        second = 0.5 * step[1, 2] * moments[1, 1]
        assert slope[0] == pytest.approx(gradient[1, 2] + second, abs=2e-3)


def test_the_best_trial_has_the_least_loss_and_penalty():
    zero = np.zeros((2, 2))
    near, far = np.array([[0.0, 0.5], [0.0, 0.0]]), np.array([[0.0, 2.0], [0.0, 0.0]])
    trials, penalty = [near, far], Penalty(0.0, 0.0, 0.1)
    assert best_trial(zero, trials, np.array([-1.0, -0.2]), penalty) is near
    assert best_trial(zero, trials, np.array([-1.0, -0.4]), penalty) is far
    # The penalty alone would outweigh both gains.
    assert best_trial(zero, trials, np.array([-0.09, -0.05]), penalty) is zero


@settings(max_examples=examples(500), deadline=None)
@given(unit, unit)
def test_means_and_squares_move_no_more_than_means(old, new):
    change = np.linalg.norm(np.concatenate((old - new, old**2 - new**2)))
    assert change <= columns_sensitivity(4, 1) * (1 + 1e-9)


def test_that_bound_is_attained_at_opposite_corners():
    assert np.linalg.norm(np.ones(4) + np.ones(4)) == pytest.approx(columns_sensitivity(4, 1))


def test_means_and_variances_with_the_noise_of_their_sensitivity():
    rows = np.random.default_rng(1).uniform(-1, 1, (40, 3)) * (1.0, 0.5, 0.1)
    times = np.arange(1.0, 41.0)
    n = times.sum()
    noise = Recorder(1)
    columns = release_columns(rows, times, 0.7, noise)
    ((_, exact, sigma, _),) = noise.calls
    means = (rows * times[:, None]).sum(axis=0) / n
    squares = (rows**2 * times[:, None]).sum(axis=0) / n
    assert exact == pytest.approx(np.concatenate((means, squares)), abs=1e-6)
    assert sigma == columns.scale == pytest.approx(2 * np.sqrt(3) / n / 0.7)
    close = release_columns(rows, times, 1e9, SimulatedNoise(1))
    assert close.means == pytest.approx(means, abs=1e-6)
    assert close.variances == pytest.approx(squares - means**2, abs=1e-6)
    # However much noise there is, they stay what columns in −1 … 1 can have.
    for seed in range(20):
        wild = release_columns(rows, times, 1e-3, SimulatedNoise(seed))
        assert (np.abs(wild.means) <= 1).all()
        assert ((wild.variances > 0) & (wild.variances <= 1)).all()
