"""What a noise source does with its seed and refuses; its laws are in test_noise_laws.py."""

import math

import numpy as np
import pytest

from privcore.errors import ParameterError
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from tests.messages import says


def test_same_seed_same_noise():
    assert [SimulatedNoise(5).laplace(0, 1) for _ in range(3)] == [
        SimulatedNoise(5).laplace(0, 1) for _ in range(3)
    ]


def test_zero_scale_is_exact_in_simulation_only():
    assert SimulatedNoise(1).laplace(1.25, 0.0) == 1.25
    with pytest.raises(ParameterError, match=says("exact-value")):
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


def test_a_full_subsample_is_everything():
    multiplicities = np.array([3, 7])
    assert (SimulatedNoise(0).subsample(multiplicities, 10) == multiplicities).all()
    assert (SecureNoise().subsample(multiplicities, 10) == multiplicities).all()
