"""Audits of mechanisms of which everything is known, and false alarms."""

import math
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import binom

from privcore.errors import Cancelled, DataError, ParameterError
from privcore.extras.audits import (
    AUDITS,
    MECHANISMS,
    PAIRWISE,
    PLANTED,
    RELEASES,
    UNITS,
    audit,
    runs_to_catch,
    simulate,
)
from privcore.extras.audits.case import Outputs
from privcore.extras.audits.claims import randomised_response
from tests.messages import says

RESPONSE = MECHANISMS["randomised-response"]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_randomised_response_is_shown_nearly_all_of_its_epsilon(epsilon, seed):
    """Exactly ε: at least 80 % of it is shown, never more."""
    result = audit(RESPONSE, epsilon=epsilon, runs=100_000, seed=seed)
    assert 0.8 * epsilon < result.epsilon_lower <= epsilon
    assert result.verdict == "not violated"
    assert result.ratio == result.epsilon_lower / epsilon


def test_delta_is_taken_off():
    """Exactly (½, 0.1): a record is revealed in one run of ten."""
    trial = randomised_response(0.5, 0.1)
    exact = replace(RESPONSE, make=lambda epsilon, delta: trial)
    claims = {
        delta: [audit(exact, epsilon=0.5, delta=delta, runs=40_000, seed=s) for s in range(8)]
        for delta in (0.1, 0.09, 0.0)
    }
    assert all(r.verdict == "not violated" for r in claims[0.1])
    assert all(r.epsilon_lower > 0.4 for r in claims[0.1])
    # A hundredth of the runs less, and the outputs that reveal a record can no longer be excused.
    assert all(r.verdict == "violated" for r in claims[0.09])
    assert all("reveals" in r.event for r in claims[0.0])
    assert all(r.epsilon_lower > 5 for r in claims[0.0])


def test_gaussian_noise_is_bounded_at_its_delta():
    """Its exact curve: no more than ε at the δ it was made for, and more at a smaller one."""
    gaussian = MECHANISMS["gaussian"]
    at_delta = audit(gaussian, epsilon=1.0, delta=0.05, runs=100_000)
    assert 0.85 < at_delta.epsilon_lower <= 1
    trial = gaussian.make(1.0, 0.05)
    pure = replace(gaussian, make=lambda epsilon, delta: trial)
    assert audit(pure, epsilon=1.0, delta=0.0, runs=100_000).verdict == "violated"


def test_false_alarms_are_as_rare_as_stated():
    """400 audits of a mechanism that uses all of its ε, at 95 %: at most a binomial's worth.

    Fails with probability below 1e-6 if each has a false-alarm rate of 5 %; it is less, since both
    bounds of the best event must be nearly wrong.  Without bounds half of them would be alarms.
    """
    results = [audit(MECHANISMS["laplace"], runs=1000, seed=seed) for seed in range(400)]
    flagged = sum(result.verdict == "violated" for result in results)
    assert flagged <= binom.ppf(1 - 1e-6, 400, 0.05)
    plain = [
        math.log(max(r.events[0].hits, 1) / max(r.events[0].other_hits, 1)) > 1 for r in results
    ]
    assert 100 < sum(plain) < 300


@pytest.mark.long
def test_the_result_follows_from_the_seed_whatever_the_processes():
    results = [audit(RESPONSE, runs=80_000, seed=7, processes=k) for k in (1, 3)]
    assert results[0].events == results[1].events
    assert audit(RESPONSE, runs=80_000, seed=8).events != results[0].events


@pytest.mark.parametrize("cases", [AUDITS, MECHANISMS, PAIRWISE, PLANTED, RELEASES, UNITS])
def test_every_trial_can_be_sent_to_another_process(cases):
    for case in cases.values():
        pickle.dumps(case.make(case.epsilon, case.delta))


def test_batches_have_noise_of_their_own():
    one, other = simulate(MECHANISMS["laplace"].make(1.0, 0.0), 20_000, seed=1)
    numbers = np.concatenate((one.numbers[:, 0], other.numbers[:, 0] - 1))
    assert np.unique(np.round(numbers, 12)).size == 40_000


def test_progress_and_cancelling():
    told = []

    def progress(done, total):
        told.append((done, total))

    simulate(RESPONSE.make(1.0, 0.0), 12_000, 1, progress=progress)
    assert told == [(n, 24_000) for n in (5000, 10_000, 15_000, 20_000, 22_000, 24_000)]
    with pytest.raises(Cancelled):
        audit(RESPONSE, runs=12_000, cancelled=lambda: True)


@pytest.mark.long
def test_other_processes_are_cancelled_too():
    with pytest.raises(Cancelled):
        audit(RESPONSE, runs=80_000, processes=2, cancelled=lambda: True)


@dataclass(frozen=True)
class Refusing:
    """Runs that end with an error, as those of an algorithm on unfit data would."""

    batch: int = 10

    def __call__(self, side, runs, noise):
        if side == 1:
            raise DataError("There are no rows.")
        return Outputs.of_numbers(["x"], np.zeros((runs, 1)))


def test_what_a_run_raises_is_raised_here():
    with pytest.raises(DataError, match=says("no-rows-to-draw")):
        simulate(Refusing(), 100, 1)


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"runs": 10}, "runs"),
        ({"confidence": 1}, "confidence"),
        ({"processes": 0}, "processes"),
        ({"seed": -1}, "seed"),
    ],
)
def test_values_out_of_range_are_refused(asked, word):
    with pytest.raises(ParameterError, match=word):
        audit(RESPONSE, **asked)


def test_a_claim_that_cannot_be_made_is_refused():
    with pytest.raises(ParameterError, match=says("gaussian-needs-delta")):
        audit(MECHANISMS["gaussian"], delta=0.0)


def test_results_as_json():
    result = audit(RESPONSE, runs=4000)
    described = result.as_dict()
    assert described["claim"] == {"epsilon": 1.0, "delta": 0.0}
    assert described["events"][0]["words"] == described["event"]
    # Nothing is more informative than an output that only one of the data sets has.
    leak = replace(RESPONSE, make=lambda epsilon, delta: randomised_response(1.0, 0.999))
    assert audit(leak, runs=4000).epsilon_lower == pytest.approx(result.most_visible, abs=0.5)


def test_doubling_the_runs_until_caught():
    caught = runs_to_catch(PLANTED["half-noise"], seed=1)
    assert caught.verdict == "violated"
    assert caught.runs < 4000
    assert 1 - caught.confidence == pytest.approx(0.05 / 11)
    assert caught.seed == 1 + int(math.log2(caught.runs / 250))
    missed = runs_to_catch(MECHANISMS["laplace"], first=250, most=1000)
    assert (missed.verdict, missed.runs) == ("not violated", 1000)
