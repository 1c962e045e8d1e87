"""Noise, sparse vector and selection against closed forms and enumeration."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privcore.errors import ParameterError
from privcore.extras.audits import MECHANISMS, PLANTED
from privcore.extras.teaching.noise import KINDS, noise_panel
from privcore.extras.teaching.selection import selection_probabilities, selections
from privcore.extras.teaching.sparse_vector import (
    BROKEN,
    CORRECT,
    VARIANTS,
    audited,
    example_scores,
    sparse_vector_steps,
)
from privcore.privacy.mechanisms.gaussian import gaussian_delta
from tests.messages import raises_code
from tests.privacy.mechanisms.laws import exponential_chances, gumbel_chances

ALARM = 1e-6


def picture(mechanism, epsilon=1.0, value=0.0, neighbour=1.0, delta=0.01, draws=2_000):
    return noise_panel(mechanism, epsilon, delta, value, neighbour, draws, 1)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("mechanism", KINDS)
def test_densities_integrate_to_one(mechanism, epsilon):
    found = picture(mechanism, epsilon)
    for density in (found.density, found.other_density):
        whole = mechanism == "discrete laplace"
        total = density.sum() if whole else np.trapezoid(density, found.x)
        # What lies beyond the part that is drawn is below 2e⁻⁷; the rest is the trapezoids.
        assert total == pytest.approx(1.0, abs=3e-3)


@given(
    epsilon=st.floats(0.05, 20),
    value=st.floats(-5, 5),
    away=st.floats(-1, 1),
    mechanism=st.sampled_from(["laplace", "discrete laplace"]),
)
def test_the_ratio_is_at_most_e_to_the_epsilon(mechanism, epsilon, value, away):
    if mechanism == "discrete laplace":
        value, away = round(value), round(away)
    found = picture(mechanism, epsilon, value, value + away, draws=1)
    assert np.abs(found.loss).max() <= epsilon * (1 + 1e-9)
    assert found.exceeded == found.delta == 0


def test_a_difference_of_three_costs_three_times_epsilon():
    found = picture("laplace", 1.0, 0.0, 3.0)
    assert np.abs(found.loss).max() == pytest.approx(3.0)
    # P(loss > 1) = P(x < 1) on the value 0, and δ by its integral.
    assert found.exceeded == pytest.approx(1 - math.exp(-1) / 2, abs=0.01)
    assert found.delta == pytest.approx(1 - math.exp((1 - 3) / 2), abs=0.01)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.05), (1.0, 0.01), (5.0, 1e-3)])
def test_gaussian_noise_needs_the_delta_it_was_made_for(epsilon, delta):
    found = picture("gaussian", epsilon, delta=delta)
    assert gaussian_delta(epsilon, 1 / found.scale) == pytest.approx(delta, rel=1e-6)
    assert found.delta == pytest.approx(delta, rel=0.03)
    assert found.exceeded > delta


def test_draws_have_the_drawn_distribution():
    for mechanism, law in (("laplace", stats.laplace), ("gaussian", stats.norm)):
        found = picture(mechanism)
        for draws, centre in ((found.draws, 0.0), (found.other_draws, 1.0)):
            assert stats.kstest(draws, law(centre, found.scale).cdf).pvalue > ALARM
    found = picture("discrete laplace")
    counts = np.array([(found.draws == k).sum() for k in range(-3, 4)])
    chances = found.density[[int(np.flatnonzero(found.x == k)[0]) for k in range(-3, 4)]]
    rest = len(found.draws) - counts.sum(), 1 - chances.sum()
    test = stats.chisquare([*counts, rest[0]], len(found.draws) * np.array([*chances, rest[1]]))
    assert test.pvalue > ALARM


@given(utilities=st.lists(st.floats(-10, 10), min_size=1, max_size=6), epsilon=st.floats(0.05, 5))
def test_the_exponential_mechanism_s_closed_form(utilities, epsilon):
    exponential, flip = selection_probabilities(utilities, epsilon)
    expected = gumbel_chances(np.array(utilities), 2 / epsilon)
    np.testing.assert_allclose(exponential, expected, rtol=1e-12)
    assert flip.sum() == pytest.approx(1.0)


@given(utilities=st.lists(st.floats(-5, 5), min_size=1, max_size=5), epsilon=st.floats(0.05, 5))
def test_permute_and_flip_against_enumeration(utilities, epsilon):
    expected = exponential_chances(np.array(utilities), 2 / epsilon)
    np.testing.assert_allclose(
        selection_probabilities(utilities, epsilon)[1], expected, rtol=1e-9, atol=1e-12
    )


@given(utilities=st.lists(st.floats(-10, 10), min_size=2, max_size=6), epsilon=st.floats(0.05, 10))
def test_permute_and_flip_is_never_worse_on_average(utilities, epsilon):
    found = selections(utilities, epsilon)
    assert found.expected_flip >= found.expected - 1e-9
    assert found.best == max(utilities)
    assert found.count_flip.sum() == pytest.approx(1.0)


def test_variants_are_those_of_the_audit():
    assert set(BROKEN) <= set(PLANTED)
    for variant in BROKEN:
        assert audited(variant, 1.0) == PLANTED[variant].make(1.0, 0.0)
    assert audited(CORRECT, 1.0) == MECHANISMS["sparse-vector"].make(1.0, 0.0)
    with raises_code(ParameterError, "no-such-variant"):
        audited("x", 1.0)


def test_the_correct_stream_stops_at_the_first_above_and_a_broken_one_goes_on():
    scores = example_scores(20, -30.0, 30.0)
    steps = {v: sparse_vector_steps(v, 2.0, scores, 0.0, 3) for v in VARIANTS}
    assert steps[CORRECT].above.tolist() == [False] * 4 + [True]
    assert steps["exact-threshold"].above.tolist() == [False] * 4 + [True]
    for variant in ("reused-threshold", "exact-queries"):
        assert steps[variant].above.tolist() == [s > 0 for s in scores]
        assert len(set(steps[variant].noisy_thresholds)) == 1
    np.testing.assert_array_equal(steps["exact-queries"].noisy_scores, scores)
    assert set(steps["exact-threshold"].noisy_thresholds) == {0.0}
    assert (steps[CORRECT].noisy_scores != np.array(scores[:5])).all()
