"""Both regressions from one noisy table (binned_regression.md)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.extras.pairs import PairGenerator, ridge
from privcore.extras.pairs.ridge import (
    TABLE_SENSITIVITY,
    automatic_bins,
    fit_from_table,
    joint_table,
    noisy_table,
)
from privcore.privacy.mechanisms import SimulatedNoise

number = st.one_of(st.floats(-1, 1), st.sampled_from([-1.0, -1 / 3, 0.0, 1 / 3, 1.0]))
record = st.tuples(number, number)
bins = st.integers(2, 20)
GRID = np.linspace(-1, 1, 101)


def table_of(records, size):
    return joint_table(*np.array(records, dtype=float).reshape(-1, 2).T, size)


@given(records=st.lists(record, min_size=1, max_size=30), size=bins)
def test_each_record_spreads_a_weight_of_one_and_keeps_its_values(records, size):
    table = table_of(records, size)
    nodes = np.linspace(-1, 1, size)
    x, y = np.array(records).T
    assert table.min() >= 0
    assert table.sum() == pytest.approx(len(records))
    assert table.sum(axis=1) @ nodes == pytest.approx(x.sum(), abs=1e-9)
    assert table.sum(axis=0) @ nodes == pytest.approx(y.sum(), abs=1e-9)
    assert nodes @ table @ nodes == pytest.approx(x @ y, abs=1e-9)


@given(records=st.lists(record, min_size=1, max_size=10), other=record, size=bins)
def test_a_replaced_record_moves_the_table_by_at_most_two(records, other, size):
    moved = table_of(records, size) - table_of([other, *records[1:]], size)
    assert np.abs(moved).sum() <= TABLE_SENSITIVITY + 1e-12


def test_two_is_attained():
    moved = table_of([(-1, -1)], 8) - table_of([(1, 1)], 8)
    assert np.abs(moved).sum() == TABLE_SENSITIVITY


def test_every_entry_has_noise_of_its_own_at_the_scale():
    noisy = noisy_table(np.zeros((100, 100)), 0.5, SimulatedNoise(1))
    # Mean |Lap(4)| of 10,000 draws: 4 with standard error 0.04.
    assert abs(np.abs(noisy).mean() - 4) < 0.2
    assert len(np.unique(noisy)) == 10_000


def test_it_tends_to_the_exact_regression():
    pair = PairGenerator("periodic").sample(2_000, 1)
    errors = []
    for size in (8, 16, 32, 64):
        table = joint_table(pair.x, pair.y, size)
        forward = fit_from_table(table, pair.n, 0.25, 1e-3).predict(GRID)
        backward = fit_from_table(table.T, pair.n, 0.25, 1e-3).predict(GRID)
        exact = ridge.fit(pair.x, pair.y, 0.25, 1e-3), ridge.fit(pair.y, pair.x, 0.25, 1e-3)
        errors.append(
            max(
                np.abs(forward - exact[0].predict(GRID)).max(),
                np.abs(backward - exact[1].predict(GRID)).max(),
            )
        )
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.02


def test_on_the_nodes_it_is_the_exact_regression():
    x, y = np.random.default_rng(1).choice(np.linspace(-1, 1, 9), (2, 400))
    fit = fit_from_table(joint_table(x, y, 9), 400, 0.25, 0.01)
    assert np.allclose(fit.predict(GRID), ridge.fit(x, y, 0.25, 0.01).predict(GRID), atol=1e-9)


def test_bins_grow_with_the_budget_within_limits():
    chosen = [automatic_bins(n, e) for n, e in ((10, 0.01), (1_000, 1), (8_000, 1), (10**6, 10))]
    assert chosen == [8, 8, 16, 32]
    assert automatic_bins(8_000, 1.0) == automatic_bins(80_000, 0.1)
