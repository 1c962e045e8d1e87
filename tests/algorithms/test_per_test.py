"""What the per-test algorithms share: measures, thresholds, plans and what is left undone."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.curate import (
    Margins,
    allocate,
    cost,
    error_bound,
    planned_tests,
)
from privcore.algorithms.priv_pc import PrivPCParameters
from privcore.algorithms.search.per_test import SHARE, measure_of
from privcore.algorithms.svt_pc import printed_scales
from privcore.data import load_network
from privcore.display.accounts import accounts
from privcore.errors import ParameterError
from privcore.independence import SCORES, z_threshold
from privcore.privacy.accounting import composition
from privcore.privacy.mechanisms import SimulatedNoise, SmoothMedian
from privcore.privacy.mechanisms.gaussian import gaussian_epsilon
from tests.examples import examples
from tests.messages import outside, raises_code, shows

STREAM = ("laplace-pc", "svt-pc", "priv-pc", "sg-pc", "curate")


@pytest.mark.parametrize("name", STREAM)
def test_p_space_converges_to_the_same_graph(asia, name):
    """The largest budget makes both spaces agree with PC: they test the same hypotheses."""
    extra = {"max_tests": 500} if name in ("laplace-pc", "sg-pc") else {}
    if name == "curate":
        extra = {"beta_keep": 0.0, "beta_delete": 0.0}
    shared = {"epsilon": 1e6, "max_order": 1, "threshold": 0.01, **extra}
    exact = discover(asia, "pc", {"score": "z-star", "max_order": 1, "threshold": 0.01})
    for space in ("z", "p"):
        found = discover(asia, name, {**shared, "space": space}, seed=1)
        assert found.graph.skeleton == exact.graph.skeleton


def test_p_space_s_scale_is_the_one_proved(asia):
    given = {"epsilon": 5.0, "delta": 0.0, "max_tests": 50, "space": "p"}
    step = discover(asia, "laplace-pc", given, seed=0).trace[0]
    bound = math.erf(6 / math.sqrt(asia.n) / math.sqrt(2))
    assert step.noise_scale == pytest.approx(bound / 0.1)
    assert step.threshold == 0.05
    assert 0 <= step.score <= 1


def test_published_p_space_stretches_by_the_slope_at_zero(asia):
    given = {"calibration": "published", "space": "p", "epsilon": 1.0}
    step = discover(asia, "laplace-pc", given, seed=0).trace[0]
    assert step.noise_scale == pytest.approx(4.5 / math.sqrt(asia.n) * math.sqrt(2 / math.pi))
    step = discover(asia, "curate", given, seed=0).trace[0]
    # The charge of a published test is its ε, by which the reference code's constant is divided.
    assert step.noise_scale * step.charge == pytest.approx(2 * 0.3627 / math.sqrt(asia.n))


def test_medians_need_a_delta_and_get_one_for_each_test(asia):
    given = {"score": "g2-median", "epsilon": 10.0, "max_tests": 30, "blocks": 21}
    result = discover(asia, "laplace-pc", given, seed=1)
    assert result.unit == "median p-value"
    assert "docs/proofs/smooth_median.md" in result.guarantee.proof
    scales = {step.noise_scale for step in result.trace}
    assert len(scales) > 5  # They follow the data.
    with raises_code(ParameterError, "smooth-noise-needs-delta"):
        discover(asia, "laplace-pc", {**given, "delta": 0.0}, seed=1)
    with raises_code(ParameterError, "correction-needs-z"):
        discover(asia, "laplace-pc", {**given, "correction": "ties"}, seed=1)
    # ε/30 for each of the tests or less; β from the δ of one test.
    mechanism = SmoothMedian.proven(10 / 30, 1e-6 / 2 / 30)
    assert all(step.noise_scale <= 1 / mechanism.alpha * 1.01 for step in result.trace)


@pytest.mark.parametrize("name", ["svt-pc", "priv-pc", "sg-pc", "curate"])
def test_a_median_is_not_offered_where_one_sensitivity_is_needed(asia, name):
    with pytest.raises(ParameterError, match=outside("score", "g2-median")):
        discover(asia, name, {"score": "g2-median"}, seed=1)


def test_votes_and_medians_without_noise_decide_alike(asia):
    """The partition comes first from the same seed, so both see the same blocks."""
    shared = {"epsilon": 1e6, "max_tests": 400, "blocks": 15, "threshold": 0.01}
    for base in ("g2", "chi2"):
        by_votes, by_median = (
            discover(asia, "laplace-pc", {**shared, "score": f"{base}-{kind}"}, seed=4)
            for kind in ("votes", "median")
        )
        assert by_votes.graph == by_median.graph


def test_blocks_must_be_odd_and_have_rows(asia):
    with raises_code(ParameterError, "even-blocks", blocks=4):
        discover(asia, "svt-pc", {"score": "g2-votes", "blocks": 4}, seed=1)
    small = count(load_network("asia").sample(100, 3))
    with raises_code(ParameterError, "few-rows-in-blocks"):
        discover(small, "svt-pc", {"score": "g2-votes", "blocks": 51}, seed=1)


def test_svt_s_scales(asia):
    proven = discover(asia, "svt-pc", {"epsilon": 4.0, "delta": 0.0, "max_deletions": 20}, seed=1)
    assert proven.trace[0].noise_scale == pytest.approx(4 * 6 / math.sqrt(asia.n) / (4 / 20))
    assert proven.spent.noun == "deletions"
    printed = printed_scales(0.5, 2.0, 0.0, 10)
    assert (printed.threshold, printed.query) == (0.5 * 10, 0.5 * 20)
    printed = printed_scales(1.0, 2.0, 1e-3, 10)
    assert printed.threshold == pytest.approx(math.sqrt(320 * math.log(1e3)) / 2)
    published = discover(asia, "svt-pc", {"calibration": "published", "epsilon": 4.0}, seed=1)
    assert published.guarantee.epsilon == 4.0
    assert not published.guarantee.holds


def test_each_deletion_ends_a_run_of_the_sparse_vector(asia):
    result = discover(asia, "svt-pc", {"epsilon": 3.0}, seed=2)
    for before, after in zip(result.trace, result.trace[1:], strict=False):
        assert after.round == before.round + before.independent
        assert (after.charge > 0) == before.independent


def test_sg_s_sigma_keeps_to_the_total(asia):
    given = {"epsilon": 2.0, "max_tests": 40}
    full = discover(asia, "sg-pc", given, seed=1)
    sigma = full.trace[0].noise_scale
    mu = 6 / math.sqrt(asia.n) / sigma
    assert gaussian_epsilon(math.sqrt(40) * mu, 1e-6) == pytest.approx(2.0)
    part = discover(asia, "sg-pc", {**given, "rate": 0.05}, seed=1)
    on_sample = 6 / math.sqrt(asia.n // 20)
    # Amplification lowers the noise, but by less than the signal shrinks.
    assert part.trace[0].noise_scale / on_sample < sigma / (6 / math.sqrt(asia.n))
    assert part.trace[0].noise_scale / math.sqrt(0.05) > sigma
    assert "without replacement" in part.guarantee.accountant


@pytest.mark.parametrize("score", [None, "kendall-fixed", "spearman-fixed"])
def test_tie_correction_gives_each_pair_the_threshold_of_its_ties(asia, score):
    given = {"correction": "ties", "epsilon": 1e6, "max_tests": 500, "score": score}
    result = discover(asia, "laplace-pc", given, seed=1)
    shares = [asia.table([c]) / asia.n for c in range(8)]
    for step in result.trace[:28]:
        spread = math.prod(1 - float((shares[c] ** 3).sum()) for c in (step.x, step.y))
        assert step.threshold == pytest.approx(z_threshold(0.05) * math.sqrt(spread), rel=1e-3)
    assert "docs/proofs/one_way_marginals.md" in result.guarantee.proof


@pytest.mark.parametrize("name", STREAM)
def test_tie_correction_pays_for_its_counts_from_the_total(asia, name):
    seen = []

    class Watching(SimulatedNoise):
        def laplace_array(self, values, scale):
            seen.append(scale)
            return super().laplace_array(values, scale)

    given = {"correction": "ties and noise", "epsilon": 2.0, "delta": 1e-6}
    result = discover(asia, name, given, noise=Watching(1))
    assert seen == pytest.approx([2 * 8 / (SHARE * 2.0)] * 8)
    assert min(seen) > 2 * 8 / (SHARE * 2.0)
    assert result.guarantee.epsilon == 2.0
    if result.spent.unit == "epsilon":
        assert result.spent.total <= 2.0 * (1 - SHARE)
    elif result.spent.unit == "rho":
        assert composition.zcdp(result.spent.total, 1e-6) <= 2.0 * (1 - SHARE) * (1 + 1e-9)


def test_noise_in_the_threshold_deletes_more(asia):
    edges = {}
    for correction in ("ties", "ties and noise"):
        given = {"correction": correction, "epsilon": 0.3}
        runs = [discover(asia, "laplace-pc", given, seed=s) for s in range(10)]
        edges[correction] = np.mean([len(r.graph.skeleton) for r in runs])
    assert edges["ties and noise"] < edges["ties"]


def test_a_run_that_stops_says_what_would_have_finished_it(asia):
    given = {"epsilon": 1.0, "max_tests": 30, "max_order": 1}
    stopped = discover(asia, "laplace-pc", given, seed=1)
    left = stopped.unreached
    assert stopped.stopped == "budget"
    assert (left.first, left.last) == (1, 1)
    assert left.epsilon > 1.0
    # The promised total, and no more tests than said, do finish it at the same noise.
    enough = {"epsilon": left.epsilon, "max_tests": 30 + left.tests, "max_order": 1}
    finished = discover(asia, "laplace-pc", enough, seed=1)
    assert finished.stopped is None
    assert finished.trace[0].noise_scale == pytest.approx(stopped.trace[0].noise_scale, rel=1e-6)


@pytest.mark.parametrize("name", STREAM)
def test_what_is_left_undone_is_a_bound(asia, name):
    limits = {"max_tests": 29, "max_rounds": 3, "max_deletions": 3}
    known = {parameter.name for parameter in ALGORITHMS[name].parameters}
    given = {k: v for k, v in limits.items() if k in known} | {"epsilon": 0.2}
    if name == "curate":
        given = {"epsilon": 0.01}
    result = discover(asia, name, {**given, "max_order": 2}, seed=1)
    assert result.stopped == ("noise" if name == "curate" else "budget")
    assert result.unreached.tests > 0
    assert result.unreached.epsilon > given["epsilon"]
    assert 0 <= result.unreached.first <= result.unreached.last <= 2


@settings(max_examples=examples(60))
@given(
    pairs=st.integers(1, 200),
    p=st.integers(3, 20),
    orders=st.integers(1, 5),
    budget=st.floats(1e-4, 50),
    reach=st.floats(0.01, 200),
    betas=st.tuples(st.floats(0, 0.9), st.floats(0, 0.9)),
    rule=st.sampled_from(["epsilon", "rho", "published"]),
)
def test_curate_s_allocation_keeps_to_equation_3(pairs, p, orders, budget, reach, betas, rule):
    tests = planned_tests(pairs, p, 0, min(orders, p - 1) - 1)
    margins = Margins(betas[0] * reach, betas[1] * reach, 0.1)
    split = allocate(tests.tolist(), budget, margins, rule, 1e-6)
    assert split.shape == tests.shape
    assert (split > 0).all()
    assert (np.diff(split) <= 1e-12).all()
    assert cost(split, tests, rule, 1e-6) <= budget * (1 + 1e-9)
    even = allocate(tests.tolist()[:1], budget, margins, rule, 1e-6)
    assert cost(even, tests[:1], rule, 1e-6) == pytest.approx(budget)


def test_curate_s_error_bound_by_hand():
    margins = Margins(2.0, 3.0, 0.2)
    q1 = [0.1 + math.exp(-2 * e) / 2 for e in (1.0, 0.5)]
    q2 = [0.1 + math.exp(-3 * e) / 2 for e in (1.0, 0.5)]
    expected = q1[0] * q1[1] + 1 - (1 - q2[0]) * (1 - q2[1])
    assert error_bound(np.array([1.0, 0.5]), margins) == pytest.approx(expected)


def test_curate_re_solves_before_each_order_from_what_is_left(asia):
    result = discover(asia, "curate", {"epsilon": 100.0}, seed=1)
    by_order = {}
    for step in result.trace:
        by_order.setdefault(step.order, set()).add(round(step.noise_scale, 12))
    assert len(by_order) > 1
    assert all(len(scales) == 1 for scales in by_order.values())
    assert all(step.charge > 0 for step in result.trace)  # Kept pairs pay too.


def test_curate_decides_by_its_margins(asia):
    given = {"epsilon": 3.0, "beta_keep": 0.2, "beta_delete": 0.3}
    result = discover(asia, "curate", given, seed=1)
    coins = []
    for step in result.trace:
        if step.noisy > step.threshold * 1.2:
            assert not step.independent
        elif step.noisy < step.threshold * 0.7:
            assert step.independent
        else:
            coins.append(step.independent)
    assert coins


def test_curate_s_published_total_is_the_sum_over_orders(asia):
    result = discover(asia, "curate", {"calibration": "published", "epsilon": 10.0}, seed=1)
    by_order = {}
    for step in result.trace:
        by_order.setdefault(step.order, []).append(step.charge)
    total = 0.0
    for charges in by_order.values():
        e, t = charges[0], len(charges)
        total += t * e * e + math.sqrt(2 * math.log(1e6) * t) * e
    assert result.guarantee.epsilon == pytest.approx(total)
    assert result.guarantee.delta >= 1e-6 * len(by_order)


def test_curate_on_one_sub_sample_has_the_amplified_total(asia):
    whole = discover(asia, "curate", {"epsilon": 1.0}, seed=1)
    part = discover(asia, "curate", {"epsilon": 1.0, "rate": 0.5}, seed=1)
    assert part.spent.total > whole.spent.total
    assert "amplified" in part.guarantee.accountant


def test_an_order_with_hopeless_noise_is_left_out(asia):
    """One tenth of ε buys order 0; the paper's form would go on with coin tosses."""
    careful = discover(asia, "curate", {"epsilon": 0.05, "noise_limit": 1.0}, seed=1)
    paper = discover(asia, "curate", {"epsilon": 0.05, "noise_limit": 1e9}, seed=1)
    assert careful.stopped == "noise"
    assert careful.unreached.first == 1
    assert careful.unreached.epsilon > 0.05
    assert paper.orders_run > careful.orders_run or paper.tests_run > careful.tests_run
    worst = max(step.noise_scale for step in paper.trace)
    assert worst > 5 * max(step.noise_scale for step in careful.trace)


@pytest.mark.long
@pytest.mark.parametrize("network", ["cancer", "earthquake", "asia", "survey"])
def test_tests_made_are_ordered_as_wang_s_times(network):
    """Wang, Pang & Song 2020, Table 2: EM-PC takes many times longer, since it prunes late."""
    source = count(load_network(network).sample(100_000, 1))
    made = {
        name: np.mean(
            [
                discover(
                    source, name, {"calibration": "published", "max_order": "auto"}, seed=s
                ).tests_run
                for s in range(5)
            ]
        )
        for name in ("em-pc", "svt-pc", "priv-pc")
    }
    assert made["em-pc"] > made["svt-pc"]
    assert made["em-pc"] > made["priv-pc"]


@pytest.mark.parametrize("name", ["svt-pc", "priv-pc"])
def test_the_total_and_rounds_that_are_advised_do_finish(asia, name):
    limit = "max_deletions" if name == "svt-pc" else "max_rounds"
    stopped = discover(asia, name, {"epsilon": 0.5, limit: 4, "max_order": 1}, seed=1)
    left = stopped.unreached
    advised = {"epsilon": left.epsilon, limit: left.rounds, "max_order": 1}
    finished = discover(asia, name, advised, seed=1)
    assert finished.stopped is None
    assert finished.trace[0].noise_scale == pytest.approx(stopped.trace[0].noise_scale, rel=1e-6)


def test_a_parameter_without_effect_is_refused(asia):
    for name, asked, why in [
        ("em-pc", {"calibration": "published", "score": "z-star"}, "published calibration"),
        ("laplace-pc", {"calibration": "published", "correction": "ties"}, "published calibration"),
        ("svt-pc", {"blocks": 21}, "blocks has no effect with score auto"),
        ("privpc-star", {"mechanism": "laplace", "radius": 0.2}, "only with gaussian"),
    ]:
        with pytest.raises(ParameterError, match=why):
            discover(asia, name, asked, seed=1)


def test_the_tweak_is_the_same_in_either_space():
    """|Z| up to t above its threshold and p down to the matching level let the same pairs pass."""
    measures = {
        space: measure_of(PrivPCParameters(space=space, threshold=0.01)) for space in ("z", "p")
    }
    for t in (0.0, 0.5, 3.0):
        z = z_threshold(0.01) + measures["z"].tweak(t)
        p = 0.01 - measures["p"].tweak(t)
        assert math.erfc(z / math.sqrt(2)) == pytest.approx(p)


@pytest.mark.parametrize("name", ["z-star", "kendall-fixed", "spearman-fixed"])
def test_ties_shrink_the_null_deviation_as_supposed(name):
    """4,000 independent samples; the standard error of a deviation is about 1.1 %."""
    generator = np.random.default_rng(5)
    p, q = np.array([0.9, 0.1]), np.array([0.2, 0.5, 0.3])
    drawn = [
        SCORES[name].statistic(
            generator.multinomial(400, np.outer(p, q).ravel()).reshape(1, 2, 3), 400
        )
        for _ in range(4_000)
    ]
    expected = math.sqrt((1 - (p**3).sum()) * (1 - (q**3).sum()))
    assert np.std(drawn) == pytest.approx(expected, rel=0.05)


def test_an_allocation_belongs_to_its_caller():
    asked = ([30.0, 20.0], 1.0, Margins(3.0, 3.0, 0.01), "epsilon", 0.0)
    first = allocate(*asked)
    before = first.copy()
    first[:] = 0.0
    assert (allocate(*asked) == before).all()


def test_a_plan_with_known_noise_says_how_much_less_it_could_promise(asia):
    result = discover(asia, "laplace-pc", {"epsilon": 1}, seed=1)
    exact = accounts(result)[-1]
    assert exact.epsilon < 0.97 * result.guarantee.epsilon
    assert shows(exact.note, "below-the-promise", share=f"{1 - exact.epsilon:.1%}")
    assert accounts(result, delta=1e-3)[-1].epsilon < exact.epsilon
