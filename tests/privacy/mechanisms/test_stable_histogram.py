"""Only values of many rows are shown, and what is shown keeps to its ρ and δ."""

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from privcore.errors import ParameterError
from privcore.privacy.accounting.composition import zcdp
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.selection import StableHistogram
from tests.messages import raises_code
from tests.privacy.mechanisms.laws import discrete_gaussian


def tail(m, sigma):
    """P(N ≥ m) of discrete Gaussian noise, by summing its law."""
    law = discrete_gaussian(max(sigma, 0.1))
    # Beyond the grid of `laws` there is less than 1e-31.
    k = np.arange(max(m, -law.reach), law.reach + 1)
    return float(law.pmf(k).sum()) if k.size else 0.0


@pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.05, 1.0, 30.0])
@pytest.mark.parametrize("delta", [0.2, 1e-3, 1e-8, 1e-15])
def test_a_value_of_one_row_is_shown_with_at_most_its_delta(rho, delta):
    histogram = StableHistogram.proven(rho, delta)
    assert 2 / (2 * histogram.sigma**2) <= rho
    shown = tail(histogram.threshold - 1, histogram.sigma)
    assert shown <= delta
    # And the threshold is no larger than it takes, up to three rows.
    assert tail(histogram.threshold - 4, histogram.sigma) > delta


class Noted(SimulatedNoise):
    """Notes what gets noise; `outputs` are given in its place."""

    def __init__(self, outputs=None):
        super().__init__(1)
        self.outputs = outputs

    def discrete_gaussian_array(self, values, sigma):
        self.values, self.sigma = values, sigma
        return values if self.outputs is None else np.array(self.outputs)


def chances(histogram, rows):
    """The exact probability of every list of shown values, from what gets noise."""
    names = sorted(set(rows))
    noise = Noted()
    histogram.shown({name: rows.count(name) for name in names}, noise)
    single = [tail(histogram.threshold - count, noise.sigma) for count in noise.values.tolist()]
    found = {}
    for pattern in product((True, False), repeat=len(names)):
        shown = tuple(name for name, yes in zip(names, pattern, strict=True) if yes)
        found[shown] = math.prod(
            p if yes else 1 - p for p, yes in zip(single, pattern, strict=True)
        )
    return found


def divergence(one, other, epsilon):
    """The δ that it takes at ε, exactly."""
    return math.fsum(max(p - math.exp(epsilon) * other.get(o, 0.0), 0.0) for o, p in one.items())


def test_exact_loss_on_all_small_neighbours():
    """All tables of up to nine rows of three values, and every replacement of a row."""
    histogram = StableHistogram.proven(1.0, 0.01)
    claims = [(zcdp(1.0, delta), delta + 0.01) for delta in (1e-3, 0.01, 0.1)]
    laws = {
        rows: chances(histogram, rows)
        for n in (2, 5, 9)
        for rows in combinations_with_replacement("abc", n)
    }
    worst = 0.0
    for rows, law in laws.items():
        for place, value in product(range(len(rows)), "abc"):
            other = tuple(sorted((*rows[:place], value, *rows[place + 1 :])))
            for epsilon, delta in claims:
                assert divergence(law, laws[other], epsilon) <= delta
            worst = max(worst, divergence(law, laws[other], 1.0))
    # The test has something to see: at ε = 1 some neighbours need a δ.
    assert worst > 0.01


def test_what_is_shown_are_the_noisy_counts_at_the_threshold_and_above():
    histogram = StableHistogram.proven(1.0, 0.01)
    limit = histogram.threshold
    noise = Noted([limit - 1, limit, limit + 1])
    for counts in ((9, 1, 2), (1, 10**6, 1), (limit, limit, limit)):
        given = dict(zip("cab", counts, strict=True))
        assert histogram.shown(given, noise) == {"b": limit, "c": limit + 1}
        assert noise.values.tolist() == [given[name] for name in "abc"]


def test_no_values_are_no_histogram():
    assert StableHistogram.proven(1.0, 0.01).shown({}, SimulatedNoise(1)) == {}


@pytest.mark.parametrize(("rho", "delta"), [(0.0, 0.1), (math.inf, 0.1), (1.0, 0.0), (1.0, 0.5)])
def test_impossible_ones_are_refused(rho, delta):
    with raises_code(ParameterError, "histogram-needs-budget"):
        StableHistogram.proven(rho, delta)
