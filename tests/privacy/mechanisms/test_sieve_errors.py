"""Errors of sieve-and-examine: against simulation, and against the printed theorem."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from privcore.privacy.mechanisms import SieveAndExamine, SieveScales, SimulatedNoise
from privcore.privacy.mechanisms.sparse_vector import error_probabilities

ALARM = 1e-6
RUNS = 20_000


def scales(sieve=0.5, examine=0.5, sensitivity=1.0):
    return SieveScales.proven(
        sieve_epsilon=sieve,
        examine_epsilon=examine,
        rate=1.0,
        sieve_sensitivity=sensitivity,
        examine_sensitivity=sensitivity,
    )


def deleted(chosen, tweak, value, noise):
    """Whether a score is found above the threshold 3 by the mechanism itself."""
    mechanism = SieveAndExamine(3.0, tweak, chosen, noise)
    mechanism.open_round()
    return mechanism.sieve(value).above and mechanism.examine(value).above


@pytest.mark.long
@pytest.mark.parametrize(("tweak", "distance"), [(0.0, 2.0), (4.0, 1.0), (2.0, 6.0)])
def test_probabilities_are_those_of_the_mechanism(tweak, distance):
    """And 5 points more would be seen."""
    noise, chosen = SimulatedNoise(7), scales()
    errors = error_probabilities(chosen, tweak, distance)
    kept = sum(not deleted(chosen, tweak, 3.0 + distance, noise) for _ in range(RUNS))
    wrong = sum(deleted(chosen, tweak, 3.0 - distance, noise) for _ in range(RUNS))
    for seen, expected in ((kept, errors.type_one), (wrong, errors.type_two)):
        assert binomtest(seen, RUNS, expected).pvalue > ALARM
        assert binomtest(seen, RUNS, expected + 0.05).pvalue < ALARM


@given(
    tweak=st.floats(0, 10),
    distance=st.floats(0, 20),
    sieve=st.floats(0.1, 5),
    examine=st.floats(0.1, 5),
)
def test_probabilities_are_bounded_by_the_union_over_the_noises(tweak, distance, sieve, examine):
    chosen = scales(sieve, examine)
    errors = error_probabilities(chosen, tweak, distance)
    both = chosen.first.threshold + chosen.first.query
    x = distance + tweak
    sieve_alone = math.exp(-x / both) - math.exp(-2 * x / both) / 4
    assert 0 <= errors.type_two <= 0.5 * math.exp(-distance / chosen.examine) + 1e-12
    assert 0 <= errors.type_one <= sieve_alone + 0.5 * math.exp(-distance / chosen.examine) + 1e-12
    closer = error_probabilities(chosen, tweak, distance / 2)
    assert closer.type_one >= errors.type_one - 1e-12
    assert closer.type_two >= errors.type_two - 1e-12


def test_the_printed_type_two_bound_is_too_small():
    """Wang et al. 2020, Theorem 2, with its own scales: 2Δ/ε on the threshold, 4Δ/ε′ on the query,
    2Δ/ε on the examination."""
    epsilon, distance = 1.0, 4.0
    prime = math.log(math.exp(epsilon / 2) - 1 + 1)
    printed = math.exp(-(12 * epsilon * distance) / 6) - math.exp(-6 * epsilon * distance / 3) / 4
    generator = np.random.default_rng(1)
    size = 200_000
    threshold, query, examined = (
        generator.laplace(0, scale, size) for scale in (2 / epsilon, 4 / prime, 2 / epsilon)
    )
    # A score at T − α with the tweak t = α.
    passed = (query - threshold >= 0) & (examined >= distance)
    assert binomtest(int(passed.sum()), size, printed).pvalue < ALARM
    assert passed.mean() > 10 * printed
    assert passed.mean() == pytest.approx(math.exp(-epsilon * distance / 2) / 4, rel=0.05)
