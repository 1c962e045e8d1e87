"""Kernel ridge regression in features, and how far one record moves it (kernel_ridge.md)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.errors import ParameterError
from privcore.extras.pairs import ridge
from tests.examples import examples
from tests.messages import raises_code, says

number = st.one_of(st.floats(-1, 1), st.sampled_from([-1.0, -0.3, 0.0, 0.3, 1.0]))
record = st.tuples(number, number)
PENALTIES = [1e-3, 1e-2, 0.1, 1.0]
GRID = np.linspace(-1, 1, 81)


def kernel(a, b, width):
    return np.exp(-((a[:, None] - b) ** 2) / (2 * width * width))


def dense(x, y, width, penalty, at):
    """Equation (5) solved with the kernel matrix, not clipped."""
    inner = kernel(x, x, width) + np.eye(x.size) * x.size * penalty / 2
    return kernel(at, x, width) @ np.linalg.solve(inner, y)


@pytest.mark.parametrize("width", [0.05, 0.25, 2.0])
@pytest.mark.parametrize("penalty", [1e-6, 1e-3, 1.0])
def test_it_is_the_dense_solution(width, penalty):
    generator = np.random.default_rng(1)
    x, y = generator.uniform(-1, 1, (2, 300))
    expected = np.clip(dense(x, y, width, penalty, GRID), -1, 1)
    assert np.allclose(ridge.fit(x, y, width, penalty).predict(GRID), expected, atol=1e-6)


def test_it_minimises_the_objective():
    generator = np.random.default_rng(2)
    x, y = generator.uniform(-1, 1, (2, 40))
    fit = ridge.fit(x, y, 0.3, 0.02)
    features = ridge.gaussian_features(x, 0.3, 1.0)

    def objective(weights):
        return 0.01 * weights @ weights + np.mean((features @ weights - y) ** 2)

    best = objective(fit.weights)
    for _ in range(50):
        step = generator.standard_normal(fit.weights.size) * 1e-3
        assert objective(fit.weights + step) > best


def test_blocks_change_nothing(monkeypatch):
    x, y = np.random.default_rng(3).uniform(-1, 1, (2, 100))
    whole = ridge.fit(x, y, 0.3, 0.01)
    monkeypatch.setattr(ridge, "_BLOCK", 7)
    parts = ridge.fit(x, y, 0.3, 0.01)
    assert np.allclose(whole.weights, parts.weights, atol=1e-9)
    assert np.allclose(whole.predict(GRID), parts.predict(GRID))
    assert whole.predict(np.zeros(0)).shape == (0,)


def test_predictions_are_clipped():
    x = np.linspace(-1, 1, 50)
    steep = ridge.fit(x, np.sign(x), 0.1, 1e-6).predict(GRID)
    assert steep.min() == -1.0
    assert steep.max() == 1.0


def shift_of(records, other, penalty, width):
    """How far replacing the first record moves the regression."""
    before, after = (
        ridge.fit(*np.array([first, *records[1:]]).T, width, penalty).predict(GRID)
        for first in (records[0], other)
    )
    return np.abs(before - after).max()


@settings(max_examples=examples(300))
@given(
    records=st.lists(record, min_size=1, max_size=12),
    other=record,
    penalty=st.sampled_from(PENALTIES),
    width=st.sampled_from([0.05, 0.3, 2.0]),
)
def test_one_record_moves_residuals_by_at_most_the_shift(records, other, penalty, width):
    for calibration in ("proven", "published"):
        bound = ridge.residual_shift(len(records), penalty, calibration)
        assert shift_of(records, other, penalty, width) <= bound + 1e-9


def test_the_shift_comes_to_a_third_of_its_bound():
    """Equal records, one of which turns to the opposite: no looser than this."""
    worst = 0.0
    for n in range(1, 60):
        for penalty in (0.03, 0.1, 0.3, 1.0):
            records = [(0.0, 1.0), *[(0.0, 1.0)] * (n - 1)]
            shift = shift_of(records, (0.0, -1.0), penalty, 0.3)
            worst = max(worst, shift / ridge.residual_shift(n, penalty, "proven"))
    assert 0.3 < worst <= 1


@pytest.mark.parametrize("n", [10, 1_000, 10**6])
def test_the_constants(n):
    assert ridge.residual_shift(10**6, 0.02, "proven") == pytest.approx(4 * 6 / 2e4)
    assert ridge.residual_shift(n, 0.25, "published") == pytest.approx(64 / n)
    for penalty in (*PENALTIES, 1e-6):
        proven = ridge.residual_shift(n, penalty, "proven")
        assert proven <= min(2.0, ridge.residual_shift(n, penalty, "published"))


@pytest.mark.parametrize("penalty", [0.0, -1.0, np.nan, np.inf])
def test_a_penalty_must_be_a_number_above_zero(penalty):
    for call in (
        lambda: ridge.fit(GRID, GRID, 0.3, penalty),
        lambda: ridge.residual_shift(10, penalty, "proven"),
    ):
        with raises_code(ParameterError, "penalty-not-positive"):
            call()
    with pytest.raises(ParameterError, match=says("penalty-too-large", limit=1)):
        ridge.residual_shift(10, 1.5, "published")
