"""From a pair to a direction: what is released, what it costs, and on whose behalf."""

import math
from itertools import product

import numpy as np
import pytest

from privcore.errors import ParameterError
from privcore.mechanisms import SecureNoise, SimulatedNoise
from privcore.pairwise import (
    PARAMETERS,
    Pair,
    PairGenerator,
    baseline,
    check_parameters,
    decide_many,
    infer,
    prepare,
    scores_of,
    split,
)
from privcore.pairwise.correct_decision import laplace_probability
from privcore.pairwise.released import two_noises_interval
from privcore.pairwise.report import caution

SCORES = ("spearman", "kendall", "hsic", "hsic-root", "iqr", "iqr-ptr", "all")
PROVEN = [
    {"protects": protects, "score": score}
    for protects, score in product(("both", "test", "training"), SCORES)
]
PUBLISHED = [
    {"protects": protects, "score": score, "calibration": "published"}
    for protects, score in product(
        ("test", "training"), ("spearman", "kendall", "hsic", "iqr-ptr", "all")
    )
]


def pair_of(x, y, **rest):
    return Pair.from_values(("a", "b"), (np.array(x), np.array(y)), ((-1, 1), (-1, 1)), **rest)


@pytest.fixture(scope="module")
def pair():
    return PairGenerator("polynomial").sample(4_000, 1)


@pytest.fixture(scope="module")
def small():
    return PairGenerator("polynomial").sample(60, 2)


class Recorder(SimulatedNoise):
    """Simulated noise that writes down every value, scale and output."""

    def __init__(self, seed):
        super().__init__(seed)
        self.calls = []

    def _note(self, what, value, scale, output):
        self.calls.append((what, np.array(value, dtype=float), scale, output))
        return output

    def laplace(self, value, scale):
        return self._note("laplace", value, scale, super().laplace(value, scale))

    def laplace_array(self, values, scale):
        return self._note("laplace", values, scale, super().laplace_array(values, scale))

    def noisy_max(self, scores, scale, perturbation):
        output = super().noisy_max(scores, scale, perturbation)
        return self._note(perturbation, scores, scale, output)

    def shuffled(self, size):
        return self._note("shuffled", 0, 1.0, super().shuffled(size))


class Replay(Recorder):
    """The outputs of a recorded run, in order, for other data."""

    def __init__(self, recorded):
        super().__init__(0)
        self._recorded = iter(recorded)

    def _note(self, what, value, scale, output):
        before, _, scale_before, output = next(self._recorded)
        assert what == before, "the second run asks for other noise than the first"
        assert scale == pytest.approx(scale_before, rel=1e-12), "a scale that depends on the data"
        return super()._note(what, value, scale, output)


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
        elif what != "shuffled":
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


@pytest.mark.parametrize("parameters", ADDITIVE)
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


@pytest.mark.parametrize("parameters", PROVEN + PUBLISHED)
def test_every_configuration_runs_with_secure_noise(small, parameters):
    result = infer(small, parameters, noise=SecureNoise())
    assert result.noise == "secure"
    assert [r.score for r in result.releases] == list(scores_of(result.parameters))
    for release in result.releases:
        assert release.score != "all"
        assert (None in release.released) == bool(release.refused)
        for value, around in zip(release.released, release.intervals, strict=True):
            assert value is None or math.isfinite(value)
            assert around is None or around[0] <= value <= around[1]


@pytest.mark.parametrize("parameters", PROVEN + PUBLISHED)
@pytest.mark.parametrize(
    "values",
    [
        (np.zeros(20), np.zeros(20)),
        (np.repeat([-1.0, 1.0], 10), np.tile([-1.0, 1.0], 10)),
        (np.linspace(-1, 1, 21), np.full(21, 1.0)),
    ],
    ids=["constant", "ties everywhere", "one constant"],
)
def test_degenerate_data_give_numbers_or_a_refusal(parameters, values):
    for epsilon in (1e-6, 1e6):
        result = infer(pair_of(*values), {**parameters, "epsilon": epsilon}, seed=3)
        for release in result.releases:
            assert all(map(math.isfinite, (*release.exact, *release.before_noise)))
            assert all(v is None or math.isfinite(v) for v in release.released)
            assert math.isnan(release.probability) or 0 <= release.probability <= 1 + 1e-12


def test_without_noise_it_is_algorithm_1(pair):
    """Exact scores from the parts, by hand."""
    from privcore.pairwise import ridge, scores

    drawn = split(pair, {}, SimulatedNoise(4))
    x, y = pair.x, pair.y
    forward = ridge.fit(x[drawn.train], y[drawn.train], 0.25, 0.001)
    backward = ridge.fit(y[drawn.train], x[drawn.train], 0.25, 0.001)
    a, b = x[drawn.test], y[drawn.test]
    rest_y, rest_x = b - forward.predict(a), a - backward.predict(b)
    found = baseline(prepare(pair, drawn, {"score": "all"}), {"score": "all"})
    assert found["kendall"] == (scores.kendall(a, rest_y), scores.kendall(b, rest_x))
    assert found["spearman"] == (scores.spearman(a, rest_y), scores.spearman(b, rest_x))
    assert found["hsic"][0] == pytest.approx(scores.hsic(a, rest_y, 0.3, 0.1, 1.0, 2.0))
    assert found["iqr"][1] == scores.log_iqr(b) + scores.log_iqr(rest_x)
    result = infer(pair, {"protects": "test", "score": "kendall"}, seed=4)
    assert result.releases[0].exact == found["kendall"]
    assert np.array_equal(result.tested.rest_y, rest_y)
    assert np.array_equal(result.tested.x, a)


def test_a_split_uses_every_record_once(pair):
    for share in (0.1, 0.5, 0.73, 0.9):
        drawn = split(pair, {"train_share": share}, SimulatedNoise(1))
        assert drawn.train.size == round(share * pair.n)
        assert sorted([*drawn.train, *drawn.test]) == list(range(pair.n))


def test_private_regressions_are_said_to_be_private(pair):
    both = infer(pair, {}, seed=1)
    assert both.fits.private
    assert both.bins == 10
    assert not np.array_equal(both.fits.forward, both.exact_fits.forward)
    assert infer(pair, {"bins": 5}, seed=1).bins == 5
    test = infer(pair, {"protects": "test"}, seed=1)
    assert not test.fits.private
    assert test.bins == 0
    assert np.array_equal(test.fits.forward, test.exact_fits.forward)
    assert both.fits.grid.shape == both.fits.backward.shape == (201,)


def test_the_same_seed_gives_the_same_result_and_the_truth_is_found(pair):
    one, two = infer(pair, {}, seed=5), infer(pair, {}, seed=5)
    assert one.releases == two.releases
    assert one.decision == "x->y" == one.releases[0].exact_decision
    mirrored = PairGenerator("polynomial", {"direction": "y->x"}).sample(4_000, 1)
    assert infer(mirrored, {}, seed=5).decision == "y->x"


def test_several_scores_decide_together_only_if_they_agree(pair):
    result = infer(pair, {"score": "all", "epsilon": 50}, seed=1)
    said = {release.decision for release in result.releases}
    assert result.decision == (said.pop() if len(said) == 1 else None)
    assert [r.score for r in result.releases] == ["spearman", "kendall", "hsic", "iqr"]
    alone = infer(pair, {"score": "kendall", "epsilon": 50}, seed=1)
    assert result.releases[1].scale == pytest.approx(4 * alone.releases[0].scale)


def test_noise_leaves_the_order_as_often_as_the_closed_form_says(pair):
    """4,000 releases each, five standard errors (false alarm 6e-7)."""
    for asked in (
        {"protects": "test", "score": "kendall", "epsilon": 0.3},
        {"protects": "test", "score": "hsic", "epsilon": 0.02},
        {"protects": "test", "score": "iqr-ptr", "epsilon": 24.0, "delta": 1e-3},
        {"protects": "training", "score": "hsic-root", "epsilon": 5.0},
        {"protects": "training", "score": "iqr-ptr", "epsilon": 2.0, "penalty": 1.0, "delta": 0.1},
    ):
        release = infer(pair, asked, seed=2).releases[0]
        prepared = prepare(pair, split(pair, asked, SimulatedNoise(2)), asked)
        decided = decide_many(prepared, asked, 4_000, 3)[release.score]
        share = np.mean(decided == (1 if release.exact_decision == "x->y" else -1))
        p = release.probability
        assert 0.1 < p < 0.999
        assert abs(share - p) <= 5 * math.sqrt(p * (1 - p) / 4_000)


def test_intervals_hold_the_score_as_often_as_they_say(pair):
    """500 releases each at 95 %: at least 450 but for a chance of 3e-6."""
    for asked in (
        {"protects": "test", "score": "kendall"},
        {"protects": "test", "score": "iqr-ptr", "epsilon": 100.0, "delta": 1e-3},
        {"protects": "training", "score": "iqr-ptr", "epsilon": 9.0, "penalty": 1.0},
        {"protects": "training", "score": "iqr", "epsilon": 20.0},
    ):
        values = check_parameters(asked)
        prepared = prepare(pair, split(pair, values, SimulatedNoise(2)), values)
        held = total = 0
        for seed in range(500):
            (made,) = released(prepared, values, seed)
            for around, value in zip(made.intervals, made.before_noise, strict=True):
                if around is not None:
                    total += 1
                    held += around[0] <= value <= around[1]
        assert total > 500
        assert 0.9 * total <= held < total


def test_a_sum_with_two_draws_has_an_interval_of_95_percent():
    """40,000 sums, five standard errors (false alarm 6e-7)."""
    sums = SimulatedNoise(4).laplace_array(np.zeros((40_000, 2)), 0.3).sum(axis=1)
    low, high = two_noises_interval(0.0, 0.3)
    assert low == -high
    assert abs(np.mean(np.abs(sums) <= high) - 0.95) < 5 * math.sqrt(0.95 * 0.05 / 40_000)


def released(prepared, values, seed):
    from privcore.pairwise.plan import plan_of
    from privcore.pairwise.releases import release

    plan = plan_of(values, prepared.n_train)
    noise = SimulatedNoise(seed)
    return [release(s, prepared.exact, prepared.exact, plan, noise) for s in scores_of(values)]


def test_many_releases_are_independent_and_repeatable(pair):
    prepared = prepare(pair, split(pair, {}, SimulatedNoise(1)))
    one = decide_many(prepared, {"epsilon": 0.2}, 40, 1)["hsic-root"]
    assert np.array_equal(one, decide_many(prepared, {"epsilon": 0.2}, 40, 1)["hsic-root"])
    assert 0 < np.mean(one == 1) < 1
    assert decide_many(prepared, {"epsilon": 20}, 10, 1)["hsic-root"].tolist() == [1] * 10
    every = decide_many(prepared, {"score": "all"}, 3, 1)
    assert {k: v.shape for k, v in every.items()} == dict.fromkeys(
        ("spearman", "kendall", "hsic", "iqr"), (3,)
    )


def test_rank_scores_of_training_records_nearly_always_refuse(pair):
    asked = {"protects": "training", "score": "spearman"}
    result = infer(pair, asked, seed=1)
    release = result.releases[0]
    assert release.released == (None, None)
    assert release.decision is None
    assert result.decision is None
    assert "hsic-root" in release.refused
    assert release.probability < 1e-6
    prepared = prepare(pair, split(pair, asked, SimulatedNoise(1)), asked)
    assert set(decide_many(prepared, asked, 20, 1)["spearman"]) == {0}


def test_a_stable_rank_score_is_released_as_it_is():
    """Two test records far apart and a heavy penalty."""
    x = np.random.default_rng(3).permutation(np.linspace(-1, 1, 4_000))
    asked = {"protects": "training", "score": "kendall", "epsilon": 400.0, "delta": 0.3,
             "penalty": 1.0, "train_share": 0.9}  # fmt: skip
    pair = pair_of(x, x**3)
    values = check_parameters(asked)
    drawn = split(pair, values, SimulatedNoise(1))
    few = type(drawn)(drawn.train, drawn.test[:2])
    release = released(prepare(pair, few, values), values, 1)[0]
    assert release.released == release.exact
    assert release.intervals == tuple((v, v) for v in release.exact)
    assert release.refused == ""


def test_closed_form_of_the_paper_s_theorem_2(pair):
    asked = {"protects": "test", "score": "kendall", "epsilon": 0.1}
    release = infer(pair, asked, seed=1).releases[0]
    first, second = release.exact
    gap = abs(first - second)
    assert release.scale == pytest.approx(4 / 2_000 / 0.05)
    assert release.probability == pytest.approx(float(laplace_probability(gap, release.scale)))


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"penalty": 0}, "penalty is 0"),
        ({"penalty": -1}, "penalty is -1"),
        ({"penalty": 2}, "penalty is 2"),
        ({"width": 0.01}, "width is 0.01"),
        ({"epsilon": 0}, "epsilon is 0"),
        ({"calibration": "published", "protects": "both"}, "both has no published form"),
        ({"calibration": "published", "score": "hsic-root"}, "hsic-root has no published form"),
        ({"calibration": "published", "score": "iqr"}, "iqr has no published form"),
        ({"calibration": "published", "bins": 8}, "bins has no effect"),
        ({"protects": "test", "bins": 8}, "bins has no effect"),
        ({"score": "kendall", "width_input": 0.5}, "width-input has no effect"),
        ({"score": "hsic", "delta": 0.1}, "delta has no effect"),
        ({"train_share": 0.95}, "train-share is 0.95"),
        ({"threshold": 1}, "no parameter 'threshold'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(small, given, match):
    with pytest.raises(ParameterError, match=match) as error:
        infer(small, given, seed=1)
    assert str(error.value).count(".") >= 1
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "asked",
    [{"score": "iqr-ptr"}, {"score": "kendall", "protects": "training"}],
)
def test_delta_zero_is_refused_where_it_is_needed(small, asked):
    with pytest.raises(ParameterError, match="raise delta"):
        infer(small, {**asked, "delta": 0.0}, seed=1)


def test_a_run_needs_one_source_of_noise(small):
    with pytest.raises(ParameterError, match="needs a seed"):
        infer(small)
    with pytest.raises(ParameterError, match="not both"):
        infer(small, seed=1, noise=SimulatedNoise(1))


def test_other_regressions_need_another_preparation(small):
    prepared = prepare(small, split(small, {}, SimulatedNoise(1)))
    assert decide_many(prepared, {"epsilon": 3, "score": "iqr"}, 1, 1)["iqr"].shape == (1,)
    for other in ({"penalty": 0.01}, {"protects": "training"}, {"width": 0.3}):
        with pytest.raises(ParameterError, match="prepare them again"):
            decide_many(prepared, other, 1, 1)


def test_caveats_of_the_data_limit_the_guarantee(small):
    caveat = "bounds were read from the data: not covered (a)"
    limited = infer(pair_of(small.x, small.y, caveats=(caveat,)), seed=1).guarantee
    assert limited.caveats == (caveat,)
    assert not limited.holds


def test_resolved_parameters_can_be_asked_for_again(small):
    for asked in PROVEN + PUBLISHED:
        result = infer(small, asked, seed=1)
        again = infer(small, result.parameters, seed=1)
        assert again.parameters == result.parameters
        assert again.guarantee == result.guarantee
    assert {p.name for p in PARAMETERS} == set(result.parameters)


def test_too_few_rows_for_a_private_regression_are_told():
    pair = PairGenerator("polynomial").sample(400, seed=1)
    assert "may be no better than a coin" in caution(infer(pair, {"epsilon": 1}, seed=1))
    assert caution(infer(pair, {"epsilon": 10}, seed=1)) == ""
    assert caution(infer(pair, {"epsilon": 1, "protects": "test"}, seed=1)) == ""
