"""Sparse vector and sieve-and-examine: exact probabilities on worst-case neighbours."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from privcore.errors import BudgetError
from privcore.privacy.mechanisms import SieveAndExamine, SieveScales, SimulatedNoise
from privcore.privacy.mechanisms.sparse_vector import (
    SparseVector,
    SparseVectorScales,
    amplified,
    before_amplification,
)


def log_probability(scales, values, last_value):
    """log P(every value below, last one above): one integral over the noisy threshold.

    By the trapezoidal rule on a grid that contains the kinks; the truncated tails weigh e^-30.
    """
    span = 30 * scales.threshold
    grid = np.unique(np.concatenate([np.linspace(-span, span, 40_001), values, [0.0, last_value]]))
    log_density = stats.laplace.logpdf(grid, 0, scales.threshold)
    for value, count in zip(*np.unique(values, return_counts=True), strict=True):
        log_density += count * stats.laplace.logcdf(grid, value, scales.query)
    log_density += stats.laplace.logsf(grid, last_value, scales.query)
    top = log_density.max()
    return top + math.log(integrate.trapezoid(np.exp(log_density - top), grid))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_worst_case_neighbours_cost_epsilon_and_no_more(epsilon):
    """All values move by the sensitivity, the last against the rest; tight as the stream grows."""
    scales = SparseVectorScales.proven(1.0, epsilon)
    worst = 0.0
    for length in (1, 4, 16, 64, 256):
        for base in (-30.0, -10.0, -4.0, 0.0):
            one = log_probability(scales, [base] * length, base + 1)
            other = log_probability(scales, [base + 1] * length, base)
            worst = max(worst, abs(one - other))
    assert worst <= epsilon + 1e-6
    assert worst >= 0.75 * epsilon


def test_a_sparse_vector_without_threshold_noise_breaks_the_bound():
    """The same check catches a broken mechanism, so it can fail."""
    scales = SparseVectorScales(threshold=1e-3, query=4.0)
    one = log_probability(scales, [-1.0] * 16, 0.0)
    other = log_probability(scales, [0.0] * 16, -1.0)
    assert abs(one - other) > 1.2


def test_frequencies_agree_with_the_integral():
    scales = SparseVectorScales.proven(1.0, 2.0)
    values, last = [-0.5, 0.3], 0.8
    expected = math.exp(log_probability(scales, values, last))
    noise = SimulatedNoise(3)
    hits = 0
    runs = 20_000
    for _ in range(runs):
        vector = SparseVector(0.0, scales, noise)
        verdicts = []
        for value in (*values, last):
            verdicts.append(vector.ask(value).above)
            if verdicts[-1]:
                break
        hits += verdicts == [False, False, True]
    # False-alarm rate below 1e-6.
    assert stats.binomtest(hits, runs, expected).pvalue > 1e-6


def test_it_refuses_to_go_on_after_an_above():
    vector = SparseVector(0.0, SparseVectorScales(0.0, 0.0), SimulatedNoise(0))
    assert not vector.ask(-1.0).above
    assert vector.ask(1.0).above
    with pytest.raises(BudgetError):
        vector.ask(-1.0)


@pytest.mark.parametrize("rate", [0.05, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
def test_amplification_inverts(rate, epsilon):
    assert amplified(before_amplification(epsilon, rate), rate) == pytest.approx(epsilon)
    assert amplified(epsilon, rate) <= epsilon * (1 + 1e-12)
    assert amplified(epsilon, 1.0) == pytest.approx(epsilon)


def exact_subsampled_log_ratio(epsilon, n, m):
    """The worst log-ratio of a randomised response on one record of a random m-subset."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    rate = m / n
    # D holds the marked record, D' does not; the response tells whether the subset holds it.
    marked = rate * keep + (1 - rate) * (1 - keep)
    return math.log(marked / (1 - keep))


@pytest.mark.parametrize(("n", "m"), [(10, 1), (10, 5), (10, 10)])
def test_amplification_is_attained(n, m):
    assert amplified(1.3, m / n) == pytest.approx(exact_subsampled_log_ratio(1.3, n, m))


def test_proven_scales():
    scales = SieveScales.proven(
        sieve_epsilon=0.2,
        examine_epsilon=0.3,
        rate=0.25,
        sieve_sensitivity=0.12,
        examine_sensitivity=0.06,
    )
    inner = math.log(1 + 4 * math.expm1(0.2))
    assert scales.first == scales.refresh
    assert scales.first.threshold == pytest.approx(2 * 0.12 / inner)
    assert scales.first.query == pytest.approx(4 * 0.12 / inner)
    assert scales.examine == pytest.approx(0.06 / 0.3)
    assert scales.refresh_always


def test_published_scales_are_those_printed():
    """Algorithm 2, lines 4, 5, 11, 12 and 15, at n/m = 4 and ε = 1."""
    scales = SieveScales.published(epsilon=1.0, rate=0.25, sensitivity=0.01)
    inner = math.log(4 * (math.exp(0.5) - 1) + 1)
    assert scales.first.threshold == pytest.approx(2 * 2 * 0.01 / inner)
    assert scales.first.query == pytest.approx(4 * 2 * 0.01 / inner)
    assert scales.refresh.threshold == pytest.approx(2 * 0.01 / inner)
    assert scales.examine == pytest.approx(2 * 2 * 0.01 / 1.0)
    assert not scales.refresh_always


def test_the_published_refresh_costs_more_than_claimed():
    """Line 15 forgets sqrt(n/m): the sieve of later rounds costs .898, not .5, at ε = 1."""
    scales = SieveScales.published(epsilon=1.0, rate=0.25, sensitivity=1.0)
    # On the sub-sample one record moves the score by sqrt(n/m) Δ = 2: this is the charge of a
    # sparse vector with these scales before amplification, by the proof's own terms.
    threshold, query = scales.refresh.threshold, scales.refresh.query
    before = 2.0 / threshold + 2 * 2.0 / query
    assert amplified(before, 0.25) == pytest.approx(0.898, abs=2e-3)


def test_rounds_of_sieve_and_examine_without_noise():
    mechanism = SieveAndExamine(
        -2.0, 1.0, SieveScales(*[SparseVectorScales(0, 0)] * 2, 0.0, True), SimulatedNoise(0)
    )
    assert mechanism.needs_round
    mechanism.open_round()
    assert not mechanism.sieve(-3.5).above  # beyond the tweaked threshold of -3
    assert mechanism.sieve(-2.5).above
    assert not mechanism.examine(-2.5).above  # but not the real one
    assert mechanism.needs_round  # proven: a failed examination ends the round too
    mechanism.open_round()
    assert mechanism.sieve(-1.0).above
    assert mechanism.examine(-1.0).above
    assert mechanism.needs_round


def test_the_printed_algorithm_reuses_its_threshold_after_a_failed_examination():
    scales = SieveScales(
        SparseVectorScales(5.0, 0.0), SparseVectorScales(5.0, 0.0), 0.0, refresh_always=False
    )
    mechanism = SieveAndExamine(-2.0, 1.0, scales, SimulatedNoise(4))
    mechanism.open_round()
    first = mechanism.sieve(1e6)
    assert not mechanism.examine(-1e6).above
    assert not mechanism.needs_round
    assert mechanism.sieve(1e6).threshold == first.threshold
