"""Every private release behind a direction has an audit, and each of them can fail."""

from dataclasses import replace

import numpy as np
import pytest

from privcore.errors import ParameterError
from privcore.extras.audits import (
    AUDITS,
    MECHANISMS,
    PAIRWISE,
    PLANTED,
    DirectionTrial,
    audit,
    audit_of_direction,
    find_audit,
    get_audit,
)
from privcore.extras.audits.case import by_name
from privcore.extras.audits.directions import one_trained
from privcore.extras.pairs import PARAMETERS, Pair, check_parameters, infer
from privcore.extras.pairs.propose_test_release import intervals_around
from privcore.extras.pairs.ridge import residual_shift
from privcore.extras.pairs.scores import iqr_of, rank_distance, shifts_to_leave
from privcore.extras.pairs.scores import test_sensitivity as sensitivity
from privcore.privacy.mechanisms import SimulatedNoise
from tests.examples import few
from tests.messages import raises_code, says

WHOLE_RUNS = {name: case for name, case in PAIRWISE.items() if name != "private-regression"}


def offered(name):
    """What a parameter offers with the proven calibration."""
    (parameter,) = (p for p in PARAMETERS if p.name == name)
    return set(dict(parameter.limited)["proven"])


def test_every_proven_release_has_an_audit():
    wanted = {
        (score, protects)
        for score in offered("score") - {"all"}
        for protects in offered("protects")
    }
    scores = {name: case for name, case in WHOLE_RUNS.items() if name != "private-curves"}
    assert {
        (case.make.parameters["score"], case.make.parameters["protects"])
        for case in scores.values()
    } == wanted
    assert set(scores) == {f"{score}-{protects}" for score, protects in wanted}
    for case in scores.values():
        replaced = "training" if case.make.parameters["protects"] == "training" else "test"
        assert case.make.pair.part == replaced


def test_the_training_records_of_whole_runs_are_audited_too():
    for name in ("private-regression", "private-curves"):
        pair = PAIRWISE[name].make(1.0, 0.0).pair
        assert pair.part == "training"
    assert WHOLE_RUNS["private-curves"].make.parameters["protects"] == "both"


# By how much ε is exceeded, where it is not tenfold.
FACTOR = {"iqr-both": 20, "spearman-training": 3, "kendall-training": 3, "iqr-ptr-training": 4}
# Near the thresholds of that ε, the numbers of records to replace are smaller.
NEAR = {
    "spearman-training": one_trained(27, 2),
    "kendall-training": one_trained(27, 2),
    "iqr-ptr-training": one_trained(114, 10),
}


@pytest.mark.long
@pytest.mark.parametrize("name", few(PAIRWISE, 5))
def test_too_little_noise_is_caught(name):
    """So that the audit of each release can fail."""
    case = PAIRWISE[name]
    make = replace(case.make, pair=NEAR[name]) if name in NEAR else case.make
    trial = make(FACTOR.get(name, 10) * case.epsilon, case.delta)
    planted = replace(case, make=lambda epsilon, delta: trial)
    result = audit(planted, runs=4000 if case.runs > 20_000 else 1000)
    assert result.verdict == "violated", result.epsilon_lower


@pytest.mark.parametrize("name", WHOLE_RUNS)
def test_one_record_of_one_part_is_replaced(name):
    pair = WHOLE_RUNS[name].make.pair
    (train, test), (train_there, test_there) = pair.parts(0), pair.parts(1)
    changed = [
        sum(a != b for a, b in zip(*p, strict=True))
        for p in ((train, train_there), (test, test_there))
    ]
    assert changed == ([1, 0] if pair.part == "training" else [0, 1])


def sides(name):
    case = WHOLE_RUNS[name]
    values = check_parameters(case.make.parameters)
    return [case.make.pair.prepared(side, values) for side in (0, 1)]


@pytest.mark.parametrize(
    ("score", "least"), [("kendall", 1), ("spearman", 1), ("hsic-root", 0.81), ("hsic", 0.46)]
)
def test_scores_move_as_much_as_is_known(score, least):
    """In both directions; the shares of the bounds are those of docs/proofs."""
    one, other = sides(f"{score}-test")
    m = one.drawn.test.size
    for before, after in zip(one.exact.scores(score), other.exact.scores(score), strict=True):
        share = abs(before - after) / sensitivity(score, m, "proven")
        assert least - 1e-9 <= share <= 1 + 1e-9


def test_stable_releases_are_a_step_apart():
    """The number of records to replace before a release changes differs by one, both ways."""
    for score in ("spearman", "kendall"):
        shift = residual_shift(75, 1.0, "proven")
        assert [
            [rank_distance(side.rest.values, shift, "proven") for side in prepared.exact]
            for prepared in sides(f"{score}-training")
        ] == [[10, 10], [11, 11]]
    shift = residual_shift(418, 1.0, "proven")
    assert [
        [
            shifts_to_leave(iqr_of(s.rest.values), shift, intervals_around(s.rest.log_iqr)[0])
            for s in prepared.exact
        ]
        for prepared in sides("iqr-ptr-training")
    ] == [[22, 22], [21, 21]]


def test_propose_test_release_moves_within_an_interval():
    one, other = sides("iqr-ptr-test")
    for before, after in zip(one.exact.ranges, other.exact.ranges, strict=True):
        assert 0.8 < after.log_iqr - before.log_iqr < 1
        assert intervals_around(before.log_iqr)[0] == intervals_around(after.log_iqr)[0]


class Unpermuted(SimulatedNoise):
    """Training records first."""

    def permutation(self, size):
        return np.arange(size)


# Those with shares of the rows for training that a run may have.
@pytest.mark.parametrize(
    "name", ["kendall-test", "hsic-root-test", "hsic-training", "iqr-training", "private-curves"]
)
def test_the_runs_are_those_of_infer(name):
    case = WHOLE_RUNS[name]
    trial = case.make(case.epsilon, case.delta)
    assert isinstance(trial, DirectionTrial)
    for side in (0, 1):
        outputs = trial(side, 1, Unpermuted(5))
        train, test = trial.pair.parts(side)
        records = np.array([*train, *test])
        pair = Pair.from_values(("x", "y"), tuple(records.T.copy()), ((-1, 1), (-1, 1)))
        given = {**trial.parameters, "train_share": len(train) / pair.n}
        found = infer(pair, given, noise=Unpermuted(5))
        release = found.releases[0]
        told = release.parts.released if release.parts else release.released
        assert outputs.numbers[0][: len(told)].tolist() == list(told)
        if name == "private-curves":
            ends = [found.fits.forward[k] for k in range(0, 201, 50)]
            assert outputs.numbers[0][2:7] == pytest.approx(ends, abs=1e-12)
        assert found.guarantee.epsilon == pytest.approx(case.epsilon)
        assert found.guarantee.delta <= case.delta
        assert found.guarantee.calibration == "proven"


def test_refusals_are_outcomes():
    case = PAIRWISE["spearman-training"]
    outputs = case.make(1.0, 0.01)(0, 400, SimulatedNoise(1))
    assert {o.words for o in outputs.outcomes} == {
        "all released",
        "refused: score x → y",
        "refused: score y → x",
        "refused: score x → y, score y → x",
    }
    refused = outputs.feature("score x → y refused?") == 1
    assert (outputs.feature("score x → y")[refused] == 0).all()
    assert (outputs.feature("score x → y")[~refused] == 1).all()


def test_any_pair_and_parameters():
    case = audit_of_direction(
        "mine", "Mine", one_trained(30, 10), {"score": "iqr", "protects": "training"}, runs=100
    )
    assert (case.kind, case.delta) == ("pairwise", 0.0)
    assert audit(case).runs == 100
    with pytest.raises(ParameterError, match="score"):
        audit_of_direction("mine", "Mine", one_trained(30, 10), {"score": "none"})


def test_audits_by_name_alone():
    names = [name for kind in (AUDITS, MECHANISMS, PAIRWISE, PLANTED) for name in kind]
    assert len(names) == len(set(names))
    assert all(find_audit(name).name == name for name in names)
    assert get_audit("pairwise", "iqr-both") is PAIRWISE["iqr-both"]
    with raises_code(ParameterError, "no-such-audit", name="other"):
        find_audit("other")
    with pytest.raises(ValueError, match=says("two-audits-of-one-name", name="laplace")):
        by_name([*MECHANISMS.values(), MECHANISMS["laplace"]])
