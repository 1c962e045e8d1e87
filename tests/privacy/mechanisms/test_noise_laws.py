"""Every method of both noise sources has the distribution that proofs are about.

`laws.py` says how; all comparisons of one source together call right draws wrong with probability
below one in a billion.  Draws of the secure source are new in every run.
"""

import math

import numpy as np
import pytest

from privcore.privacy.mechanisms import NoiseSource, SecureNoise, SimulatedNoise
from tests.messages import says
from tests.privacy.mechanisms import laws

ALARM = 1e-9


def methods():
    """All that a noise source can draw."""
    return {name for name in vars(NoiseSource) if callable(vars(NoiseSource)[name])} - {
        name for name in vars(NoiseSource) if name.startswith("_")
    }


def test_every_method_has_a_check():
    assert set(laws.CHECKS) == methods()


@pytest.mark.unseeded
@pytest.mark.parametrize("method", laws.CHECKS)
def test_secure_noise_has_its_law(method):
    laws.CHECKS[method](SecureNoise())


def test_simulated_noise_has_its_law_and_alarms_are_rarer_than_one_in_a_billion():
    assert laws.comparisons(SimulatedNoise(3)) * laws.ALARM_EACH < ALARM


class Wrong(SimulatedNoise):
    """Noise at another scale, off its centre, or cut off in its tails, in one method."""

    def __init__(self, method, scale=1.0, shift=0.0, cut=math.inf):
        super().__init__(11)
        right = getattr(self, method)

        def wrong(values, noise_scale, *more):
            out = right(values, noise_scale * scale, *more)
            if more:
                return out
            whole = "discrete" in method
            moved = max(1, round(shift * noise_scale)) if whole and shift else shift * noise_scale
            noise = np.clip(out - values, -cut * noise_scale, cut * noise_scale) + moved
            return values + (noise.astype(np.int64) if whole else noise)

        setattr(self, method, wrong)


NUMBERS = [case.method for case in laws.NUMBERS]


@pytest.mark.parametrize("method", [*NUMBERS, "noisy_max"])
@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_half_or_double_scale_is_seen(method, scale):
    with pytest.raises(AssertionError):
        laws.CHECKS[method](Wrong(method, scale=scale))


@pytest.mark.parametrize("method", [name for name in NUMBERS if name.endswith("array")])
@pytest.mark.parametrize("scale", [0.8, 1.25])
def test_a_quarter_more_is_seen(method, scale):
    with pytest.raises(AssertionError):
        laws.CHECKS[method](Wrong(method, scale=scale))


@pytest.mark.parametrize("method", NUMBERS)
def test_a_shifted_centre_is_seen(method):
    with pytest.raises(AssertionError):
        laws.CHECKS[method](Wrong(method, shift=0.15))


@pytest.mark.parametrize("method", NUMBERS)
def test_a_cut_tail_is_seen(method):
    """At three scales of Laplace noise, and at two and a half of normal noise."""
    with pytest.raises(AssertionError):
        laws.CHECKS[method](Wrong(method, cut=2.5 if "gaussian" in method else 3.0))


@pytest.mark.parametrize("case", laws.NUMBERS, ids=NUMBERS)
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_half_or_double_scale_is_seen_in_all_but_one_of_ten_thousand_runs(case, factor):
    """Computed, not drawn: the laws are further apart than both may stray from draws."""
    draws = laws.CALLS if case.method == "laplace" else laws.DRAWS
    scale = case.scales[-1]
    right, wrong = case.law(scale), case.law(factor * scale)
    places = np.linspace(-3, 3, 601) * scale
    apart = np.abs(right.cdf(places) - wrong.cdf(places)).max()
    assert apart > laws.distance_allowed(draws) + laws.distance_allowed(draws, laws.MISS)


def test_a_sub_sample_or_a_shuffle_that_is_used_again_is_seen():
    class Again(SimulatedNoise):
        def __init__(self):
            super().__init__(5)
            self.kept = {}

        def _twice(self, what, fresh):
            # Every second call gives what the one before it gave.
            kept = self.kept.pop(what, None)
            if kept is None:
                kept = self.kept[what] = fresh()
            return kept

        def subsample(self, multiplicities, size):
            return self._twice("s", lambda: SimulatedNoise.subsample(self, multiplicities, size))

        def permutation(self, size):
            return self._twice("o", lambda: SimulatedNoise.permutation(self, size))

    for method in ("subsample", "permutation"):
        with pytest.raises(AssertionError, match=says("draws-differ")):
            laws.CHECKS[method](Again())


def test_an_array_with_one_draw_for_all_numbers_is_seen():
    class Shared(SimulatedNoise):
        def gaussian_array(self, values, sigma):
            return values + super().gaussian_array(np.zeros(1), sigma)

    with pytest.raises(AssertionError):
        laws.CHECKS["gaussian_array"](Shared(1))
