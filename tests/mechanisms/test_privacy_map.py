"""Secure samplers promise what was accounted for; a library that promises less is refused."""

import opendp.prelude as dp
import pytest

from privcore.errors import ParameterError
from privcore.mechanisms import SecureNoise

NAMES = (
    "laplace",
    "laplace array",
    "discrete",
    "discrete gaussian",
    "gaussian",
    "gumbel",
    "exponential",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [1e-9, 0.037, 1.0, 12.5, 1e9])
def test_the_map_fits_the_scale(name, scale):
    SecureNoise()._sampler(name, scale)


@pytest.mark.parametrize("name", NAMES)
def test_a_sampler_with_less_noise_is_refused(name, monkeypatch):
    """As if the library took its scale for something else, a hair smaller."""
    for maker in ("make_laplace", "make_gaussian", "make_noisy_max"):
        real = getattr(dp.m, maker)

        def less(*arguments, real=real, scale):
            return real(*arguments, scale=scale * (1 - 1e-6))

        monkeypatch.setattr(dp.m, maker, less)
    with pytest.raises(ParameterError, match="more than was accounted for"):
        SecureNoise()._sampler(name, 2.0)
