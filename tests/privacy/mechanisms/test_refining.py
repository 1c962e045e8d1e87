"""Discrete Laplace noise refined to a smaller scale: the law, the draws, and what two releases of
the same number tell together."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp
from scipy import stats

from privcore.errors import ParameterError
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from privcore.privacy.mechanisms.refining import quantile, refined
from tests.examples import few
from tests.messages import says
from tests.privacy.mechanisms.laws import discrete_laplace, distance, distance_allowed

NOISES = [0, 1, -1, 2, -3, 7, -12, 40, -400]
SCALES = [(2.0, 1.0), (20.0, 1.5), (0.5, 0.4), (8.0, 7.9), (0.3, 0.05), (12.0, 10.0)]
CASES = [(noise, *scales) for noise in NOISES for scales in SCALES]
# Of each statistical comparison here; there are 12.
ALARM = 1e-8


def joint_weights(large, small, known, reach):
    """Weights of the smaller noise m in −reach … reach where the larger one is `known`.

    large, small: e^(−1/scale), exact or with many digits; all weights have one factor in common.
    """
    ratio = small / large
    alone = ratio * (1 - large) ** 2 / (1 - small) ** 2

    def rest(difference):
        law = (1 - large) / (1 + large) * large ** abs(difference)
        return (1 - alone) * law + (alone if difference == 0 else 0)

    return {m: small ** abs(m) * rest(known - m) for m in range(-reach, reach + 1)}


@pytest.mark.parametrize("large", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 50)])
@pytest.mark.parametrize("part", [Fraction(1, 3), Fraction(99, 100)])
def test_the_larger_noise_is_the_smaller_one_and_a_rest(large, part):
    """The characteristic functions, multiplied by (1 − 2b cos + b²)(1 − 2a cos + a²), are linear in
    the cosine: they agree if they do at two of them, here at four, in exact arithmetic."""
    small = large * part
    alone = small / large * (1 - large) ** 2 / (1 - small) ** 2
    assert 0 < alone < 1

    def transform(base, cosine):
        return (1 - base) ** 2 / (1 - 2 * base * cosine + base * base)

    for cosine in (Fraction(-1), Fraction(0), Fraction(1, 3), Fraction(1)):
        rest = alone + (1 - alone) * transform(large, cosine)
        assert transform(small, cosine) * rest == transform(large, cosine)


@pytest.mark.parametrize(("noise", "before", "scale"), few(CASES, 5))
def test_the_place_decides_by_the_exact_conditional_law(noise, before, scale):
    """Every place on a fine grid gives a number; the share of places is its probability."""
    with mp.workdps(60):
        b, s = mp.mpf(before), mp.mpf(scale)
        reach = abs(noise) + math.ceil(60 * before)
        weights = joint_weights(mp.exp(-1 / b), mp.exp(-1 / s), noise, reach)
        total = sum(weights.values())
        # In the order of `quantile`: towards the noise, itself, beyond it, beyond 0.
        sign = 1 if noise >= 0 else -1
        order = [sign * k for k in range(reach + 1)] + [-sign * k for k in range(1, reach + 1)]
        below, hair = mp.mpf(0), mp.mpf(10) ** -25
        for value in order:
            share = weights[value] / total
            if share > 10 * hair:
                assert quantile(below + hair, noise, b, s, mp) == value
                assert quantile(below + share / 2, noise, b, s, mp) == value
                assert quantile(below + share - hair, noise, b, s, mp) == value
            below += share
        assert abs(below - 1) < mp.mpf(10) ** -40


@given(
    noise=st.integers(-(10**9), 10**9),
    before=st.floats(1e-2, 1e12),
    part=st.floats(1e-6, 1 - 1e-15),
    # Nearer to 1 a double has no digits left for how far the tail goes.
    uniform=st.floats(0, 1 - 1e-12),
)
def test_doubles_do_for_any_scales_and_noise(noise, before, part, uniform):
    """A rehearsal takes doubles: they end in a number, next to that of many digits."""
    scale = before * part
    if not 0 < scale < before:
        return
    drawn = quantile(uniform, noise, before, scale, math)
    assert isinstance(drawn, int)
    with mp.workdps(80):
        b, s = mp.mpf(before), mp.mpf(scale)
        near = [
            quantile(mp.mpf(min(max(uniform + step, 0.0), 1 - 1e-13)), noise, b, s, mp)
            for step in (-1e-13, 0.0, 1e-13)
        ]
    # Places of one number are next to each other: what lies between two places lies between two
    # numbers of the same order, or at the end of a part of it.
    slack = 1e-6 * max(1.0, *map(abs, near))
    ends = {0, noise}
    assert min(near) - slack <= drawn <= max(near) + slack or drawn in ends


def bits_of(numbers):
    """A bit source that hands out these, then fails."""
    left = list(numbers)

    def bits(count):
        assert count == 128
        return left.pop(0)

    return bits, left


def test_the_bits_are_a_place_and_more_are_read_only_where_they_decide():
    before, scale, noise = 3.0, 1.0, 4
    for place in (0, 1 << 126, 1 << 127, (1 << 128) - (1 << 100)):
        bits, left = bits_of([place, None])
        with mp.workdps(80):
            expected = quantile(mp.mpf(place) / mp.mpf(2) ** 128, noise, mp.mpf(3), mp.mpf(1), mp)
        assert refined(noise, before, scale, bits) == expected
        assert left == [None]


@pytest.mark.parametrize("beyond", [False, True])
def test_at_a_border_further_bits_decide(beyond):
    """The 128 bits in which the border of two numbers lies do not tell; the next ones do."""
    before, scale, noise = 3.0, 1.0, 4
    with mp.workdps(200):
        weights = joint_weights(mp.exp(mp.mpf(-1) / 3), mp.exp(mp.mpf(-1)), noise, 600)
        border = (weights[0] + weights[1]) / sum(weights.values())
        first = int(border * mp.mpf(2) ** 128)
        second = int((border * mp.mpf(2) ** 128 - first) * mp.mpf(2) ** 128)
    step = 1 << 60
    bits, left = bits_of([first, second + (step if beyond else -step)])
    assert refined(noise, before, scale, bits) == (2 if beyond else 1)
    assert not left


def refine_many(source, draws, before, scale, value=0):
    values = np.full(draws, value, dtype=np.int64)
    known = source.discrete_laplace_array(values, before)
    return known, source.refined_laplace_array(values, known, before, scale)


SOURCES = [(SimulatedNoise(3), 20_000), (SecureNoise(), 800)]


@pytest.mark.parametrize(("source", "draws"), SOURCES, ids=["simulated", "secure"])
@pytest.mark.parametrize(("before", "scale"), [(6.0, 2.0), (2.0, 1.5)])
def test_refined_noise_has_the_law_of_the_smaller_scale(source, draws, before, scale):
    """And what it was refined from is the larger one: both against the exact law, by the bound of
    Dvoretzky, Kiefer and Wolfowitz; a factor of 1.5 in the scale is seen."""
    known, drawn = refine_many(source, draws, before, scale, value=17)
    assert distance(drawn - 17, discrete_laplace(scale)) <= distance_allowed(draws, ALARM)
    assert distance(known - 17, discrete_laplace(before)) <= distance_allowed(draws, ALARM)


@pytest.mark.long
@pytest.mark.parametrize(("source", "draws"), SOURCES, ids=["simulated", "secure"])
def test_what_the_first_number_adds_is_independent_of_the_second(source, draws):
    """χ² of (second, difference) in bins of about equal counts; false alarm ALARM.  Planted: noise
    drawn anew is caught, as the difference then holds it."""
    before, scale = 5.0, 2.0

    def p_value(first, second):
        edges = [-2.5, -0.5, 0.5, 2.5]
        table = np.zeros((5, 5))
        places = np.digitize(second, edges), np.digitize(first - second, edges)
        np.add.at(table, places, 1)
        return stats.chi2_contingency(table)[1]

    known, drawn = refine_many(source, draws, before, scale)
    assert p_value(known, drawn) > ALARM
    anew = source.discrete_laplace_array(np.zeros(draws, dtype=np.int64), scale)
    assert p_value(known, anew) < ALARM


def largest_loss(before, scale, law):
    """How much more probable any (first, second) near 0 is from a count of 0 than from one of 1.

    law: weights of the second noise given the first, as `joint_weights`.
    """
    reach, largest = 8, mp.mpf(0)
    large, small = mp.exp(-1 / mp.mpf(before)), mp.exp(-1 / mp.mpf(scale))
    for first in range(-reach, reach + 1):
        probabilities = []
        for count in (0, 1):
            known = first - count
            # What is beyond has less than e⁻⁴⁰ of the weight.
            weights = law(large, small, known, reach + math.ceil(40 * before))
            own = (1 - large) / (1 + large) * large ** abs(known) / sum(weights.values())
            probabilities.append({m + count: own * weight for m, weight in weights.items()})
        for second in range(-reach, reach + 1):
            loss = abs(mp.log(probabilities[0][second] / probabilities[1][second]))
            largest = max(largest, loss)
    return largest


@pytest.mark.long
@pytest.mark.parametrize(("before", "scale"), [(2.0, 1.0), (5.0, 4.0), (1.0, 0.4), (6.0, 2.0)])
def test_both_releases_together_cost_what_the_second_one_costs(before, scale):
    """The exact joint probabilities of (first, second), for a count of 0 and of 1, by the law that
    `quantile` has: none is more than e^(1/scale) times as probable, and some are just that."""
    with mp.workdps(40):
        loss = largest_loss(before, scale, joint_weights)
        assert abs(loss - 1 / mp.mpf(scale)) < mp.mpf(10) ** -12


def test_a_second_release_without_the_atom_would_cost_more():
    """Planted: W without its probability r of being 0 is no longer what the first one adds."""

    def without(large, small, known, reach):
        return {m: small ** abs(m) * large ** abs(known - m) for m in range(-reach, reach + 1)}

    with mp.workdps(40):
        assert largest_loss(2.0, 1.0, without) > 1.01


def test_three_in_a_row_are_as_two():
    """5 to 3 to 2 is as 5 to 2: the rests convolve, in the transform, exactly."""
    scales = [Fraction(9, 10), Fraction(4, 5), Fraction(1, 2)]

    def rest(large, small, cosine):
        alone = small / large * (1 - large) ** 2 / (1 - small) ** 2
        return alone + (1 - alone) * (1 - large) ** 2 / (1 - 2 * large * cosine + large * large)

    for cosine in (Fraction(-1), Fraction(1, 5), Fraction(1)):
        steps = math.prod(rest(a, b, cosine) for a, b in pairwise(scales))
        assert steps == rest(scales[0], scales[-1], cosine)


@pytest.mark.parametrize(
    ("before", "scale"),
    [
        *((1.0, 1.0), (1.0, 2.0), (1.0, 0.0), (1.0, -1.0)),
        *((math.inf, 1.0), (math.nan, 1.0), (1.0, math.nan), (0.0, 0.0)),
    ],
)
def test_scales_that_are_none_or_larger_are_refused(before, scale):
    counts = np.array([1, 2], dtype=np.int64)
    for source in (SimulatedNoise(1), SecureNoise()):
        with pytest.raises(ParameterError, match=says("cannot-refine")):
            source.refined_laplace_array(counts, counts, before, scale)
    with pytest.raises(ParameterError, match=says("refined-scale-not-smaller")):
        refined(3, before, scale, lambda count: 0)


def test_the_numbers_stay_apart_and_known_ones_as_they_are():
    """Each number is refined by its own noise; no array is changed in place."""
    values = np.array([0, 1_000, -500], dtype=np.int64)
    known = np.array([3, 990, -480], dtype=np.int64)
    before = values.copy(), known.copy()
    for source in (SimulatedNoise(5), SecureNoise()):
        drawn = source.refined_laplace_array(values, known, 10.0, 0.01)
        # Noise of scale 0.01 is 0 but with probability 2e⁻¹⁰⁰; of the known noise it is less.
        assert drawn.tolist() == values.tolist()
        assert (values == before[0]).all()
        assert (known == before[1]).all()
