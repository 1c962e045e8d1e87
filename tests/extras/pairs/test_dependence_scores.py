"""Dependence scores against independent implementations and by their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privcore.extras.pairs import scores
from privcore.independence import table_scores

KERNELS = (0.3, 0.5, 1.0, 2.0)

ALL = {
    "spearman": scores.spearman,
    "kendall": scores.kendall,
    "hsic": lambda a, b: scores.hsic(a, b, *KERNELS),
    "hsic-root": lambda a, b: scores.hsic_root(a, b, *KERNELS),
}

tied_pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30).map(
    lambda rows: tuple(np.array(rows, dtype=float).T)
)


def pairs(m, seed):
    generator = np.random.default_rng(seed)
    a = generator.uniform(-1, 1, m)
    return a, np.clip(a**2 + 0.3 * generator.normal(size=m), -2, 2)


def dense_hsic(a, b, width_a, width_b):
    """Equation 4 as it stands."""
    m = a.size
    kernels = [
        np.exp(-((values[:, None] - values) ** 2) / (2 * width**2))
        for values, width in ((a, width_a), (b, width_b))
    ]
    centre = np.eye(m) - 1 / m
    return float(np.trace(kernels[0] @ centre @ kernels[1] @ centre)) / (m - 1) ** 2


def brute_kendall(a, b):
    signs = np.sign(a[:, None] - a) * np.sign(b[:, None] - b)
    return abs(signs.sum() / 2) / (a.size * (a.size - 1) / 2)


@pytest.mark.parametrize("m", [2, 3, 20, 501])
def test_spearman_without_ties_is_scipy_s(m):
    a, b = pairs(m, seed=m)
    assert scores.spearman(a, b) == pytest.approx(abs(stats.spearmanr(a, b).statistic), abs=1e-12)


@given(data=tied_pairs)
def test_spearman_with_ties_is_that_of_the_contingency_table(data):
    table = np.zeros((1, 5, 5), dtype=np.int64)
    np.add.at(table[0], tuple(v.astype(int) for v in data), 1)
    rho = table_scores.spearman_by_stratum(table)[0][0]
    assert scores.spearman(*data) == pytest.approx(abs(rho), abs=1e-12)


@given(data=tied_pairs)
def test_kendall_counts_pairs_whatever_the_ties(data):
    assert scores.kendall(*data) == brute_kendall(*data)


@pytest.mark.parametrize("m", [2, 171, 1500])
def test_kendall_of_many_records(m):
    a, b = pairs(m, seed=3)
    assert scores.kendall(a, b) == brute_kendall(a, b)
    assert scores.kendall(a.round(1), b.round(1)) == brute_kendall(a.round(1), b.round(1))
    assert scores.kendall(a, -a) == 1


@pytest.mark.parametrize("widths", [(0.3, 0.5), (0.02, 0.04), (5.0, 1.0), (0.02, 50.0)])
@pytest.mark.parametrize("m", [2, 3, 200])
def test_hsic_is_the_dense_one(m, widths):
    a, b = pairs(m, seed=m)
    expected = dense_hsic(a, b, *widths)
    assert scores.hsic(a, b, *widths, 1.0, 2.0) == pytest.approx(expected, abs=1e-11, rel=1e-9)
    root = scores.hsic_root(a, b, *widths, 1.0, 2.0)
    assert root == pytest.approx(math.sqrt(expected), abs=1e-9, rel=1e-9)


@given(data=tied_pairs)
def test_hsic_with_ties(data):
    a, b = (v / 2 - 1 for v in data)
    found = scores.hsic(a, b, 0.4, 0.7, 1.0, 1.0)
    assert found == pytest.approx(dense_hsic(a, b, 0.4, 0.7), abs=1e-12)


def test_hsic_in_blocks_and_from_features_is_the_same(monkeypatch):
    a, b = pairs(100, seed=5)
    whole = scores.hsic_root(a, b, *KERNELS)
    features = (scores.gaussian_features(a, 0.3, 1.0), scores.gaussian_features(b, 0.5, 2.0))
    assert scores.hsic_root_of_features(*features) == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr(scores, "_BLOCK", 7)
    assert scores.hsic_root(a, b, *KERNELS) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_dependence_scores_higher_than_independence(name):
    generator = np.random.default_rng(2)
    a, b = generator.uniform(-1, 1, (2, 400))
    assert ALL[name](a, np.clip(a + 0.3 * b, -2, 2)) > 3 * ALL[name](a, b)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("m", [2, 3, 200])
def test_constants_ties_and_bounds_give_numbers_without_warnings(name, m):
    ramp, ends = np.linspace(-1, 1, m), np.where(np.arange(m) % 2, 1.0, -1.0)
    for constant in (-1.0, 0.0, 1.0):
        flat = np.full(m, constant)
        assert ALL[name](flat, ramp) == pytest.approx(0, abs=1e-12)
        assert ALL[name](ramp, 2 * flat) == pytest.approx(0, abs=1e-12)
        assert ALL[name](flat, flat) == pytest.approx(0, abs=1e-12)
    for other in (ends, -2 * ends):
        assert 0 < ALL[name](ends, other) <= 1
    assert 0 <= ALL[name](ends, ramp) <= 1


@given(values=st.lists(st.floats(-2, 2), min_size=1, max_size=40))
def test_log_iqr_by_its_definition(values):
    ordered, m = sorted(values), len(values)
    iqr = ordered[math.ceil(3 * m / 4) - 1] - ordered[math.ceil(m / 4) - 1]
    assert scores.log_iqr(np.array(values)) == math.log(max(iqr, scores.LEAST_IQR))


@pytest.mark.filterwarnings("error")
def test_log_iqr_has_a_floor_and_is_close_to_numpy_s():
    assert scores.log_iqr(np.zeros(50)) == math.log(scores.LEAST_IQR)
    assert scores.log_iqr(np.array([0.3])) == math.log(scores.LEAST_IQR)
    assert scores.log_iqr(np.array([-2.0, 2.0])) == math.log(4)
    values = np.random.default_rng(4).normal(size=5001)
    first, third = np.quantile(values, [0.25, 0.75], method="inverted_cdf")
    assert scores.log_iqr(values) == math.log(third - first)
