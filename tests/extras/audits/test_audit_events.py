"""How events are found: what is learned, chosen and tested from which runs."""

import numpy as np
import pytest

from privcore.extras.audits.case import Outcome, Outputs, joined
from privcore.extras.audits.events import MOST_EVENTS, find_events
from privcore.extras.audits.statistics import BinnedRatio, Linear, OutcomeRatio

RUNS = 8000
EDGE = Outcome("b", (("edges", 1.0),))


def normal(seed, mean, covariance=None):
    generator = np.random.default_rng(seed)
    covariance = np.eye(len(mean)) if covariance is None else covariance
    numbers = generator.multivariate_normal(mean, covariance, RUNS)
    return Outputs.of_numbers([f"x{k}" for k in range(len(mean))], numbers)


def drawn(seed, probabilities):
    codes = np.random.default_rng(seed).choice(len(probabilities), RUNS, p=probabilities)
    outcomes = [Outcome(f"graph {k}", (("edges", float(k)),)) for k in range(len(probabilities))]
    return Outputs.of_outcomes(outcomes, codes)


def test_outputs_of_batches_are_merged_by_their_words():
    first = Outputs.of_outcomes([EDGE, Outcome("a")], np.array([0, 1, 0]))
    second = Outputs.of_outcomes([Outcome("c"), EDGE], np.array([1, 0]))
    both = joined([first, second])
    assert [both.outcomes[k].words for k in both.codes] == ["b", "a", "b", "b", "c"]
    assert both.feature("edges").tolist() == [1, 0, 1, 1, 0]
    assert both.feature("unheard of").tolist() == [0] * 5
    assert joined([second, first]).outcomes == both.outcomes


def test_runs_that_are_all_alike_show_nothing():
    one = Outputs.of_numbers(["x"], np.ones((RUNS, 1)))
    assert find_events(one, one, 0.0, 0.95) == ()


def test_the_second_half_only_tests():
    """Whatever it says, the events and their number are those of the first half."""
    one, other = drawn(1, [0.5, 0.3, 0.2]), drawn(2, [0.2, 0.3, 0.5])
    flipped = drawn(3, [0.2, 0.3, 0.5]), drawn(4, [0.5, 0.3, 0.2])
    half = RUNS // 2
    mixed = [
        joined([before.part(0, half), after.part(half, RUNS)])
        for before, after in zip((one, other), flipped, strict=True)
    ]
    before, after = find_events(one, other, 0.0, 0.95), find_events(*mixed, 0.0, 0.95)
    assert {(e.words, e.favours) for e in before} == {(e.words, e.favours) for e in after}
    assert before[0].epsilon_lower > 0.6
    assert all(event.epsilon_lower == 0 for event in after)
    assert all(event.runs == half for event in before)


def test_counts_are_those_of_the_second_half():
    one, other = drawn(1, [0.9, 0.1]), drawn(2, [0.1, 0.9])
    event = find_events(one, other, 0.0, 0.95)[0]
    sides = {"D": (one, other), "D′": (other, one)}[event.favours]
    wanted = 0 if event.favours == "D" else 1
    counts = [int((side.codes[RUNS // 2 :] == wanted).sum()) for side in sides]
    assert [event.hits, event.other_hits] == counts


def test_few_events_share_the_confidence():
    one = normal(1, (0.0, 0.0))
    other = normal(2, (1.0, 0.5))
    events = find_events(one, other, 0.0, 0.95)
    assert 1 < len(events) <= MOST_EVENTS
    assert len({event.family for event in events}) == len(events)
    # A bound of so many standard errors, each with an equal share of the 5 %.
    event = events[0]
    share = event.hits / event.runs
    error = (share - event.low) / np.sqrt(share * (1 - share) / event.runs)
    quantile = {2: 2.24, 3: 2.39}[len(events)]
    assert error == pytest.approx(quantile, abs=0.1)


def test_a_difference_that_only_numbers_together_show_is_learned():
    """Each number hardly moves, but their difference is nearly exact."""
    covariance = np.array([[1.0, 0.9999], [0.9999, 1.0]])
    one, other = normal(1, (0.0, 0.0), covariance), normal(2, (0.05, -0.05), covariance)
    score = Linear.learned(one, other)
    assert score is not None
    assert score.weights[0] == pytest.approx(-score.weights[1], rel=0.02)
    assert find_events(one, other, 0.0, 0.95)[0].epsilon_lower > 4


def test_noise_of_another_size_is_learned():
    """The same mean: no threshold on the number tells as much as the union of both its tails."""
    narrow, wide = normal(1, (0.0,)), normal(2, (0.0,), np.array([[9.0]]))
    events = find_events(narrow, wide, 0.0, 0.95)
    assert events[0].family == "score"
    assert events[0].epsilon_lower > 1.5


def test_learned_scores_are_log_ratios():
    one, other = drawn(1, [0.5, 0.3, 0.2]), drawn(2, [0.2, 0.3, 0.5])
    ratios = OutcomeRatio.learned(one, other).ratios
    assert ratios["graph 0"] == pytest.approx(np.log(2.5), abs=0.15)
    assert ratios["graph 1"] == pytest.approx(0, abs=0.15)
    one, other = normal(1, (0.0,)), normal(2, (1.0,))
    score = BinnedRatio.learned(one, other)
    assert score is not None
    at = Outputs.of_numbers(["x0"], np.array([[0.5], [-1.0], [2.0]]))
    # The log-ratio of the densities is ½ − x.
    assert score.values(at) == pytest.approx([0.0, 1.5, -1.5], abs=0.4)


def test_outputs_that_never_come_twice_do_no_harm():
    """Each run has a graph of its own, and a number that tells."""
    runs = np.arange(RUNS)
    sides = []
    for side in (0, 1):
        numbers = np.random.default_rng(side).normal(side, 1, (RUNS, 1))
        outcomes = [Outcome(f"{side} {k}") for k in runs]
        sides.append(Outputs.of_outcomes(outcomes, runs, ["x"], numbers))
    event = find_events(*sides, 0.0, 0.95)[0]
    assert event.family in ("number", "score")
    assert event.epsilon_lower > 0.8
