"""Noise has the distribution claimed; a wrong scale would be seen.

False-alarm rate of each statistical test: 1e-6 over seeds (the seeds are fixed, so CI is stable).
"""

import math

import numpy as np
import pytest
from scipy import stats

from privcore.errors import ParameterError
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise

ALARM = 1e-6


def draws(noise, scale, size):
    return np.array([noise.laplace(3.0, scale) for _ in range(size)]) - 3.0


def test_simulated_laplace_and_the_power_to_see_a_wrong_scale():
    sample = draws(SimulatedNoise(7), 2.0, 50_000)
    assert stats.kstest(sample, stats.laplace(scale=2.0).cdf).pvalue > ALARM
    assert stats.kstest(sample, stats.laplace(scale=2.2).cdf).pvalue < ALARM


def test_secure_laplace_and_the_power_to_see_a_wrong_scale():
    # A fresh secure sample on every run: fails once in a million runs of a correct sampler.
    sample = draws(SecureNoise(), 2.0, 5_000)
    assert stats.kstest(sample, stats.laplace(scale=2.0).cdf).pvalue > ALARM
    assert stats.kstest(sample, stats.laplace(scale=3.0).cdf).pvalue < ALARM


def test_same_seed_same_noise():
    assert [SimulatedNoise(5).laplace(0, 1) for _ in range(3)] == [
        SimulatedNoise(5).laplace(0, 1) for _ in range(3)
    ]


def test_zero_scale_is_exact_in_simulation_only():
    assert SimulatedNoise(1).laplace(1.25, 0.0) == 1.25
    with pytest.raises(ParameterError, match="exact value"):
        SecureNoise().laplace(1.25, 0.0)


@pytest.mark.parametrize("scale", [-1.0, math.nan, math.inf])
@pytest.mark.parametrize("noise", [SimulatedNoise(0), SecureNoise()])
def test_bad_scales_are_refused(noise, scale):
    with pytest.raises(ParameterError):
        noise.laplace(0.0, scale)


@pytest.mark.parametrize("noise", [SimulatedNoise(0), SecureNoise()])
@pytest.mark.parametrize("size", [0, -1, 11])
def test_impossible_subsamples_are_refused(noise, size):
    with pytest.raises(ParameterError):
        noise.subsample(np.array([4, 6]), size)


@pytest.mark.parametrize("make", [lambda i: SimulatedNoise(i), lambda i: SecureNoise()])
def test_subsampling_is_without_replacement_and_uniform(make):
    """Counts of a colour in the sub-sample are hypergeometric."""
    multiplicities = np.array([3, 0, 5, 12])
    repetitions = 4_000
    drawn = np.array([make(i).subsample(multiplicities, 8) for i in range(repetitions)])
    assert (drawn.sum(axis=1) == 8).all()
    assert (drawn <= multiplicities).all()
    for colour in (0, 2, 3):
        law = stats.hypergeom(20, multiplicities[colour], 8)
        support = np.arange(0, 9)
        expected = law.pmf(support) * repetitions
        observed = np.bincount(drawn[:, colour], minlength=9)
        keep = expected > 5
        lumped_observed = np.append(observed[keep], observed[~keep].sum())
        lumped_expected = np.append(expected[keep], expected[~keep].sum())
        if lumped_expected[-1] < 1e-9:
            lumped_observed, lumped_expected = lumped_observed[:-1], lumped_expected[:-1]
        assert stats.chisquare(lumped_observed, lumped_expected).pvalue > ALARM


def test_a_full_subsample_is_everything():
    multiplicities = np.array([3, 7])
    assert (SimulatedNoise(0).subsample(multiplicities, 10) == multiplicities).all()
    assert (SecureNoise().subsample(multiplicities, 10) == multiplicities).all()
