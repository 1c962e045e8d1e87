"""Secure samplers promise what was accounted for; a library that promises less is refused."""

import opendp.prelude as dp
import pytest

from privcore.errors import ParameterError
from privcore.privacy.mechanisms import SecureNoise
from tests.messages import raises_code

pytestmark = pytest.mark.unseeded

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
    with raises_code(ParameterError, "noise-library-differs"):
        SecureNoise()._sampler(name, 2.0)


def due(name, scale, distance):
    """The loss of the exact distributions: what accounting takes for granted."""
    if name in ("gaussian", "discrete gaussian", "gumbel"):
        return distance**2 / (2 * scale**2)
    return distance * (2 if name == "exponential" else 1) / scale


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [0.037, 12.5])
@pytest.mark.parametrize("distance", [1, 3, 10**6])
def test_the_grid_adds_nothing_to_the_map(name, scale, distance):
    """Floats are rounded to a grid so fine that the map is that of the exact distribution.

    No less either, so that the map is of this noise and not of more.
    """
    whole = name.startswith("discrete")
    stated = SecureNoise()._sampler(name, scale).map(distance if whole else float(distance))
    exact = due(name, scale, distance)
    assert exact * (1 - 1e-12) <= stated <= exact * (1 + 1e-9)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("discrete")])
@pytest.mark.parametrize("distance", [0.0, 2.0**-60, 0.1])
def test_distances_below_any_coarse_grid_are_accounted_in_proportion(name, distance):
    """A grid that is coarse beside the distance would show as a loss far above the exact one."""
    stated = SecureNoise()._sampler(name, 2.0).map(distance)
    exact = due(name, 2.0, distance)
    assert exact * (1 - 1e-12) <= stated <= exact * (1 + 1e-9)
