"""From a pair to a direction: what is decided and released, and what is refused."""

import math

import numpy as np
import pytest

from privcore.errors import ParameterError
from privcore.extras.pairs import (
    PARAMETERS,
    PairGenerator,
    baseline,
    check_parameters,
    decide_many,
    infer,
    prepare,
    scores_of,
    split,
)
from privcore.extras.pairs.releases import two_noises_interval
from privcore.extras.pairs.report import caution
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from tests.extras.pairs.configurations import PROVEN, PUBLISHED, pair_of
from tests.messages import label, outside, raises_code, says, shows


@pytest.mark.unseeded
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
    from privcore.extras.pairs import ridge, scores

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


@pytest.mark.long
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
    from privcore.extras.pairs.plan import plan_of
    from privcore.extras.pairs.releases import release

    plan = plan_of(values, prepared.n_train)
    noise = SimulatedNoise(seed)
    return [release(s, prepared.exact, prepared.exact, plan, noise) for s in scores_of(values)]


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
    asked = {
        "protects": "training",
        "score": "kendall",
        "epsilon": 400.0,
        "delta": 0.3,
        "penalty": 1.0,
        "train_share": 0.9,
    }
    pair = pair_of(x, x**3)
    values = check_parameters(asked)
    drawn = split(pair, values, SimulatedNoise(1))
    few = type(drawn)(drawn.train, drawn.test[:2])
    release = released(prepare(pair, few, values), values, 1)[0]
    assert release.released == release.exact
    assert release.intervals == tuple((v, v) for v in release.exact)
    assert release.refused == ""


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"penalty": 0}, outside("penalty", 0)),
        ({"penalty": -1}, outside("penalty", "-1")),
        ({"penalty": 2}, outside("penalty", 2)),
        ({"width": 0.01}, outside("width", "0.01")),
        ({"epsilon": 0}, outside("epsilon", 0)),
        ({"calibration": "published", "protects": "both"}, says("no-published-form", name="both")),
        (
            {"calibration": "published", "score": "hsic-root"},
            says("no-published-form", name="hsic-root"),
        ),
        ({"calibration": "published", "score": "iqr"}, says("no-published-form", name="iqr")),
        ({"calibration": "published", "bins": 8}, says("no-effect", name="bins")),
        ({"protects": "test", "bins": 8}, says("no-effect", name="bins")),
        ({"score": "kendall", "width_input": 0.5}, says("no-effect", name="width-input")),
        ({"score": "hsic", "delta": 0.1}, says("no-effect", name="delta")),
        ({"train_share": 0.95}, outside("train-share", "0.95")),
        ({"threshold": 1}, says("no-such-parameter", name="threshold")),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(small, given, match):
    with pytest.raises(ParameterError, match=match) as error:
        infer(small, given, seed=1)
    assert str(error.value).count(".") >= 1
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "asked", [{"score": "iqr-ptr"}, {"score": "kendall", "protects": "training"}]
)
def test_delta_zero_is_refused_where_it_is_needed(small, asked):
    with pytest.raises(ParameterError, match=says("raise-delta")):
        infer(small, {**asked, "delta": 0.0}, seed=1)


def test_a_run_needs_one_source_of_noise(small):
    with pytest.raises(ParameterError, match=says("needs-a-seed")):
        infer(small)
    with pytest.raises(ParameterError, match=says("seed-or-noise")):
        infer(small, seed=1, noise=SimulatedNoise(1))


def test_other_regressions_need_another_preparation(small):
    prepared = prepare(small, split(small, {}, SimulatedNoise(1)))
    assert decide_many(prepared, {"epsilon": 3, "score": "iqr"}, 1, 1)["iqr"].shape == (1,)
    for other in ({"penalty": 0.01}, {"protects": "training"}, {"width": 0.3}):
        with raises_code(ParameterError, "prepare-again"):
            decide_many(prepared, other, 1, 1)


def test_caveats_of_the_data_limit_the_guarantee(small):
    caveat = label("bounds-of-not-covered", columns="a")
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
    assert shows(caution(infer(pair, {"epsilon": 1}, seed=1)), "no-better-than-a-coin")
    assert caution(infer(pair, {"epsilon": 10}, seed=1)) == ""
    assert caution(infer(pair, {"epsilon": 1, "protects": "test"}, seed=1)) == ""
