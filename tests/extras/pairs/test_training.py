"""What one training record can do to the scores, and releases that hide it (training_side.md).

A training record acts by moving every residual by at most a shift, so neighbours are residuals
and the same residuals moved by anything up to it.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.errors import ParameterError
from privcore.extras.pairs import scores
from privcore.extras.pairs.propose_test_release import intervals_around
from privcore.privacy.mechanisms import SimulatedNoise
from tests.examples import examples
from tests.messages import says

value = st.one_of(st.floats(-2, 2), st.sampled_from([-2.0, -0.5, 0.0, 0.5, 2.0]))
shifts = st.sampled_from([1e-4, 0.01, 0.1, 1.0])


@st.composite
def neighbours(draw, least=2):
    """Test inputs, residuals, those moved by a training record, and the shift."""
    m = draw(st.integers(least, 20))
    shift = draw(shifts)
    residuals = np.array(draw(st.lists(value, min_size=m, max_size=m)))
    steps = np.array(draw(st.lists(st.floats(-1, 1), min_size=m, max_size=m)))
    inputs = np.array(draw(st.lists(st.floats(-1, 1), min_size=m, max_size=m)))
    return inputs, residuals, np.clip(residuals + shift * steps, -2, 2), shift


def kernel_score(name, inputs, residuals, width):
    score = scores.hsic if name == "hsic" else scores.hsic_root
    return score(inputs, residuals, 0.3, width, 1.0, 2.0)


@pytest.mark.parametrize("name", ["hsic", "hsic-root"])
@settings(max_examples=examples(200))
@given(drawn=neighbours(), width=st.sampled_from([0.05, 0.2, 1.0]))
def test_kernel_scores_keep_to_their_training_sensitivity(name, drawn, width):
    inputs, before, after, shift = drawn
    change = abs(
        kernel_score(name, inputs, before, width) - kernel_score(name, inputs, after, width)
    )
    for calibration in ("proven", "published")[: 1 + (name == "hsic")]:
        bound = scores.training_sensitivity(name, before.size, width, shift, calibration)
        assert change <= bound + 1e-9


@pytest.mark.parametrize(("name", "share"), [("hsic", 0.3), ("hsic-root", 0.5)])
def test_two_groups_that_move_apart_come_near_the_sensitivity(name, share):
    """Half of the residuals up, half down, in step with the input."""
    inputs = np.repeat([-1.0, 1.0], 50)
    side, width, shift = np.repeat([-1.0, 1.0], 50), 0.2, 0.01
    worst = 0.0
    for start in np.linspace(0, 0.4, 81):
        before, after = side * start, side * (start + shift)
        change = abs(
            kernel_score(name, inputs, before, width) - kernel_score(name, inputs, after, width)
        )
        bound = scores.training_sensitivity(name, 100, width, shift, "proven")
        worst = max(worst, change / bound)
    assert share < worst <= 1


def test_the_published_sensitivity_is_far_larger():
    proven, published = (
        scores.training_sensitivity("hsic", 1_000, 0.1, 0.01, c) for c in ("proven", "published")
    )
    assert published / proven == pytest.approx(32 * math.sqrt(1_000), rel=0.01)
    with pytest.raises(ParameterError, match=says("no-training-constant", calibration="published")):
        scores.training_sensitivity("hsic-root", 10, 0.1, 0.01, "published")
    with pytest.raises(ParameterError, match=says("no-training-constant", score="kendall")):
        scores.training_sensitivity("kendall", 10, 0.1, 0.01, "proven")


@settings(max_examples=examples(300))
@given(drawn=neighbours())
def test_the_distance_of_ranks_changes_by_at_most_one_in_training_records(drawn):
    _, before, after, shift = drawn
    # A shift a little larger than the one used, as differences of floats round.
    one, other = (scores.rank_distance(r, shift * 1.0001, "proven") for r in (before, after))
    assert abs(one - other) <= 1


@settings(max_examples=examples(300))
@given(drawn=neighbours())
def test_ranks_stay_while_the_distance_is_above_zero(drawn):
    inputs, before, after, shift = drawn
    if scores.rank_distance(before, shift * 1.0001, "proven") > 0:
        assert scores.kendall(inputs, before) == scores.kendall(inputs, after)
        assert scores.spearman(inputs, before) == scores.spearman(inputs, after)


def test_the_published_distance_counts_the_step_at_which_two_residuals_meet():
    """Gap 2·shift: one record can make a tie, so the distance must be 0 and not 1."""
    before, after, inputs = np.array([0.0, 0.5]), np.array([0.25, 0.25]), np.array([0.0, 1.0])
    assert scores.kendall(inputs, before) != scores.kendall(inputs, after)
    assert scores.rank_distance(before, 0.25, "proven") == 0
    assert scores.rank_distance(before, 0.25, "published") == 1


def test_the_distance_is_not_private_for_test_records():
    """The published claim's flaw: one *test* record moves it without bound."""
    spread = np.linspace(-1, 1, 11)
    tied = np.concatenate((spread[:-1], [spread[0]]))
    shift = 1e-5
    assert scores.rank_distance(spread, shift, "published") == 9_999
    assert scores.rank_distance(tied, shift, "published") == 0


def test_the_exact_score_is_not_private_for_test_records():
    """Where it is stable it is released as it is, and one test record changes it."""
    inputs = np.linspace(-1, 1, 11)
    residuals = np.linspace(-2, 2, 11)
    other = residuals.copy()
    other[0] = 1.7
    released = [
        scores.stable_release(
            scores.kendall(inputs, r),
            scores.rank_distance(r, 1e-4, "proven"),
            1.0,
            1e-6,
            SimulatedNoise(1),
        )
        for r in (residuals, other)
    ]
    assert released[0] == 1.0
    assert released[1] < 0.8


@pytest.mark.parametrize("residuals", [np.zeros(5), np.array([1.0, -1.0, 1.0])])
def test_ties_have_no_distance(residuals):
    for calibration in ("proven", "published"):
        assert scores.rank_distance(residuals, 1e-9, calibration) == 0


def test_huge_distances_stay_whole_numbers():
    assert scores.rank_distance(np.array([-2.0, 2.0]), 1e-300, "proven") == 10**9 - 1
    assert scores.shifts_to_leave(1.3, 1e-300, (0.0, 1.0)) == 10**9


@pytest.mark.parametrize("distance", [0, 3, 14])
def test_stable_releases_happen_as_often_as_they_should(distance):
    """P(d + Lap(1/ε) > ln(1/δ)/ε); 20,000 runs, five standard errors (false alarm 6e-7)."""
    epsilon, delta, runs = 0.5, 1e-2, 20_000
    noise = SimulatedNoise(5)
    found = [scores.stable_release(0.3, distance, epsilon, delta, noise) for _ in range(runs)]
    beyond = math.log(1 / delta) - epsilon * distance
    expected = 0.5 * math.exp(-beyond) if beyond > 0 else 1 - 0.5 * math.exp(beyond)
    share = sum(f is not None for f in found) / runs
    assert abs(share - expected) <= 5 * math.sqrt(expected * (1 - expected) / runs) + 1e-9
    assert set(found) <= {0.3, None}


def test_an_unstable_score_is_released_with_half_of_delta():
    """Distance 0, which every data set has that one record can change: P = δ/2 ≤ δ."""
    for epsilon in (0.01, 1.0, 20.0):
        threshold = scores.stable_threshold(epsilon, 1e-3)
        assert 0.5 * math.exp(-epsilon * threshold) == pytest.approx(5e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0.1), (np.nan, 0.1), (1, 0), (1, 1.0)])
def test_thresholds_need_a_budget(epsilon, delta):
    with pytest.raises(ParameterError):
        scores.stable_threshold(epsilon, delta)


@settings(max_examples=examples(300))
@given(drawn=neighbours())
def test_ranges_move_by_at_most_two_shifts(drawn):
    _, before, after, shift = drawn
    moved = abs(scores.iqr_of(before) - scores.iqr_of(after))
    assert moved <= scores.iqr_shift(shift) + 1e-12


def test_two_shifts_are_attained():
    before = np.repeat([-0.5, 0.5], 10)
    moved = scores.iqr_of(1.2 * before) - scores.iqr_of(before)
    assert moved == pytest.approx(scores.iqr_shift(0.1))


def test_the_range_is_that_of_the_score():
    for seed in range(20):
        values = np.random.default_rng(seed).uniform(-2, 2, seed + 2)
        assert scores.floored_log(scores.iqr_of(values)) == scores.log_iqr(values)


@settings(max_examples=examples(400))
@given(drawn=neighbours())
def test_the_distance_of_a_range_fits_propose_test_release(drawn):
    """It changes by at most 1 within an interval, and is at most 1 if a neighbour leaves it."""
    _, before, after, shift = drawn
    ranges = [scores.iqr_of(r) for r in (before, after)]
    logs = [scores.floored_log(r) for r in ranges]
    for low, high in (*intervals_around(logs[0]), *intervals_around(logs[1])):
        distances = [scores.shifts_to_leave(r, shift * 1.0001, (low, high)) for r in ranges]
        inside = [low <= each < high for each in logs]
        if all(inside):
            assert abs(distances[0] - distances[1]) <= 1
        else:
            assert max(distances) <= 1
        for distance, held in zip(distances, inside, strict=True):
            assert held or distance == 0


def test_the_floor_of_the_logarithm_is_never_left_downwards():
    low = intervals_around(scores.floored_log(0.0))[0]
    room = math.exp(low[1]) - scores.LEAST_IQR
    assert scores.shifts_to_leave(0.0, room / 20, low) == 10


def test_a_noisy_range_has_its_scale():
    noise = SimulatedNoise(3)
    draws = np.array([scores.noisy_iqr(1.0, 0.01, 0.5, noise) for _ in range(20_000)]) - 1.0
    # Mean |Lap(0.04)|: 0.04 with standard error 0.0003.
    assert abs(np.abs(draws).mean() - 0.04) < 0.002
