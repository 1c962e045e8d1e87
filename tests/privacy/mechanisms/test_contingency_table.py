"""Noise on all cells of a table: exact log-ratios of two neighbouring tables.

docs/proofs/contingency_table.md.
"""

import math
from itertools import product

import numpy as np
import pytest

from privcore.privacy.mechanisms import SimulatedNoise


def discrete_log_ratio(one, other, scale, reach=12):
    """Worst |log-ratio| over outcomes near the tables, noise with P(k) ∝ exp(−|k|/scale)."""
    worst = 0.0
    for outcome in product(range(-reach, reach + 1), repeat=len(one)):
        log_ratio = sum(
            (abs(o - b) - abs(o - a)) / scale for o, a, b in zip(outcome, one, other, strict=True)
        )
        worst = max(worst, abs(log_ratio))
    return worst


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_replacing_one_record_costs_epsilon_at_scale_two_over_epsilon(epsilon):
    """A record that moves from one cell to another, the other one empty before: ε exactly."""
    one, other = (3, 0, 1), (2, 1, 1)
    assert discrete_log_ratio(one, other, 2 / epsilon) == pytest.approx(epsilon)


def test_the_published_scale_costs_twice_epsilon_when_a_record_is_replaced():
    """Lap(1/ε) is right for adding or removing a record only."""
    assert discrete_log_ratio((3, 0), (2, 1), 1.0) == pytest.approx(2.0)
    assert discrete_log_ratio((3, 0), (2, 0), 1.0) == pytest.approx(1.0)


def test_an_empty_cell_without_noise_gives_a_record_away():
    """Why empty cells get noise: their count is 0 for sure on one table and not on the other."""
    scale = 2.0
    stays_zero = math.tanh(1 / (2 * scale))  # P(k = 0) of the discrete noise
    noise = SimulatedNoise(9)
    draws = noise.discrete_laplace_array(np.ones(20_000, dtype=np.int64), scale)
    # Noise only where something was counted: never 0 without the record, so often 0 with it.
    assert np.mean(draws == 1) == pytest.approx(stays_zero, abs=0.02)
    assert np.mean(draws != 0) > 0.5
