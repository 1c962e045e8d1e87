"""The release of moments with weighted means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize

from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import analytic_sigma
from privcore.privacy.mechanisms.moments import (
    MEAN_SHARE,
    release_moments,
    weighted_sensitivity,
    with_noise,
)
from tests.examples import examples
from tests.transcripts import Recorder

direction = hnp.arrays(float, 3, elements=st.floats(-1, 1))


def released(x, radius):
    """What the noise is added to, in units of the noise on each number."""
    x = x * min(1.0, radius / max(float(np.linalg.norm(x)), 1e-300))
    full, noise = np.concatenate(([MEAN_SHARE * radius], x)), Recorder(1)
    with_noise(np.outer(full, full), 1.0, noise)
    return np.concatenate([values / sigma for _, values, sigma, _ in noise.calls])


@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_no_search_beats_the_sensitivity(p):
    """Rows of norm R and shorter, climbed from many places; attained from two columns on."""
    drawn = np.random.default_rng(p)

    def change(both):
        return -float(np.linalg.norm(released(both[:p], 1.0) - released(both[p:], 1.0)))

    best = max(-minimize(change, drawn.normal(size=2 * p), method="Powell").fun for _ in range(5))
    bound = weighted_sensitivity(1.0, 1)
    assert best <= bound * (1 + 1e-9)
    assert p == 1 or best > 0.99 * bound


@settings(max_examples=examples(500), deadline=None)
@given(direction, direction, st.floats(0.05, 2.0))
def test_no_pair_of_rows_exceeds_the_sensitivity(x, y, radius):
    change = np.linalg.norm(released(x, radius) - released(y, radius))
    assert change <= weighted_sensitivity(radius, 1) * (1 + 1e-9)


def test_the_sensitivity_is_nearly_attained():
    """Rows of norm R in the plane of two columns, at the angle where c = −a²."""
    radius = 0.8
    angle = np.arccos(-(MEAN_SHARE**2))
    best = max(
        np.linalg.norm(
            released(radius * np.array([np.cos(t), np.sin(t), 0.0]), radius)
            - released(radius * np.array([np.cos(t + angle), np.sin(t + angle), 0.0]), radius)
        )
        for t in np.linspace(0, np.pi, 1001)
    )
    assert best == pytest.approx(weighted_sensitivity(radius, 1), rel=1e-3)


def test_the_noise_is_that_of_the_sensitivity_and_vanishes_with_it():
    x = np.random.default_rng(1).normal(size=(500, 3)) * 0.1 + 0.05
    full = np.column_stack((np.ones(500), x))
    moments = full.T @ full / 500
    found = release_moments(moments, 500, 0.9, 0.5, 1e-6, SimulatedNoise(1))
    assert found.scale == pytest.approx(analytic_sigma(weighted_sensitivity(0.9, 500), 0.5, 1e-6))
    # At the floor itself, but for rounding.
    assert np.linalg.eigvalsh(found.sigma).min() >= found.scale * (1 - 1e-9)
    exact = release_moments(moments, 10**12, 0.9, 0.5, 1e-6, SimulatedNoise(1))
    assert exact.sigma == pytest.approx(np.cov(x.T, bias=True), abs=1e-9)
