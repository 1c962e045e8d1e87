"""Likelihoods of noisy counts, what they could show, and the release of all of them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import dlaplace, poisson

from privcore.algorithms.moment_search.full_table import (
    FittedEvidence,
    log_likelihood,
    noisy_cells,
)
from privcore.algorithms.moment_search.moments import Measurement, Moments
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.plan import plan_whole
from privcore.algorithms.moment_search.statistic import cell_information
from privcore.counts import InMemoryCounts
from privcore.privacy.mechanisms import SimulatedNoise
from tests.examples import examples

LEVELS = (2, 3, 2)


def exact(count, expected, scale):
    """Poisson and discrete Laplace, summed up."""
    x = np.arange(0, int(expected + 12 * math.sqrt(expected) + 60))
    return float((poisson.pmf(x, expected) * dlaplace.pmf(count - x, 1 / scale)).sum())


def likelihood(count, expected, scale):
    return log_likelihood(noisy_cells(np.array([float(count)]), scale), np.array([expected]))


@settings(max_examples=examples(150))
@given(expected=st.floats(1e-4, 9.9), scale=st.floats(0.1, 4.9), above=st.floats(-6, 6))
def test_of_small_cells_it_is_exact(expected, scale, above):
    count = round(expected + above * (scale + math.sqrt(expected)))
    total, slopes = likelihood(count, expected, scale)
    assert total == pytest.approx(math.log(exact(count, expected, scale)), abs=1e-6)
    step = 1e-5 * expected
    rise = [likelihood(count, expected + s, scale)[0] for s in (step, -step)]
    assert slopes[0] == pytest.approx((rise[0] - rise[1]) / (2 * step), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("scale", [0.7, 2.0, 20.0])
@pytest.mark.parametrize("expected", [0.01, 3.0, 40.0, 2_000.0])
def test_the_information_is_about_fisher_s(expected, scale):
    reach = 12 * (scale + math.sqrt(expected)) + 20
    counts = np.unique(np.round(np.linspace(expected - reach, expected + reach, 4_001)))
    there = np.full(len(counts), expected)
    _, slopes = log_likelihood(noisy_cells(counts, scale), there)
    chance = np.array([math.exp(likelihood(c, expected, scale)[0]) for c in counts])
    fisher = float((chance * slopes**2).sum() / chance.sum())
    assert cell_information(np.array([expected]), scale)[0] == pytest.approx(fisher, rel=0.4)


def sampled(n, seed):
    """Counts of all combinations of x → y ← z."""
    generator = np.random.default_rng(seed)
    x, z = generator.integers(0, 2, n), generator.integers(0, 2, n)
    y = generator.integers(0, 3, n)
    y = np.where(generator.random(n) < 0.5, x + z, y)
    table = np.zeros(LEVELS)
    np.add.at(table, (x, y, z), 1)
    return table


def seen_in(table, scale):
    """What independent x and z, both causes of y, show at an FDR level of 5 %."""
    n = table.sum()
    first, last = table.sum(axis=(1, 2)) / n, table.sum(axis=(0, 1)) / n
    middle = table / table.sum(axis=1, keepdims=True)
    expected = n * first[:, None, None] * middle * last
    moments = Moments(int(n), LEVELS, [Measurement((0, 1, 2), table, scale, "counts")])
    parameters = MomentSearchParameters(false_edges=0.05)
    return FittedEvidence(moments, parameters, scale, expected.ravel())


def test_what_is_said_without_noise_is_what_the_counts_say():
    n, table = 20_000, sampled(20_000, 6)
    seen = seen_in(table, 0.05)
    joint = table.sum(axis=2) / n
    alone = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    v = math.sqrt(((joint - alone) ** 2 / alone).sum())
    assert seen.effect(0, 1) == pytest.approx(v, abs=0.01)
    assert seen.effect(1, 0) == seen.effect(0, 1)
    assert seen.effect(0, 2) == pytest.approx(0, abs=1e-3)
    assert seen.power(0, 1, ()).dof == 2
    assert seen.power(0, 1, ()).information == pytest.approx(n, rel=0.01)
    assert seen.power(0, 2, (1,)).dof == 3


def test_noise_takes_information_away():
    powers = [seen_in(sampled(5_000, 6), s).power(0, 2, ()).information for s in (0.05, 5.0, 50.0)]
    assert powers[0] > 1.05 * powers[1] > 1.05 * 1.05 * powers[2]


records = st.tuples(*[st.integers(0, r - 1) for r in LEVELS])


def counts_of(rows):
    kept, many = np.unique(np.array(rows), axis=0, return_counts=True)
    columns = tuple(kept[:, k] for k in range(3))
    return InMemoryCounts(("a", "b", "c"), LEVELS, columns, many.astype(np.int64))


class NoNoise(SimulatedNoise):
    def discrete_laplace_array(self, values, scale):
        return values


@given(rows=st.lists(records, min_size=2, max_size=20), other=records)
def test_a_replaced_record_moves_the_table_by_two_at_most(rows, other):
    plan = plan_whole(len(rows), LEVELS, 1.0, cells=12).whole
    before, after = (
        plan.measure(counts_of(those), NoNoise(0)).values for those in (rows, [other, *rows[1:]])
    )
    moved = np.abs(before - after).sum()
    assert moved == (2 if other != rows[0] else 0)
    assert moved <= plan.scale * 1.0 + 1e-12


@given(epsilon=st.floats(1e-3, 100), n=st.integers(1, 10**7))
def test_a_plan_is_of_public_facts(epsilon, n):
    plan = plan_whole(n, LEVELS, epsilon, cells=12).whole
    assert 2 / plan.scale <= epsilon
    assert 0 < plan.weight <= 1
    assert plan_whole(n, LEVELS, epsilon, cells=11) is None
    assert plan_whole(n, (5,), epsilon, cells=11) is None
