"""The loss, the constraint and the gradients: against finite differences and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import approx_fprime

from privcore.algorithms.gradients.noisy_gradients import (
    clipped_mean,
    clipped_sensitivity,
    off_diagonal,
    published_gradient,
    published_sensitivity,
    release_gradient,
)
from privcore.algorithms.gradients.optimiser import acyclicity, least_squares, linearised
from privcore.errors import DataError
from tests.examples import examples
from tests.messages import raises_code

weights = hnp.arrays(float, (4, 4), elements=st.floats(-1.5, 1.5))
row = hnp.arrays(float, 4, elements=st.floats(-1e3, 1e3))


def differences(function, at):
    return approx_fprime(at.ravel(), lambda flat: function(flat.reshape(at.shape)), 1e-6).reshape(
        at.shape
    )


def moments_of(seed, nodes=4):
    x = np.random.default_rng(seed).normal(size=(50, nodes))
    return x.T @ x / 50


@settings(deadline=None)
@given(weights, st.integers(0, 10))
def test_gradients_are_those_of_finite_differences(w, seed):
    moments = moments_of(seed)
    value, gradient = acyclicity(w)
    assert differences(lambda v: acyclicity(v)[0], w) == pytest.approx(
        gradient, rel=1e-3, abs=1e-3 * (1 + value)
    )
    assert differences(lambda v: least_squares(moments, v)[0], w) == pytest.approx(
        least_squares(moments, w)[1], abs=1e-4
    )
    slope = np.ones((4, 4))
    assert differences(lambda v: linearised(slope, w / 2, 0.3, v)[0], w) == pytest.approx(
        linearised(slope, w / 2, 0.3, w)[1], abs=1e-4
    )


@settings(deadline=None)
@given(weights, st.integers(0, 10))
def test_the_loss_is_the_mean_over_the_rows(w, seed):
    x = np.random.default_rng(seed).normal(size=(20, 4))
    expected = 0.5 * ((x - x @ w) ** 2).sum() / 20
    assert least_squares(x.T @ x / 20, w)[0] == pytest.approx(expected)


@settings(deadline=None)
@given(weights, st.permutations(range(4)))
def test_h_is_zero_for_acyclic_graphs_and_only_for_them(w, order):
    acyclic = np.triu(w, 1)
    assert acyclicity(acyclic)[0] == pytest.approx(0.0, abs=1e-12)
    assert acyclicity(np.zeros((4, 4)))[0] == 0.0
    permuted = acyclic[np.ix_(order, order)]
    assert acyclicity(permuted)[0] == pytest.approx(0.0, abs=1e-12)
    i, j = order[0], order[1]
    cyclic = permuted.copy()
    cyclic[i, j] = cyclic[j, i] = 0.5
    # The closed walk i → j → i alone adds 2 · (¼)²/2.
    assert acyclicity(cyclic)[0] >= 0.0625 - 1e-12


def test_an_overflow_is_told_in_one_sentence():
    with raises_code(DataError, "weights-overflow"):
        acyclicity(np.full((3, 3), 1e3))


def by_loop(rows, multiplicities, w, clip):
    total = np.zeros(w.shape)
    for x, times in zip(rows, multiplicities, strict=True):
        gradient = -np.outer(x, x - w.T @ x)
        np.fill_diagonal(gradient, 0.0)
        norm = np.linalg.norm(gradient)
        total += times * gradient * min(1.0, clip / norm if norm else 1.0)
    return total / multiplicities.sum()


def test_clipped_means_agree_with_a_loop_over_records(monkeypatch):
    generator = np.random.default_rng(1)
    rows, times = generator.normal(size=(30, 4)), generator.integers(1, 5, 30).astype(float)
    w = generator.normal(size=(4, 4))
    for block in (1 << 15, 7):
        monkeypatch.setattr("privcore.algorithms.gradients.noisy_gradients._BLOCK", block)
        for clip in (0.3, 3.0, 100.0):
            near = {"rel": 1e-5, "abs": 2e-6 * clip}  # The grid's step.
            found = clipped_mean(rows, times, w, clip)
            assert found == pytest.approx(by_loop(rows, times, w, clip), **near)
            widths = np.array([0.5, 1.0, 2.0, 3.0])
            stretched = clipped_mean(rows, times, w, clip, widths)
            assert stretched == pytest.approx(by_loop(rows * widths, times, w, clip), **near)
    # Without clipping it is the gradient of the loss, off the diagonal.
    moments = (rows * times[:, None]).T @ rows / times.sum()
    off = off_diagonal(4)
    assert clipped_mean(rows, times, w, 1e3)[off] == pytest.approx(
        least_squares(moments, w)[1][off], abs=1e-3
    )


@settings(deadline=None, max_examples=examples(200))
@given(weights, row, row, st.integers(1, 30), st.floats(0.01, 100), st.integers(0, 5))
def test_replacing_one_record_moves_the_clipped_mean_by_2c_over_n(w, old, new, n, clip, seed):
    others = np.random.default_rng(seed).normal(size=(n - 1, 4))
    ones = np.ones(n)
    before = clipped_mean(np.vstack((others, old)), ones, w, clip)
    after = clipped_mean(np.vstack((others, new)), ones, w, clip)
    assert np.linalg.norm(before - after) <= clipped_sensitivity(clip, n) * (1 + 1e-9) + 1e-12


def test_the_sensitivity_is_attained():
    """W = 0, d = 2: rows along (1, 1) and (1, −1) have opposite gradients."""
    ones, w = np.ones(10), np.zeros((2, 2))
    rows = np.zeros((10, 2))
    rows[0] = (5.0, 5.0)
    before = clipped_mean(rows, ones, w, 2.0)
    rows[0] = (5.0, -5.0)
    change = np.linalg.norm(before - clipped_mean(rows, ones, w, 2.0))
    assert change == pytest.approx(clipped_sensitivity(2.0, 10), rel=1e-5)


def test_the_published_sensitivity_fails():
    """n = 1000, d = 4, s = 2: one record moves the mean by 11.31 where .01386 is claimed."""
    n, w = 1000, np.zeros((4, 4))
    rows = np.random.default_rng(1).normal(size=(n, 4)) * 1e-3
    changes = []
    for final in ((1.0, 1.0, 1.0, 1.0), (1.0, -1.0, 1.0, -1.0)):
        rows[0] = 1e3 * np.array(final)
        changes.append(rows.T @ rows / n)
    claimed = published_sensitivity(4, 2.0, n)
    change = np.linalg.norm(
        published_gradient(changes[0], w, 2.0) - published_gradient(changes[1], w, 2.0)
    )
    assert claimed == pytest.approx(0.013856, abs=1e-6)
    assert change == pytest.approx(11.3137, abs=1e-3)
    ones = np.ones(n)
    rows[0] = 1e3
    before = clipped_mean(rows, ones, w, 2.0)
    rows[0] = 1e3 * np.array((1.0, -1.0, 1.0, -1.0))
    assert np.linalg.norm(before - clipped_mean(rows, ones, w, 2.0)) <= clipped_sensitivity(2.0, n)


def test_noisy_entries_go_back_to_their_places():
    gradient = np.arange(9.0).reshape(3, 3)
    off = off_diagonal(3)
    assert np.array_equal(release_gradient(gradient, gradient[off]), gradient * off)
