"""The numbers that algorithms release show most of their claim, and never more.

Seeds are fixed, and right noise is called a violation with probability at most 5 % for each row,
over seeds (measured: 0.2 %, docs/guarantees.md).
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from privcore.errors import ParameterError
from privcore.extras.audits import RELEASES, audit
from privcore.extras.audits.release_trial import Listening, ReleaseTrial
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import gaussian_mu
from tests.examples import few

# Those of which only the noise is drawn, so that they take a second at most.
QUICK = [name for name in RELEASES if name != "sg-pc-sub-samples"]


@pytest.mark.parametrize("name", few(QUICK, 6))
def test_most_of_epsilon_is_shown_and_never_more(name):
    result = audit(RELEASES[name])
    assert result.epsilon == 1.0
    assert result.verdict == "not violated"
    assert result.epsilon_lower >= 0.8


class Halved:
    """A noise source of which every scale is half of the requested one."""

    def __init__(self, noise):
        self._noise = noise

    def __getattr__(self, name):
        method = getattr(self._noise, name)
        if not name.endswith("_array"):
            return method
        return lambda values, scale: method(values, 0.5 * scale)


def with_half_noise(algorithm):
    return replace(algorithm, run=lambda run: algorithm.run(replace(run, noise=Halved(run.noise))))


@dataclass
class WithHalfNoise:
    """A trial whose code requires the right scale, and whose source draws half of it."""

    trial: ReleaseTrial

    @property
    def batch(self):
        return self.trial.batch

    def __call__(self, side, runs, noise):
        return self.trial(side, runs, Halved(noise))


@pytest.mark.parametrize("name", few(QUICK, 6))
def test_half_noise_is_caught_in_all(name):
    case = RELEASES[name]
    planted = replace(case, make=lambda e, d: WithHalfNoise(case.make(e, d)))
    assert audit(planted, runs=4000, confidence=0.999).verdict == "violated"


@pytest.mark.long
@pytest.mark.parametrize("name", QUICK)
def test_the_pair_uses_what_the_plan_allows(name):
    """On every path the losses of all releases add up to the claim or a little less."""
    case = RELEASES[name]
    trial = case.make(1.0, case.delta)
    for path in trial._paths:
        apart = [np.abs(a.exact - b.exact) / a.scale for a, b in path]
        assert all(a.scale == b.scale for a, b in path)
        if case.delta > 0:
            mu = float(np.sqrt(sum((shift**2).sum() for shift in apart)))
            allowed = gaussian_mu(1.0, case.delta)
            assert 0.93 * allowed < mu <= allowed * (1 + 1e-9)
        else:
            assert 0.94 < float(sum(shift.sum() for shift in apart)) <= 1 + 1e-9


def test_a_listener_hears_what_the_run_is_given():
    listening = Listening(SimulatedNoise(4))
    given = np.array([1.0, 2.0])
    noisy = listening.gaussian_array(given, 3.0)
    assert noisy.tolist() == SimulatedNoise(4).gaussian_array(given, 3.0).tolist()
    (step,) = listening.released
    assert (step.method, step.scale) == ("gaussian_array", 3.0)
    assert (step.exact.tolist(), step.noisy.tolist()) == (given.tolist(), noisy.tolist())
    again = Listening(SimulatedNoise(9), listening.released)
    assert again.gaussian_array(given + 1, 3.0).tolist() == noisy.tolist()
    assert listening.kind == "simulated"
    assert isinstance(listening.coin(), bool)
    assert len(listening.released) == 1


def test_a_claim_that_the_release_cannot_make_is_refused():
    with pytest.raises(ParameterError, match="delta"):
        RELEASES["moment-search-pair-counts"].make(1.0, 0.0)
