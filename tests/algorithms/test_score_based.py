"""NOTEARS and its private kin: exactness, budgets, published forms, and bad input."""

import math

import networkx as nx
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution

from privcore.algorithms.gradients import curate_score, notears
from privcore.algorithms.gradients.common import reference
from privcore.algorithms.gradients.curate_score import CURATE_SCORE, SCHEDULES, budgets, lemma_count
from privcore.algorithms.gradients.notears import MOMENT_NOTEARS, NOLEAKS, NOTEARS
from privcore.algorithms.search.model import NoHooks, Run
from privcore.counts import NumericRows
from privcore.data.structural import LinearGaussian, random_dag, random_weights
from privcore.errors import Cancelled, DataError, ParameterError
from privcore.graphs import PDAG
from privcore.measures import skeleton_metrics
from privcore.parameter import parse_all
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import gaussian_delta, gaussian_mu
from tests.examples import few
from tests.messages import says, shows
from tests.transcripts import counts_of

FITS = {
    "notears": (NOTEARS, notears.fit),
    "moment-notears": (MOMENT_NOTEARS, notears.fit_on_moments),
    "noleaks": (NOLEAKS, notears.fit_noleaks),
    "curate-score": (CURATE_SCORE, curate_score.fit),
}
PRIVATE = tuple(name for name in FITS if name != "notears")
DESCENDING = ("noleaks", "curate-score")


def source(x, bound=None):
    names = tuple(f"X{i + 1}" for i in range(x.shape[1]))
    half = np.full(x.shape[1], 4.0) if bound is None else bound
    return NumericRows(names, tuple((-h, h) for h in half), np.clip(x / half, -1, 1))


def equal_variance(seed, rows=10_000, nodes=10, density=0.3):
    """Rows of a linear model whose noises all have variance 1, bounds at 4 standard deviations."""
    dag = random_dag(nodes, density, np.random.default_rng([seed, 0]))
    weights = random_weights(dag, 0.5, 1.0, np.random.default_rng([seed, 1]))
    model = LinearGaussian(dag, weights, 4.0)
    generator = np.random.default_rng([seed, 2])
    x = np.zeros((rows, nodes))
    for node in dag.order:
        x[:, node] = x @ weights[:, node] + generator.normal(size=rows)
    found = source(x, 4 * np.sqrt(np.diag(model.covariance)))
    return found, PDAG(found.names, directed=frozenset(dag.edges))


def fit(name, data, given=None, *, noise=None, seed=1, hooks=None):
    algorithm, function = FITS[name]
    checked = algorithm.takes.checked(given or {}, name)
    return function(Run(data, checked, noise or SimulatedNoise(seed), hooks or NoHooks()))


class Silent(SimulatedNoise):
    """Adds nothing, and remembers what was requested."""

    def __init__(self):
        super().__init__(0)
        self.scales = []

    def gaussian_array(self, values, sigma):
        self.scales.append(sigma)
        return values.copy()


@pytest.fixture(scope="module")
def easy():
    return equal_variance(1)


def edit_distance(graph, truth):
    pairs = [(i, j) for i in range(len(truth.nodes)) for j in range(i)]
    return sum(graph.mark(*pair) != truth.mark(*pair) for pair in pairs)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("moment-notears", {"radius": 1.0}),
        ("noleaks", {"centring": "middle"}),
        pytest.param("noleaks", {}, marks=pytest.mark.long),
        pytest.param("noleaks", {"step_rule": "line search"}, marks=pytest.mark.long),
        pytest.param("curate-score", {}, marks=pytest.mark.long),
    ],
)
def test_without_noise_the_graph_is_that_of_notears(easy, name, given):
    data, truth = easy
    plain = fit("notears", data).graph
    if name == "moment-notears":
        assert fit(name, data, given, noise=Silent()).graph == plain
    else:
        asked = {"clip": 50.0, "gradients": 200, **given}
        found = fit(name, data, asked, noise=Silent()).graph
        assert edit_distance(found, plain) <= 2
    assert edit_distance(plain, truth) <= 1


@pytest.mark.long
def test_moment_notears_beats_the_noisy_gradients_at_equal_budgets():
    """Mean skeleton F1 over five graphs at ε = 0.1, δ = 10⁻⁶."""
    means = {}
    for name in PRIVATE:
        scores = []
        for seed in range(5):
            data, truth = equal_variance(seed)
            graph = fit(name, data, {"epsilon": 0.1}, seed=seed).graph
            scores.append(skeleton_metrics(graph, truth).f1)
        means[name] = np.mean(scores)
    assert means["moment-notears"] > 0.75
    assert means["moment-notears"] > max(means["noleaks"], means["curate-score"]) + 0.1


@pytest.mark.long
def test_a_mean_far_from_the_middle_does_no_harm_once_released(easy):
    """The same rows with bounds that reach further up: uncentred gradients fit the mean instead."""
    data, truth = easy
    bounds = tuple((-0.75 * high, 1.25 * high) for _, high in data.bounds)
    shifted = NumericRows(data.names, bounds, np.clip(data.rows()[0] - 0.25, -1, 1))
    scores = {
        (centring, where): skeleton_metrics(
            fit("noleaks", rows, {"epsilon": 5.0, "centring": centring}).graph, truth
        ).f1
        for centring in ("released", "middle")
        for where, rows in (("middle", data), ("off", shifted))
    }
    assert scores["released", "off"] > 0.85
    assert scores["middle", "middle"] > 0.85
    assert scores["middle", "off"] < 0.75


@pytest.mark.long
@pytest.mark.parametrize("name", FITS)
def test_graphs_have_no_cycles_and_follow_the_weights(easy, name):
    found = fit(name, easy[0], {"weight_threshold": 0.05})
    order = found.graph
    assert found.weights.shape == (10, 10)
    assert not np.diag(found.weights).any()
    assert all(abs(found.weights[i, j]) > 0.05 for i, j in order.directed)
    assert not order.undirected
    assert nx.is_directed_acyclic_graph(nx.DiGraph(list(order.directed)))


def together(scales, sensitivities):
    """μ of all releases with those σ."""
    return math.sqrt(
        math.fsum((s / sigma) ** 2 for s, sigma in zip(sensitivities, scales, strict=True))
    )


# Of 10 columns: gradients and slopes are clipped to 10, and there are three trial steps.
COLUMNS, GRADIENT, SLOPES = 2 * math.sqrt(10), 2 * 10.0, 2 * 10.0 * math.sqrt(3)
# So many gradients, each by itself or with what its trial steps tell.
STEPS = 9
WAYS = {
    "fixed": ({}, [COLUMNS] + [GRADIENT] * STEPS),
    "middle": ({"centring": "middle"}, [GRADIENT] * STEPS),
    "searched": ({"step_rule": "line search"}, [COLUMNS] + [GRADIENT, SLOPES] * STEPS),
    "searched, middle": (
        {"step_rule": "line search", "centring": "middle"},
        [GRADIENT, SLOPES] * STEPS,
    ),
}


@pytest.mark.parametrize("name", DESCENDING)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("epsilon", [0.1, pytest.param(10.0, marks=pytest.mark.long)])
def test_the_noise_of_all_releases_is_worth_the_total_exactly(easy, name, way, epsilon):
    data = easy[0]
    ways, moved = WAYS[way]
    for given in [{"schedule": s} for s in SCHEDULES] if name == "curate-score" else [{}]:
        watching = Silent()
        asked = {"epsilon": epsilon, "gradients": STEPS, **ways, **given}
        found = fit(name, data, asked, noise=watching)
        assert len(watching.scales) == len(moved)
        assert found.tests_run == STEPS
        mu = together(watching.scales, [move / data.n for move in moved])
        assert mu == pytest.approx(gaussian_mu(epsilon, 1e-6), rel=1e-9)
        assert gaussian_delta(epsilon, mu * (1 - 1e-9)) <= 1e-6
        guarantee = found.guarantee
        assert (guarantee.epsilon, guarantee.delta, guarantee.holds) == (epsilon, 1e-6, True)
        assert found.spent.used <= found.spent.total
        # Every single charge is the share of μ² that its release takes.
        charges = [step.charge for step in found.trace]
        for charge, move, sigma in zip(charges, moved, watching.scales, strict=True):
            assert charge == pytest.approx((move / data.n / sigma / mu) ** 2)
        assert math.fsum(charges) == pytest.approx(found.spent.used) == pytest.approx(1.0)
        gradients = [s for s, move in zip(watching.scales, moved, strict=True) if move == GRADIENT]
        assert gradients == sorted(gradients, reverse=name == "curate-score")


@pytest.mark.parametrize("schedule", few([None, *SCHEDULES], 2))
def test_an_independent_accountant_finds_the_total(easy, schedule):
    """Unequal releases of a whole run, composed numerically by dp-accounting from above."""
    watching = Silent()
    name, given = ("noleaks", {}) if schedule is None else ("curate-score", {"schedule": schedule})
    asked = {"gradients": 5, "step_rule": "line search", **given}
    fit(name, easy[0], asked, noise=watching)
    moved = [COLUMNS] + [GRADIENT, SLOPES] * 5
    composed = None
    for sigma, move in zip(watching.scales, moved, strict=True):
        one = privacy_loss_distribution.from_gaussian_mechanism(
            sigma * easy[0].n / move, value_discretization_interval=1e-4
        )
        composed = one if composed is None else composed.compose(one)
    # Each of the 11 roundings may add 1e-4 to the loss, and none takes anything away.
    assert 1.0 - 1e-6 <= composed.get_epsilon_for_delta(1e-6) <= 1.0 + 11e-4
    assert composed.get_delta_for_epsilon(1.0 + 11e-4) <= 1e-6


PUBLISHED = {"calibration": "published", "step_rule": "fixed"}


def test_published_noleaks_adds_up_after_the_run(easy):
    watching = Silent()
    given = {**PUBLISHED, "epsilon": 0.5, "gradients": 20, "entry_clip": 2.0}
    found = fit("noleaks", easy[0], given, noise=watching)
    sigma = math.sqrt(90) * 2 * 2.0 / easy[0].n / gaussian_mu(0.5, 1e-6)
    assert watching.scales == pytest.approx([sigma] * 20)
    assert found.guarantee.epsilon == pytest.approx(10.0)
    assert found.guarantee.delta == pytest.approx(2e-5)
    assert not found.guarantee.holds
    assert len(found.guarantee.caveats) == 1
    assert shows(found.guarantee.caveats[0], "clips-mean")


@pytest.mark.parametrize("name", DESCENDING)
def test_the_published_line_search_is_charged_and_called_a_flaw(easy, name):
    """Values on 1,000 of 10,000 rows: ε = ln(10,001/9,001) and δ = 0.1, as the authors count."""
    data, truth = easy
    watching = Silent()
    asked = {"calibration": "published", "epsilon": 40.0}
    asked |= {"gradients": 150} if name == "noleaks" else {"first_epsilon": 0.2}
    found = fit(name, data, asked, noise=watching)
    used = len(watching.scales)
    assert 20 < used == found.tests_run <= found.spent.planned_rounds
    charges = [step.charge for step in found.trace]
    assert charges[0] == pytest.approx(math.log(10_001 / 9_001))
    assert len(charges) == used + 1
    assert found.guarantee.epsilon == pytest.approx(math.fsum(charges))
    assert found.guarantee.delta == pytest.approx(0.1 + used * 1e-6)
    assert not found.guarantee.holds
    assert shows(found.guarantee.caveats[1], "rows-without-noise", rows="1,000")
    assert shows(FITS[name][0].published_flaw, "rows-without-noise", rows="1,000")
    assert found.spent.used <= found.spent.total
    # Its values come from a sample, its gradients from all rows: nearly the same minimum.
    assert skeleton_metrics(found.graph, truth).f1 > 0.7


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_published_curate_stays_within_the_total(easy, schedule):
    watching = Silent()
    given = {**PUBLISHED, "schedule": schedule, "first_epsilon": 0.04}
    found = fit("curate-score", easy[0], given, noise=watching)
    count = lemma_count(schedule, 1.0, 0.04)
    assert len(watching.scales) == count
    expected = [
        math.sqrt(90) * 2 / easy[0].n / gaussian_mu(e, 1e-6) for e in budgets(schedule, 0.04, count)
    ]
    assert watching.scales == pytest.approx(expected)
    assert found.guarantee.epsilon == pytest.approx(budgets(schedule, 0.04, count).sum())
    assert found.guarantee.epsilon <= 1.0 + 1e-9


@pytest.mark.long
def test_private_runs_report_no_objective(easy):
    for name in DESCENDING:
        found = fit(name, easy[0], {"gradients": 20, "stages": 7})
        assert all(math.isnan(iteration.objective) for iteration in found.convergence)
        assert len(found.convergence) == 7
    for name in ("notears", "moment-notears"):
        found = fit(name, easy[0])
        assert all(math.isfinite(iteration.objective) for iteration in found.convergence)


@pytest.mark.long
@pytest.mark.parametrize("name", FITS)
def test_levels_are_coded(name):
    generator = np.random.default_rng(1)
    a = generator.integers(0, 2, 4000)
    b = np.where(generator.random(4000) < 0.1, generator.integers(0, 3, 4000), 2 * a)
    c = generator.integers(0, 2, 4000)
    source = counts_of(np.column_stack((a, b, c)), (2, 3, 2))
    found = fit(name, source, {} if name == "notears" else {"epsilon": 5.0})
    assert found.graph.skeleton == {(0, 1)}
    if name != "notears":
        assert shows(found.guarantee.public[1], "levels-in-order-public")


@pytest.mark.long
def test_units_change_what_weights_mean(easy):
    data, truth = easy
    own = fit("notears", data).weights
    scaled = fit("notears", data, {"units": "bounds", "sparsity": 0.0}).weights
    free = fit("notears", data, {"sparsity": 0.0}).weights
    assert own.shape == scaled.shape
    assert not np.allclose(scaled, free, atol=0.05)
    unit = fit("notears", data, {"units": "unit variance"})
    # With equal variances directions are lost, adjacencies hardly.
    assert skeleton_metrics(unit.graph, truth).f1 > 0.6


@pytest.mark.long
def test_a_common_factor_of_the_bounds_changes_nothing(easy):
    data = easy[0]
    for factor in (1e-150, 1e150):
        bounds = tuple((low * factor, high * factor) for low, high in data.bounds)
        other = NumericRows(data.names, bounds, data._scaled)
        for name in ("notears", "noleaks"):
            given = {"gradients": 10} if name == "noleaks" else {}
            found, same = (fit(name, rows, given).weights for rows in (other, data))
            assert found == pytest.approx(same, abs=1e-3)


class Listening(NoHooks):
    """Hears everything, and cancels when a step with that number comes."""

    def __init__(self, last=math.inf):
        self.heard, self._last = [], last

    def progress(self, progress):
        self.heard.append(progress)

    def cancelled(self):
        return len(self.heard) >= self._last


@pytest.mark.long
@pytest.mark.parametrize("name", FITS)
def test_hooks_hear_of_every_step(easy, name):
    hooks = Listening()
    found = fit(name, easy[0], hooks=hooks)
    done = [progress.done for progress in hooks.heard]
    assert done == sorted(done)
    assert [progress.tests_run for progress in hooks.heard] == list(range(1, len(done) + 1))
    if name in DESCENDING:
        assert done == list(range(1, 101))
        assert {(p.noun, p.pairs) for p in hooks.heard} == {("gradient", 100)}
    else:
        assert done[-1] == len(found.convergence)
        # Many steps within each iteration.
        assert len(done) > 5 * done[-1]
        assert {(p.noun, p.pairs) for p in hooks.heard} == {("iteration", 100)}


@pytest.mark.parametrize("name", FITS)
def test_a_run_can_be_cancelled_between_any_two_steps(easy, name):
    cases = [{}] if name not in DESCENDING else [{}, {"calibration": "published"}]
    for given in cases:
        for last in (1, 7):
            hooks = Listening(last)
            with pytest.raises(Cancelled):
                fit(name, easy[0], given, hooks=hooks)
            assert len(hooks.heard) == last


def one_sentence(error):
    text = str(error.value)
    assert text.endswith(".")
    assert text.count(". ") == 0
    return text


def test_bad_columns_are_named():
    x = np.random.default_rng(1).normal(size=(100, 3))
    constant = x.copy()
    constant[:, 1] = 0.5
    with pytest.raises(DataError, match=says("constant-column", name="X2")) as error:
        fit("notears", source(constant))
    one_sentence(error)
    collinear = x.copy()
    collinear[:, 2] = 0.5 * x[:, 0] - 0.2 * x[:, 1]
    with pytest.raises(DataError, match=says("collinear-column")) as error:
        fit("notears", source(collinear))
    one_sentence(error)


@pytest.mark.long
@pytest.mark.parametrize("name", PRIVATE)
def test_private_forms_do_not_look_for_bad_columns(name):
    """Nor does the reference that they are compared with."""
    x = np.random.default_rng(1).normal(size=(5_000, 3)).clip(-4, 4)
    x[:, 1] = 0.5
    x[:, 2] = 0.5 * x[:, 0]
    found = fit(name, source(x), {"epsilon": 1.0})
    assert np.isfinite(found.weights).all()
    for units in ("original", "bounds", "unit variance"):
        given = parse_all(FITS[name][0].parameters, {}, name)
        plain = fit("notears", source(x), {**reference(given), "units": units})
        assert plain.graph.skeleton == {(0, 2)}
        assert not plain.weights[1].any()
        assert not plain.weights[:, 1].any()
    nothing = source(np.full((100, 3), 0.5))
    assert not fit("notears", nothing, {"degenerate": "keep"}).weights.any()


@pytest.mark.parametrize("name", FITS)
def test_too_few_rows_and_numbers_that_are_none(name):
    x = np.random.default_rng(1).normal(size=(4, 6))
    with pytest.raises(DataError, match=says("too-few-rows", rows=4, columns=6)) as error:
        fit(name, source(x))
    one_sentence(error)
    x = np.random.default_rng(1).normal(size=(50, 3))
    x[3, 1] = np.nan
    with pytest.raises(DataError, match=says("values-not-finite")) as error:
        fit(name, source(x))
    one_sentence(error)


@pytest.mark.parametrize("name", PRIVATE)
def test_an_epsilon_too_small_for_one_step(name):
    data = source(np.random.default_rng(1).normal(size=(100, 3)))
    with pytest.raises(ParameterError, match=says("epsilon-too-small", epsilon="0.001")) as error:
        fit(name, data, {"epsilon": 0.001})
    one_sentence(error)


def test_a_first_budget_above_the_total():
    data = source(np.random.default_rng(1).normal(size=(1000, 3)))
    given = {"calibration": "published", "epsilon": 0.01, "first_epsilon": 0.05}
    with pytest.raises(ParameterError, match=says("less-than-one-gradient")) as error:
        fit("curate-score", data, given)
    one_sentence(error)
    given = {"calibration": "published", "epsilon": 1000.0, "first_epsilon": 1e-6}
    with pytest.raises(ParameterError, match=says("too-many-gradients", limit="100,000")) as error:
        fit("curate-score", data, {**given, "schedule": "additive"})
    one_sentence(error)
