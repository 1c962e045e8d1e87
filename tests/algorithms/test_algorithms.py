"""The algorithms: exact without noise, calibrated with it, and never over budget."""

import contextlib
import math

import numpy as np
import pytest
from causallearn.search.ConstraintBased.PC import pc as causal_learn_pc
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.priv_pc import optimal_rate
from privcore.counts import InMemoryCounts
from privcore.data import Column, Dataset, load_network
from privcore.errors import Cancelled, DataError, ParameterError
from privcore.graphs.pdag import ordered
from privcore.privacy.accounting import composition
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from privcore.privacy.mechanisms.sieve_examine import before_amplification

PRIVATE = [name for name, algorithm in ALGORITHMS.items() if algorithm.private]


@pytest.fixture(scope="module")
def asia():
    return count(load_network("asia").sample(20_000, 3))


@pytest.mark.parametrize("network", ["cancer", "asia", "sachs"])
@pytest.mark.parametrize(("ours", "theirs"), [("chi2", "chisq"), ("g2", "gsq")])
def test_pc_finds_the_skeleton_that_causal_learn_finds(network, ours, theirs):
    data = load_network(network).sample(5_000, 3)
    found = discover(data, "pc", {"score": ours, "threshold": 0.01, "max_order": "auto"})
    peer = causal_learn_pc(
        np.column_stack(data.values).astype(int), 0.01, theirs, stable=True, show_progress=False
    ).G.graph
    expected = {
        (i, j) for i in range(data.p) for j in range(i + 1, data.p) if peer[i, j] or peer[j, i]
    }
    assert found.graph.skeleton == expected


# What makes each algorithm converge to PC when noise vanishes: enough tests paid for, no coin, no
# shrinking of rows.  EM-PC decides column by column, which is not PC: see test_em_pc.
LIMITS = {
    "laplace-pc": {"max_tests": 2_000},
    "svt-pc": {},
    "priv-pc": {"max_rounds": 1_000},
    "sg-pc": {"max_tests": 2_000},
    "lapmech": {},
    "privpc-star": {"radius": 1.0, "null": "sampling"},
    "curate": {"beta_keep": 0.0, "beta_delete": 0.0},
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("network", ["survey", "asia", "sachs"])
def test_with_a_vast_budget_the_result_is_pc_s(name, network):
    source = count(load_network(network).sample(20_000, 3))
    shared = {"max_order": 2, "threshold": 0.01}
    private = discover(source, name, {**shared, **LIMITS[name], "epsilon": 1e6}, seed=1)
    reference = ALGORITHMS[name].reference(private.parameters)
    assert reference["score"] == {"lapmech": "g2", "privpc-star": "fisher-z"}.get(name, "z-star")
    # Where a test costs budget, v-structures are read from the sets of the search alone.
    exact = discover(source, "pc", {"collider_rule": "first", **reference})
    assert private.graph == exact.graph
    assert private.separating_sets == exact.separating_sets
    assert private.stopped is None


def test_every_private_algorithm_has_its_limit_tested():
    # Those that optimise a score have theirs in test_score_based.
    scored = {name for name, a in ALGORITHMS.items() if a.reference_algorithm == "notears"}
    # The search over moments has its own in test_moment_search: it is not PC, but goes beyond.
    assert {*LIMITS, "em-pc", "moment-search"} | scored == set(PRIVATE)


def random_dataset(seed, p, n):
    generator = np.random.default_rng(seed)
    hidden = generator.integers(0, 2, n)
    values = tuple(
        (np.where(generator.random(n) < 0.7, hidden, generator.integers(0, 3, n))).astype(np.uint8)
        for _ in range(p)
    )
    columns = tuple(Column(f"c{i}", "ordinal", ("0", "1", "2"), declared=True) for i in range(p))
    return InMemoryCounts.from_dataset(Dataset("t", columns, values))


@pytest.mark.parametrize("name", PRIVATE)
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    p=st.integers(2, 6),
    n=st.integers(30, 300),
    epsilon=st.floats(0.01, 20),
    delta=st.sampled_from([1e-9, 1e-3]),
    threshold=st.sampled_from([1e-9, 0.05, 0.9]),
    limit=st.one_of(st.none(), st.integers(1, 5)),
    rate=st.sampled_from([0.5, 1.0]),
    score=st.sampled_from([None, "g2-votes"]),
    correction=st.sampled_from(["none", "ties and noise"]),
    selection=st.sampled_from(["exponential", "permute-and-flip"]),
)
def test_the_total_is_never_exceeded(
    name, seed, p, n, epsilon, delta, threshold, limit, rate, score, correction, selection
):
    """Whatever the data, the charges of a proven run compose to at most (ε, δ)."""
    asked = {
        "epsilon": epsilon,
        "delta": delta,
        "threshold": threshold,
        "rate": rate,
        "max_rounds": limit,
        "max_tests": limit,
        "max_deletions": limit,
        "score": score,
        "blocks": 5,
        "correction": correction if score is None else "none",
        "selection": selection,
        "gradients": 20,
    }
    if name == "lapmech":
        del asked["score"]
    if score is None:
        del asked["blocks"]
    known = {parameter.name for parameter in ALGORITHMS[name].parameters}
    parameters = {k: value for k, value in asked.items() if k in known}
    refusals = ParameterError if ALGORITHMS[name].reference_algorithm == "notears" else ()
    with contextlib.suppress(refusals):  # An ε too small to take one step is refused in advance.
        result = discover(random_dataset(seed, p, n), name, parameters, seed=seed)
        check_total(result, name, parameters, rate, n)


def check_total(result, name, parameters, rate, n):
    epsilon, delta = parameters["epsilon"], parameters.get("delta", 0.0)
    charges = [step.charge for step in result.trace if step.charge]
    spent = result.spent
    assert math.fsum(charges) == pytest.approx(spent.used)
    assert spent.used <= spent.total * (1 + 1e-9)
    assert not spent.planned_rounds or spent.rounds <= spent.planned_rounds
    assert result.guarantee.epsilon == epsilon
    assert result.guarantee.delta <= delta
    assert result.guarantee.calibration == "proven"
    share = 0.9 if parameters.get("correction", "none") != "none" else 1.0
    budget = epsilon * share
    if name == "curate" and rate < 1:
        budget, delta = before_amplification(budget, int(n * rate) / n), delta / (int(n * rate) / n)
    if spent.unit == "epsilon":
        assert math.fsum(charges) <= budget * (1 + 1e-9)
    elif spent.unit == "rho":
        steps = [math.sqrt(2 * c) for c in charges]
        bounds = [composition.zcdp(math.fsum(charges), delta)]
        if name != "em-pc":
            bounds.append(composition.advanced(steps, delta))
        assert min(bounds) <= budget * (1 + 1e-9)


def test_every_sieve_and_examination_is_charged_before_it_is_used(asia):
    result = discover(asia, "priv-pc", {"epsilon": 2.0, "tweak": 0.0}, seed=3)
    rounds = {}
    for step in result.trace:
        rounds.setdefault(step.round, []).append(step)
    assert len(rounds) == result.spent.rounds
    for steps in rounds.values():
        sieves = [s for s in steps if s.phase == "sieve"]
        examines = [s for s in steps if s.phase == "examine"]
        assert [s.charge > 0 for s in sieves] == [True] + [False] * (len(sieves) - 1)
        assert all(not s.independent for s in sieves[:-1])
        assert len(examines) == int(sieves[-1].independent)
        assert all(s.charge > 0 for s in examines)


def test_noise_scales_are_those_derived(asia):
    result = discover(asia, "priv-pc", {"epsilon": 5.0, "delta": 0.0, "max_rounds": 10}, seed=0)
    step = 5.0 / 20  # ten rounds of two equal shares
    for taken in result.trace:
        expected = (4 if taken.phase == "sieve" else 1) * 6 / math.sqrt(asia.n) / step
        assert taken.noise_scale == pytest.approx(expected)
    subsampled = discover(
        asia, "priv-pc", {"epsilon": 5.0, "delta": 0.0, "max_rounds": 10, "rate": 0.25}, seed=0
    )
    inner = math.log1p(math.expm1(step) * 4)
    sieve = next(s for s in subsampled.trace if s.phase == "sieve")
    assert sieve.noise_scale == pytest.approx(4 * 6 / math.sqrt(asia.n / 4) / inner)
    naive = discover(asia, "laplace-pc", {"epsilon": 5.0, "delta": 0.0, "max_tests": 50}, seed=0)
    assert naive.trace[0].noise_scale == pytest.approx(6 / math.sqrt(asia.n) / 0.1)
    assert len(naive.trace) == 50
    assert naive.stopped == "budget"


def test_published_priv_pc_computes_its_total_afterwards(asia):
    result = discover(asia, "priv-pc", {"calibration": "published", "epsilon": 1.0}, seed=2)
    triggered = sum(s.phase == "examine" for s in result.trace)
    assert result.spent.rounds == triggered > 0
    assert result.guarantee.epsilon == pytest.approx(
        composition.advanced_classic([1.0] * triggered, 1e-6)
    )
    assert result.guarantee.calibration == "published"
    assert not result.guarantee.holds
    assert any("normaliser" in caveat for caveat in result.guarantee.caveats)
    sieve = next(s for s in result.trace if s.phase == "sieve")
    inner = math.expm1(0.5)
    assert sieve.noise_scale == pytest.approx(4 * 4.5 / math.sqrt(asia.n) / math.log1p(inner))


def test_published_laplace_and_spearman_run(asia):
    for score in ("kendall", "spearman"):
        for name in ("laplace-pc", "svt-pc", "sg-pc", "curate", "priv-pc"):
            result = discover(
                asia, name, {"calibration": "published", "score": score, "epsilon": 0.5}, seed=2
            )
            assert result.guarantee.calibration == "published"
    with_sets = [s for s in result.trace if s.order == 2 and s.phase == "sieve"]
    without = [s for s in result.trace if s.order == 0 and s.phase == "sieve"]
    assert with_sets[0].noise_scale > without[0].noise_scale


def test_halting_keeps_the_edges_and_says_so(asia):
    result = discover(asia, "priv-pc", {"epsilon": 1.0, "max_rounds": 1}, seed=1)
    assert result.stopped == "budget"
    assert len(result.graph.skeleton) >= 27
    assert result.spent.rounds == 1


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 8.0])
def test_the_optimal_rate_minimises_the_printed_expression(epsilon):
    def noise(rate):
        return math.sqrt(1 / rate) / math.log(1 / rate * math.expm1(epsilon / 2) + 1)

    grid = np.linspace(1 / 20, 1, 2_000)
    assert noise(optimal_rate(epsilon)) <= min(map(noise, grid)) * (1 + 1e-6)
    assert 1 / 20 <= optimal_rate(epsilon) <= 1


def test_optimised_sub_sampling_runs(asia):
    result = discover(asia, "priv-pc", {"rate_mode": "optimised", "epsilon": 3.0}, seed=1)
    assert result.guarantee.holds


@pytest.mark.parametrize("name", PRIVATE)
def test_same_seed_same_run_other_seed_other_noise(asia, name):
    one, again, other = (discover(asia, name, {"epsilon": 0.2}, seed=s) for s in (1, 1, 2))
    assert one.graph == again.graph
    assert one.trace == again.trace
    if one.weights is None:
        assert one.trace != other.trace
    else:
        assert np.array_equal(one.weights, again.weights)
        assert not np.array_equal(one.weights, other.weights)


@pytest.mark.parametrize("name", PRIVATE)
def test_secure_noise_runs_and_says_so(name):
    source = count(load_network("cancer").sample(2_000, 1))
    for rate in (1.0, 0.5) if name == "priv-pc" else (None,):
        parameters = {"epsilon": 5.0} | ({"rate": rate} if rate else {})
        result = discover(source, name, parameters, noise=SecureNoise())
        assert result.noise == "secure"
        assert result.guarantee.holds


def test_noise_must_come_from_somewhere(asia):
    with pytest.raises(ParameterError, match="seed"):
        discover(asia, "priv-pc")
    with pytest.raises(ParameterError, match="not both"):
        discover(asia, "priv-pc", seed=1, noise=SimulatedNoise(1))


def test_levels_read_from_the_data_limit_the_guarantee():
    columns = (Column("a", "nominal", ("x", "y")), Column("b", "nominal", ("x", "y")))
    values = (np.array([0, 1, 0, 1], np.uint8), np.array([0, 1, 1, 0], np.uint8))
    result = discover(Dataset("t", columns, values), "priv-pc", seed=1)
    assert not result.guarantee.holds
    assert "levels were read from the data: not covered (a, b)" in result.guarantee.caveats
    counts = count(Dataset("t", columns, values, notes=("rows were left out",)))
    for rate in (1.0, 0.5):
        limited = discover(counts, "priv-pc", {"rate": rate}, seed=1).guarantee
        assert limited.caveats == (*result.guarantee.caveats, "rows were left out")


def test_continuous_and_constant_columns_are_refused():
    half = np.array([0.0, 0.5, 1.0, 0.2])
    flat = np.zeros(4, np.uint8)
    number = Column("x", "continuous", bounds=(0.0, 1.0), declared=True)
    level = Column("y", "nominal", ("p", "q"), declared=True)
    with pytest.raises(DataError, match="'x' is continuous"):
        discover(
            Dataset("t", (number, level), (half, np.array([0, 1, 0, 1], np.uint8))),
            "priv-pc",
            seed=1,
        )
    guessed = Column("y", "nominal", ("p", "q"))
    with pytest.raises(DataError, match="'y' has the same value"):
        discover(Dataset("t", (guessed, guessed_too()), (flat, np.array([0, 1, 0, 1]))), "pc")
    single = Column("y", "nominal", ("p",), declared=True)
    with pytest.raises(DataError, match="'y' has the same value"):
        discover(Dataset("t", (single, guessed_too()), (flat, np.array([0, 1, 0, 1]))), "pc")


def guessed_too():
    return Column("z", "nominal", ("p", "q"))


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("calibration", ["proven", "published"])
def test_that_all_rows_agree_is_private(name, calibration):
    """A column with public levels of which only one occurs is no reason to refuse."""
    columns = tuple(Column(c, "ordinal", ("p", "q"), declared=True) for c in "abc")
    alternating = np.arange(60, dtype=np.uint8) % 2
    values = (np.zeros(60, np.uint8), alternating, alternating.copy())
    algorithm = ALGORITHMS[name]
    if name == "notears" or (algorithm.private and calibration not in algorithm.calibrations):
        return  # Not private, and may say so; or there is no such form.
    given = {"calibration": calibration, "epsilon": 50.0} if algorithm.private else {}
    result = discover(Dataset("t", columns, values), name, given, seed=1)
    assert result.graph.nodes == ("a", "b", "c")
    if algorithm.reference_algorithm == "notears":
        return
    exact = discover(
        Dataset("t", columns, values),
        "pc",
        ALGORITHMS[name].reference(result.parameters) if name != "pc" else {},
    )
    assert exact.graph.skeleton == {(1, 2)}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_cancelling(asia, name):
    class Stop:
        def progress(self, progress):
            return None

        def cancelled(self):
            return True

    with pytest.raises(Cancelled):
        discover(asia, name, seed=1, hooks=Stop())


@pytest.mark.parametrize("name", ALGORITHMS)
def test_declarations_are_complete(name):
    """Every default is allowed, and every parameter explains itself."""
    for parameter in ALGORITHMS[name].parameters:
        assert parameter.parse(parameter.default) == parameter.default
        assert parameter.help.endswith(".")
        assert parameter.source
        if parameter.slider:
            for end in parameter.slider:
                parameter.parse(end)
    if "published" in ALGORITHMS[name].calibrations:
        assert ALGORITHMS[name].published_flaw


def test_the_trace_replays_the_graph(asia):
    result = discover(asia, "priv-pc", {"epsilon": 1.0}, seed=5)
    gone = {ordered(s.x, s.y) for s in result.trace if s.phase == "examine" and s.independent}
    assert gone == set(result.separating_sets)
    assert len(result.graph.skeleton) == 28 - len(gone)
    assert result.tests_run == sum(s.phase == "sieve" for s in result.trace)
