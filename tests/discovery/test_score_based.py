"""NOTEARS and its private kin: exactness, budgets, published forms, and bad input."""

import math

import numpy as np
import pytest

from privcore.counts import NumericRows
from privcore.dataset.equations import LinearGaussian, random_weights
from privcore.dataset.random_graph import random_dag
from privcore.discovery import curate_score, moment_notears, noleaks, notears
from privcore.discovery.curate_score import CURATE_SCORE
from privcore.discovery.model import NoHooks, Run
from privcore.discovery.moment_notears import MOMENT_NOTEARS
from privcore.discovery.noleaks import NOLEAKS
from privcore.discovery.notears import NOTEARS
from privcore.errors import Cancelled, DataError, ParameterError
from privcore.evaluation import skeleton_metrics
from privcore.graphs import PDAG
from privcore.mechanisms import SimulatedNoise
from privcore.mechanisms.gaussian import gaussian_delta, gaussian_mu
from privcore.parameter import parse_all
from privcore.score_based.schedules import SCHEDULES, budgets, lemma_count

FITS = {
    "notears": (NOTEARS, notears.fit),
    "moment-notears": (MOMENT_NOTEARS, moment_notears.fit),
    "noleaks": (NOLEAKS, noleaks.fit),
    "curate-score": (CURATE_SCORE, curate_score.fit),
}
PRIVATE = tuple(name for name in FITS if name != "notears")
DESCENDING = ("noleaks", "curate-score")


class CodedRows:
    """Levels coded −1 … 1, as unique rows with multiplicities."""

    levels = (2, 3, 2)
    names = ("a", "b", "c")
    caveats = ()

    def __init__(self, rows, times):
        self._rows, self._times, self.n = rows, times, int(times.sum())

    def rows(self):
        return self._rows, self._times

    def moments(self, radius=None):
        x = self._rows
        if radius is not None:
            x = x * np.minimum(1, radius / np.linalg.norm(x, axis=1))[:, None]
        full = np.column_stack((np.ones(len(x)), x))
        return (full * self._times[:, None]).T @ full / self.n


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
    checked = parse_all(algorithm.parameters, given or {}, name)
    return function(Run(data, checked, noise or SimulatedNoise(seed), hooks or NoHooks()))


class Silent(SimulatedNoise):
    """Adds nothing, and remembers what it was asked for."""

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


@pytest.mark.parametrize("name", PRIVATE)
def test_without_noise_the_graph_is_that_of_notears(easy, name):
    data, truth = easy
    plain = fit("notears", data).graph
    given = {"radius": 1.0} if name == "moment-notears" else {"clip": 50.0, "gradients": 300}
    found = fit(name, data, given, noise=Silent()).graph
    assert edit_distance(found, plain) <= (0 if name == "moment-notears" else 2)
    assert edit_distance(plain, truth) <= 1


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


@pytest.mark.parametrize("name", FITS)
def test_graphs_have_no_cycles_and_follow_the_weights(easy, name):
    found = fit(name, easy[0], {"weight_threshold": 0.05})
    order = found.graph
    assert found.weights.shape == (10, 10)
    assert not np.diag(found.weights).any()
    assert all(abs(found.weights[i, j]) > 0.05 for i, j in order.directed)
    assert not order.undirected
    reached = {j: {i for i, k in order.directed if k == j} for j in range(10)}
    for _ in range(10):
        reached = {
            j: causes | {b for a in causes for b in reached[a]} for j, causes in reached.items()
        }
    assert all(j not in causes for j, causes in reached.items())


@pytest.mark.parametrize("name", DESCENDING)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_the_noise_of_all_gradients_is_worth_the_total_exactly(easy, name, epsilon):
    data = easy[0]
    for given in [{"schedule": s} for s in SCHEDULES] if name == "curate-score" else [{}]:
        watching = Silent()
        found = fit(name, data, {"epsilon": epsilon, "gradients": 37, **given}, noise=watching)
        clip = 10.0
        mus = [2 * clip / (data.n * sigma) for sigma in watching.scales]
        assert len(mus) == found.tests_run == 37
        together = math.sqrt(math.fsum(mu * mu for mu in mus))
        assert together == pytest.approx(gaussian_mu(epsilon, 1e-6), rel=1e-9)
        assert gaussian_delta(epsilon, together * (1 - 1e-9)) <= 1e-6
        guarantee = found.guarantee
        assert (guarantee.epsilon, guarantee.delta, guarantee.holds) == (epsilon, 1e-6, True)
        assert found.spent.used <= found.spent.total
        charges = [step.charge for step in found.trace]
        assert math.fsum(charges) == pytest.approx(found.spent.used)
        if name == "curate-score":
            assert mus == sorted(mus)


def test_noleaks_asks_for_equal_noise(easy):
    watching = Silent()
    fit("noleaks", easy[0], {"gradients": 4}, noise=watching)
    sigma = 2 * 10.0 * math.sqrt(4) / (easy[0].n * gaussian_mu(1.0, 1e-6))
    assert watching.scales == pytest.approx([sigma] * 4)


def test_published_noleaks_adds_up_after_the_run(easy):
    watching = Silent()
    given = {"calibration": "published", "epsilon": 0.5, "gradients": 20, "entry_clip": 2.0}
    found = fit("noleaks", easy[0], given, noise=watching)
    sigma = math.sqrt(90) * 2 * 2.0 / easy[0].n / gaussian_mu(0.5, 1e-6)
    assert watching.scales == pytest.approx([sigma] * 20)
    assert found.guarantee.epsilon == pytest.approx(10.0)
    assert found.guarantee.delta == pytest.approx(2e-5)
    assert not found.guarantee.holds
    assert "clips the mean gradient" in found.guarantee.caveats[0]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_published_curate_stays_within_the_total(easy, schedule):
    watching = Silent()
    given = {"calibration": "published", "schedule": schedule, "first_epsilon": 0.04}
    found = fit("curate-score", easy[0], given, noise=watching)
    count = lemma_count(schedule, 1.0, 0.04)
    assert len(watching.scales) == count
    expected = [
        math.sqrt(90) * 2 / easy[0].n / gaussian_mu(e, 1e-6) for e in budgets(schedule, 0.04, count)
    ]
    assert watching.scales == pytest.approx(expected)
    assert found.guarantee.epsilon == pytest.approx(budgets(schedule, 0.04, count).sum())
    assert found.guarantee.epsilon <= 1.0 + 1e-9


def test_private_runs_report_no_objective(easy):
    for name in DESCENDING:
        found = fit(name, easy[0], {"gradients": 20, "stages": 7})
        assert all(math.isnan(iteration.objective) for iteration in found.convergence)
        assert len(found.convergence) == 7
    for name in ("notears", "moment-notears"):
        found = fit(name, easy[0])
        assert all(math.isfinite(iteration.objective) for iteration in found.convergence)


@pytest.mark.parametrize("name", FITS)
def test_levels_are_coded(name):
    generator = np.random.default_rng(1)
    a = generator.integers(0, 2, 4000)
    b = np.where(generator.random(4000) < 0.1, generator.integers(0, 3, 4000), 2 * a)
    c = generator.integers(0, 2, 4000)
    coded = np.column_stack((2 * a - 1, b - 1, 2 * c - 1)).astype(float)
    rows, times = np.unique(coded, axis=0, return_counts=True)
    found = fit(name, CodedRows(rows, times), {} if name == "notears" else {"epsilon": 5.0})
    assert found.graph.skeleton == {(0, 1)}
    if name != "notears":
        assert "levels in order" in found.guarantee.public[1]


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


def test_a_common_factor_of_the_bounds_changes_nothing(easy):
    data = easy[0]
    for factor in (1e-150, 1e150):
        bounds = tuple((low * factor, high * factor) for low, high in data.bounds)
        other = NumericRows(data.names, bounds, data._scaled)
        for name in ("notears", "noleaks"):
            assert fit(name, other).weights == pytest.approx(fit(name, data).weights, abs=1e-3)


def test_hooks_hear_and_cancel(easy):
    heard = []

    class Listening(NoHooks):
        def progress(self, progress):
            heard.append(progress.done)

    for name in FITS:
        heard.clear()
        found = fit(name, easy[0], hooks=Listening())
        assert heard == list(range(1, len(found.convergence) + 1))

    class Cancelling(NoHooks):
        def cancelled(self):
            return True

    for name in FITS:
        with pytest.raises(Cancelled):
            fit(name, easy[0], hooks=Cancelling())


def one_sentence(error):
    text = str(error.value)
    assert text.endswith(".")
    assert text.count(". ") == 0
    return text


def test_bad_columns_are_named():
    x = np.random.default_rng(1).normal(size=(100, 3))
    constant = x.copy()
    constant[:, 1] = 0.5
    with pytest.raises(DataError, match="'X2' has the same value in every row") as error:
        fit("notears", source(constant))
    one_sentence(error)
    collinear = x.copy()
    collinear[:, 2] = 0.5 * x[:, 0] - 0.2 * x[:, 1]
    with pytest.raises(DataError, match="is a linear combination of others") as error:
        fit("notears", source(collinear))
    one_sentence(error)


@pytest.mark.parametrize("name", PRIVATE)
def test_private_forms_do_not_look_for_bad_columns(name):
    x = np.random.default_rng(1).normal(size=(5_000, 3)).clip(-4, 4)
    x[:, 1] = 0.5
    x[:, 2] = 0.5 * x[:, 0]
    found = fit(name, source(x), {"epsilon": 1.0})
    assert np.isfinite(found.weights).all()


@pytest.mark.parametrize("name", FITS)
def test_too_few_rows_and_numbers_that_are_none(name):
    x = np.random.default_rng(1).normal(size=(4, 6))
    with pytest.raises(DataError, match="There are 4 rows for 6 columns") as error:
        fit(name, source(x))
    one_sentence(error)
    x = np.random.default_rng(1).normal(size=(50, 3))
    x[3, 1] = np.nan
    with pytest.raises(DataError, match="infinite or not numbers") as error:
        fit(name, source(x))
    one_sentence(error)


@pytest.mark.parametrize("name", PRIVATE)
def test_an_epsilon_too_small_for_one_step(name):
    data = source(np.random.default_rng(1).normal(size=(100, 3)))
    with pytest.raises(ParameterError, match=r"epsilon is 0\.001, too small") as error:
        fit(name, data, {"epsilon": 0.001})
    one_sentence(error)


def test_a_first_budget_above_the_total():
    data = source(np.random.default_rng(1).normal(size=(1000, 3)))
    given = {"calibration": "published", "epsilon": 0.01, "first_epsilon": 0.05}
    with pytest.raises(ParameterError, match="pays for less than one gradient") as error:
        fit("curate-score", data, given)
    one_sentence(error)
    given = {"calibration": "published", "epsilon": 1000.0, "first_epsilon": 1e-6}
    with pytest.raises(ParameterError, match="more than 100,000 gradients") as error:
        fit("curate-score", data, {**given, "schedule": "additive"})
    one_sentence(error)
