"""What a noise source does with its seed and refuses; its laws are in test_noise_laws.py."""

import math
import random
import secrets

import numpy as np
import pytest

from privcore.errors import ParameterError
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise, secure
from tests.messages import raises_code
from tests.randomness import DRAWS, secure_alone, seed_secure_noise

NUMBERS, COUNTS = np.array([1.5, -2.0, 4.0]), np.array([3, 0, 7])
DRAWN = {
    "laplace": (1.5, 2.0),
    "laplace_array": (NUMBERS, 2.0),
    "gaussian_array": (NUMBERS, 2.0),
    "discrete_laplace_array": (COUNTS, 2.0),
    "discrete_gaussian_array": (COUNTS, 2.0),
    "noisy_max": (NUMBERS, 2.0, "gumbel"),
    "coin": (),
    "subsample": (COUNTS, 4),
    "permutation": (5,),
}


def test_same_seed_same_noise():
    assert [SimulatedNoise(5).laplace(0, 1) for _ in range(3)] == [
        SimulatedNoise(5).laplace(0, 1) for _ in range(3)
    ]


def test_zero_scale_is_exact_in_simulation_only():
    assert SimulatedNoise(1).laplace(1.25, 0.0) == 1.25
    with raises_code(ParameterError, "exact-value"):
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


@pytest.mark.unseeded
@pytest.mark.parametrize("method", DRAWS)
def test_no_generator_of_python_or_numpy_makes_secure_noise(method):
    with secure_alone() as drawn:
        getattr(SecureNoise(), method)(*DRAWN[method])
    assert drawn == [method]


OTHERS = {
    "numpy, without a seed": lambda: np.random.default_rng(),
    "numpy, from what was there before": lambda: np.random.normal(),  # noqa: NPY002
    "numpy, as it was": lambda: np.random.RandomState(),
    "numpy, in parts": lambda: np.random.Generator(np.random.PCG64()),
    "Python": lambda: random.gauss(0, 1),
    "Python, without a seed": lambda: random.Random(),
    "the system's, for something else": lambda: random.SystemRandom(),
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_generator_is_seen(other):
    with secure_alone(), pytest.raises(AssertionError):
        OTHERS[other]()


def test_a_generator_with_a_seed_is_seen_within_secure_noise_alone(monkeypatch):
    def seeded(self, values, sigma):
        return values + sigma * np.random.default_rng(1).normal(size=values.shape)

    monkeypatch.setattr(SecureNoise, "gaussian_array", seeded)
    with secure_alone(), pytest.raises(AssertionError):
        SecureNoise().gaussian_array(NUMBERS, 2.0)
    with secure_alone():
        assert np.random.default_rng(1).random() == np.random.default_rng(1).random()


def drawn_by_all():
    return [getattr(SecureNoise(), method)(*DRAWN[method]) for method in DRAWS]


def test_secure_noise_follows_from_a_seed_in_tests():
    """And still says, and checks, what it does otherwise."""
    drawn = []
    for seed in (1, 1, 2):
        seed_secure_noise(seed)
        drawn.append(drawn_by_all())
    one, again, other = (list(map(str, each)) for each in drawn)
    assert one == again != other
    assert SecureNoise().kind == "secure"
    with pytest.raises(ParameterError):
        SecureNoise().gaussian_array(np.array([math.inf]), 1.0)


@pytest.mark.unseeded
def test_secure_noise_follows_from_no_seed_where_that_is_said():
    """Two Gaussian arrays are equal with probability below 2⁻⁶⁴."""
    assert secure.secrets is secrets
    one, other = (SecureNoise().gaussian_array(NUMBERS, 2.0) for _ in range(2))
    assert (one != other).any()
