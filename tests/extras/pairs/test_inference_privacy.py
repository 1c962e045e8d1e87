"""What a direction costs, and on whose behalf: runs on neighbours, fed the same noise."""

import math
from itertools import product

import numpy as np
import pytest

from privcore.extras.pairs import check_parameters, infer, split
from privcore.privacy.mechanisms import SimulatedNoise
from tests.examples import few
from tests.extras.pairs.configurations import PROVEN, SCORES, pair_of
from tests.transcripts import Recorder, Replay


def losses(one, other, parameters, seed):
    """What each noisy step could tell of two pairs, in ε, and both results.

    A selection by permute-and-flip with noise of scale s tells at most 2/s per unit of utility.
    """
    first = Recorder(seed)
    before = infer(one, parameters, noise=first)
    second = Replay(first.calls)
    after = infer(other, parameters, noise=second)
    assert len(first.calls) == len(second.calls)
    told = []
    for (what, value, scale, _), (_, there, _, _) in zip(first.calls, second.calls, strict=True):
        if what == "laplace":
            told.append(float(np.abs(value - there).sum()) / scale)
        elif what != "permutation":
            told.append(2 * float(np.abs(value - there).max()) / scale)
    return told, before, after


def replaced(pair, position, record):
    x, y = pair.x.copy(), pair.y.copy()
    x[position], y[position] = record
    return pair_of(x, y)


EXTREMES = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (0.1, 0.3)]


def covered_positions(pair, parameters, seed, count):
    """Positions of protected records of the run with that seed, and of the others."""
    values = check_parameters(parameters)
    drawn = split(pair, values, SimulatedNoise(seed))
    train, test = list(drawn.train[:count]), list(drawn.test[:count])
    return {"both": (train + test, []), "test": (test, train), "training": (train, test)}[
        values["protects"]
    ]


# Propose-test-release is not an addition of steps: its own tests do that (test_iqr.py).
ADDITIVE = [p for p in PROVEN if p["score"] != "iqr-ptr"]


@pytest.mark.parametrize("parameters", few(ADDITIVE, 5))
def test_a_protected_record_is_told_by_at_most_epsilon(small, parameters):
    """The second run is fed the first one's noisy outputs, so both must end alike."""
    for seed, epsilon in product(range(2), (0.2, 5.0)):
        asked = {**parameters, "epsilon": epsilon}
        covered, _ = covered_positions(small, asked, seed, 3)
        for position, record in product(covered, EXTREMES):
            told, before, after = losses(small, replaced(small, position, record), asked, seed)
            assert sum(told) <= epsilon * (1 + 1e-9)
            if parameters["protects"] == "both":
                assert before.decision == after.decision
                assert [r.released for r in before.releases] == [r.released for r in after.releases]


@pytest.mark.parametrize("protects", ["both", "test", "training"])
def test_propose_test_release_asks_for_the_same_noise_on_neighbours(pair, protects):
    """Ranges that stay in their intervals: distances move by at most 1, and logarithms do too."""
    asked = {"protects": protects, "score": "iqr-ptr", "epsilon": 60.0, "penalty": 1.0}
    ranges = 2 if protects == "training" else 4
    largest = 0.0
    for seed in range(2):
        covered, _ = covered_positions(pair, asked, seed, 3)
        for position, record in product(covered, EXTREMES):
            told, before, after = losses(pair, replaced(pair, position, record), asked, seed)
            assert None not in before.releases[0].released
            assert before.releases[0].released == after.releases[0].released
            told_by_ranges = told[1:] if protects == "both" else told
            largest = max(largest, *told_by_ranges)
    # One draw of each release has the ε of its noise, half of the release's share.
    assert 0 < largest <= 60.0 / ranges / 2 * (1 + 1e-9)


@pytest.mark.parametrize("protects", ["test", "training"])
def test_the_other_records_are_not_covered(small, protects):
    asked = {"protects": protects, "score": "kendall" if protects == "test" else "hsic"}
    _, others = covered_positions(small, asked, 1, 5)
    run = infer(small, asked, seed=1)
    assert protects in run.guarantee.neighbours
    assert len(run.guarantee.caveats) == 1
    assert not run.guarantee.holds
    moved = [
        abs(a - b)
        for position in others
        for a, b in zip(
            infer(replaced(small, position, (-1.0, -1.0)), asked, seed=1).releases[0].exact,
            run.releases[0].exact,
            strict=True,
        )
    ]
    assert max(moved) > 0


def test_the_worst_training_record_uses_up_epsilon():
    """From one corner to the other, so that noise any smaller would show."""
    one = pair_of(np.full(40, -1.0), np.full(40, -1.0))
    position = split(one, {}, SimulatedNoise(1)).train[0]
    told, _, _ = losses(one, replaced(one, position, (1.0, 1.0)), {"epsilon": 2.0}, 1)
    assert sum(told) == pytest.approx(2.0)


@pytest.mark.long
@pytest.mark.parametrize(("score", "least"), [("kendall", 0.4), ("spearman", 0.4), ("hsic", 0.01)])
def test_a_test_record_can_use_up_much_of_epsilon(score, least):
    """Steep lines, of which one record goes to the far corner."""
    x = np.linspace(-1, 1, 40)
    one = pair_of(x, 0.05 * x)
    position = split(one, {"penalty": 1.0}, SimulatedNoise(1)).test
    asked = {"score": score, "protects": "test", "penalty": 1.0}
    worst = max(
        sum(losses(one, replaced(one, p, corner), asked, 1)[0])
        for p, corner in product(position, [(-1, 1), (1, -1)])
    )
    assert least < worst <= 1.0


@pytest.mark.parametrize("parameters", PROVEN)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (7.0, 1e-3)])
def test_a_proven_total_is_the_one_that_was_asked_for(small, parameters, epsilon, delta):
    asked = {**parameters, "epsilon": epsilon}
    training = parameters["protects"] == "training"
    ranks = parameters["score"] in ("spearman", "kendall", "all")
    uses = parameters["score"] == "iqr-ptr" or (training and ranks)
    if uses:
        asked["delta"] = delta
    promised = infer(small, asked, seed=1).guarantee
    assert promised.epsilon == pytest.approx(epsilon, rel=1e-12)
    assert promised.delta == pytest.approx(delta if uses else 0.0, rel=1e-12)
    assert promised.calibration == "proven"
    assert promised.proof.startswith("docs/proofs/")
    assert promised.holds == (parameters["protects"] == "both")


@pytest.mark.parametrize(
    ("protects", "score", "epsilon", "delta"),
    [
        ("test", "spearman", 2, 0),
        ("test", "kendall", 2, 0),
        ("test", "hsic", 2, 0),
        ("test", "iqr-ptr", 12, 4),
        ("test", "all", 18, 4),
        ("training", "kendall", 2, 2),
        ("training", "hsic", 2, 0),
        ("training", "iqr-ptr", 6, 2),
        ("training", "all", 12, 6),
    ],
)
def test_a_published_run_adds_up_the_paper_s_costs(small, protects, score, epsilon, delta):
    asked = {"calibration": "published", "protects": protects, "score": score, "epsilon": 0.5}
    promised = infer(small, asked, seed=1).guarantee
    assert promised.epsilon == pytest.approx(0.5 * epsilon)
    assert promised.delta == pytest.approx(1e-6 * delta)
    assert promised.calibration == "published"
    assert not promised.holds
    assert promised.proof == ""


def test_published_scales_are_the_paper_s(small):
    m, n = 30, 30
    test = {"calibration": "published", "epsilon": 0.5}
    scales = {s: infer(small, {**test, "score": s}, seed=1).releases[0].scale for s in SCORES[:3]}
    assert scales["spearman"] == pytest.approx(30 / m / 0.5)
    assert scales["kendall"] == pytest.approx(4 / m / 0.5)
    assert scales["hsic"] == pytest.approx((12 * m - 11) / (m - 1) ** 2 / 0.5)
    training = infer(small, {**test, "score": "hsic", "protects": "training"}, seed=1)
    shift = 8 / (n * 0.1**1.5)
    expected = 32 * math.exp(-0.5) / 0.1 * math.sqrt(m) * shift / 0.5
    assert training.releases[0].scale == pytest.approx(expected)
