"""Structural examples: graphs as asked, moments as the weights say, bounds never exceeded."""

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from privcore.data import EXAMPLES, StructuralExample, intervals, load_network
from privcore.errors import DataError, ParameterError
from tests.messages import outside, raises_code, says

NUMERIC = ("linear-gaussian", "nonlinear")


def columns_of(dataset):
    return np.column_stack(dataset.values)


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize(("nodes", "density"), [(2, 1.0), (5, 0.0), (10, 0.2), (20, 0.1)])
def test_edges_are_as_many_as_asked_and_acyclic(kind, nodes, density):
    for seed in range(5):
        example = StructuralExample(kind, nodes=nodes, density=density, graph_seed=seed)
        assert len(example.edges) == round(density * nodes * (nodes - 1) / 2)
        graph = nx.DiGraph(example.edges)
        assert nx.is_directed_acyclic_graph(graph)
        assert set(graph) <= set(example.names)


def test_the_examples_share_a_graph_and_seeds_tell_graphs_apart():
    graphs = {StructuralExample(kind, density=0.3, graph_seed=4).edges for kind in EXAMPLES}
    assert len(graphs) == 1
    assert len({StructuralExample("nonlinear", graph_seed=s).edges for s in range(20)}) == 20


def test_edges_point_both_ways_along_the_names():
    """The order is random: X1 is not always the first cause."""
    forward = [
        int(a[1:]) < int(b[1:])
        for seed in range(20)
        for a, b in StructuralExample("nonlinear", graph_seed=seed).edges
    ]
    # Five standard deviations of 360 fair coins, doubled as edges of one order go together.
    assert abs(np.mean(forward) - 0.5) < 2 * 5 * 0.5 / np.sqrt(len(forward))


@pytest.mark.parametrize("kind", EXAMPLES)
def test_same_seed_same_rows_and_other_seed_other_rows(kind):
    def draw(seed):
        return columns_of(StructuralExample(kind).sample(500, seed))

    assert (draw(1) == draw(1)).all()
    assert (draw(1) != draw(2)).any()


@pytest.mark.parametrize("kind", EXAMPLES)
def test_data_sets_say_what_they_are(kind):
    example = StructuralExample(kind)
    dataset = example.sample(100, 1)
    assert (dataset.name, dataset.names, dataset.true_edges) == (kind, example.names, example.edges)
    assert dataset.caveats == ()
    assert example.title in dataset.source
    assert "Xu" in dataset.source
    recipe = dict(dataset.recipe)
    assert recipe.pop("example") == kind
    again = StructuralExample(kind, **recipe).sample(100, 1)
    assert (columns_of(again) == columns_of(dataset)).all()


@pytest.mark.parametrize("seed", range(3))
def test_linear_moments_are_those_of_the_weights(seed):
    """Against (I − W)⁻ᵀ (I − W)⁻¹, divided by its diagonal; five standard errors, 55 moments.

    The standard error of a mean product of standard Gaussians is √((1 + ρ²)/n).  Moving values to
    the bounds, at six standard deviations here, changes less than that by far.
    """
    n = 200_000
    example = StructuralExample("linear-gaussian", graph_seed=seed, bound=6.0)
    inverse = np.linalg.inv(np.eye(10) - example.model.weights)
    covariance = inverse.T @ inverse
    scale = np.sqrt(np.diag(covariance))
    expected = covariance / np.outer(scale, scale)
    assert np.allclose(example.model.covariance, covariance, rtol=1e-9)
    assert np.allclose(example.model.correlation, expected, atol=1e-12)
    rows = columns_of(example.sample(n, 7))
    assert (np.abs(rows.T @ rows / n - expected) < 5 * np.sqrt((1 + expected**2) / n)).all()
    assert (np.abs(rows.mean(axis=0)) < 5 / np.sqrt(n)).all()


@pytest.mark.parametrize("kind", NUMERIC)
@pytest.mark.parametrize("bound", [0.5, 4.0])
def test_bounds_hold_and_come_from_the_model(kind, bound):
    example = StructuralExample(kind, bound=bound)
    one, two = example.sample(20_000, 1), example.sample(200, 2)
    assert one.columns == two.columns
    for column, values in zip(one.columns, one.values, strict=True):
        low, high = column.bounds
        assert low == -high
        assert low <= values.min() < values.max() <= high
        moved = ((values == low) | (values == high)).mean()
        # Of a Gaussian column, exactly the tails are moved; otherwise at most the noise's.
        tails = 2 * stats.norm.sf(bound)
        assert moved < tails + 5 * np.sqrt(tails / 20_000) + 1e-9
        if kind == "linear-gaussian" and bound < 1:
            assert moved == pytest.approx(tails, abs=0.02)


def test_nonlinear_columns_follow_their_equations():
    """What the parents do not explain is the noise: its deviation, and no correlation with them."""
    example = StructuralExample("nonlinear", nodes=8, graph_seed=2, noise_sd=0.7)
    rows, model = columns_of(example.sample(50_000, 5)), example.model
    shapes = set()
    for node, causes in enumerate(example.dag.parents):
        rest = rows[:, node].copy()
        for cause in causes:
            wave = bool(model.waves[cause, node])
            shapes.add(wave)
            rest -= model.weights[cause, node] * (np.sin if wave else np.tanh)(2 * rows[:, cause])
        assert rest.std() == pytest.approx(0.7, abs=0.02)
        for cause in causes:
            assert abs(np.corrcoef(rest, rows[:, cause])[0, 1]) < 0.03
    assert shapes == {True, False}


def test_weights_are_in_the_range_asked():
    example = StructuralExample("linear-gaussian", nodes=30, weight_low=0.2, weight_high=0.3)
    weights = example.model.weights
    assert set(zip(*np.nonzero(weights), strict=True)) == set(example.dag.edges)
    sizes = np.abs(weights[weights != 0])
    assert (sizes.min() >= 0.2) & (sizes.max() <= 0.3)
    assert (weights > 0).any()
    assert (weights < 0).any()


def test_extreme_models_stay_finite():
    example = StructuralExample(
        "linear-gaussian", nodes=100, density=1.0, weight_low=10, weight_high=10
    )
    dataset = example.sample(100, 1)
    assert np.isfinite(columns_of(dataset)).all()
    assert np.allclose(np.diag(example.model.correlation), 1)


@pytest.mark.parametrize("concentration", [0.1, 1.0, 100.0])
def test_tables_are_distributions_over_two_to_five_levels(concentration):
    example = StructuralExample("random-categorical", nodes=30, concentration=concentration)
    for variable in example.model.variables:
        assert 2 <= len(variable.column.levels) <= 5
        assert (variable.column.kind, variable.column.declared) == ("nominal", True)
        assert (variable.probabilities >= 0).all()
        assert np.allclose(variable.probabilities.sum(axis=1), 1, atol=1e-12)
    assert {len(v.column.levels) for v in example.model.variables} == {2, 3, 4, 5}
    assert example.model.edges
    assert set(example.model.edges) == set(example.edges)


def test_small_concentration_makes_strong_dependence():
    def largest(concentration):
        example = StructuralExample("random-categorical", concentration=concentration)
        return np.mean([v.probabilities.max(axis=1).mean() for v in example.model.variables])

    assert largest(0.2) > largest(1.0) > largest(50.0)


@pytest.mark.parametrize("kind", NUMERIC)
def test_intervals_divide_the_public_bounds(kind):
    dataset = StructuralExample(kind).sample(5_000, 1)
    cut = intervals(dataset, 5)
    assert cut.levels == (5,) * 10
    assert cut.undeclared == ()
    assert cut.true_edges == dataset.true_edges
    assert cut.recipe == {**dataset.recipe, "intervals": 5}
    low, high = dataset.columns[0].bounds
    codes = np.floor((dataset.values[0] - low) / (high - low) * 5).clip(0, 4)
    assert (cut.values[0] == codes).all()


def test_what_has_levels_is_not_cut():
    for dataset in (
        StructuralExample("random-categorical").sample(100, 1),
        load_network("asia").sample(100, 1),
    ):
        with pytest.raises(DataError, match=says("levels-already")):
            intervals(dataset, 4)
    with pytest.raises(DataError, match=says("cut-from-to", low=2, high=100)):
        intervals(StructuralExample("nonlinear").sample(100, 1), 1)


@pytest.mark.parametrize(
    ("kind", "arguments", "sentence"),
    [
        (
            "magic",
            {},
            says(
                "which-examples-there-are", name="magic", names="linear-gaussian, nonlinear, random"
            ),
        ),
        ("nonlinear", {"nodes": 1}, outside("nodes", 1)),
        ("nonlinear", {"nodes": 201}, outside("nodes", 201)),
        ("nonlinear", {"nodes": 2.5}, outside("nodes", "2.5")),
        ("nonlinear", {"density": -0.1}, outside("density", "-0.1")),
        ("nonlinear", {"density": 1.1}, outside("density", "1.1")),
        ("nonlinear", {"density": float("nan")}, outside("density", "nan")),
        ("nonlinear", {"graph_seed": -1}, outside("graph-seed", "-1")),
        ("nonlinear", {"noise_sd": 0}, outside("noise-sd", 0)),
        ("nonlinear", {"noise_sd": float("inf")}, outside("noise-sd", "inf")),
        ("nonlinear", {"weight_low": "much"}, outside("weight-low", "much")),
        (
            "nonlinear",
            {"weight_low": 2},
            says("above-another", name="weight-low", value=2, other="weight-high", limit=1),
        ),
        ("linear-gaussian", {"bound": 0}, outside("bound", 0)),
        ("linear-gaussian", {"noise_sd": 1}, says("no-such-parameter", name="noise_sd")),
        ("random-categorical", {"concentration": 0}, outside("concentration", 0)),
        ("random-categorical", {"bound": 4}, says("no-such-parameter", name="bound")),
    ],
)
def test_impossible_examples(kind, arguments, sentence):
    with pytest.raises(ParameterError, match=sentence):
        StructuralExample(kind, **arguments)


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize(
    ("rows", "seed", "sentence"),
    [
        (1, 1, outside("rows", 1)),
        (2.5, 1, outside("rows", "2.5")),
        (10_000_001, 1, outside("rows")),
        (10, -1, outside("seed")),
    ],
)
def test_impossible_samples(kind, rows, seed, sentence):
    with pytest.raises(ParameterError, match=sentence):
        StructuralExample(kind).sample(rows, seed)


def test_examples_too_large_for_memory():
    with raises_code(ParameterError, "tables-too-large"):
        StructuralExample("random-categorical", nodes=60, density=0.9).sample(10, 1)
    with raises_code(ParameterError, "too-many-rows-of-nodes"):
        StructuralExample("linear-gaussian", nodes=11).sample(10_000_000, 1)


def test_columns_as_the_equations_make_them():
    """Not divided: the covariance is (I − W)⁻ᵀ(I − W)⁻¹; standard error of an entry about 1 %."""
    example = StructuralExample("linear-gaussian", nodes=6, standardised=False, graph_seed=3)
    drawn = example.sample(40_000, 2)
    expected = example.model.covariance
    assert np.cov(np.stack(drawn.values)) == pytest.approx(expected, abs=0.06 * expected.max())
    for column, variance in zip(drawn.columns, np.diag(expected), strict=True):
        assert column.bounds == pytest.approx((-4 * variance**0.5, 4 * variance**0.5))
    assert drawn.true_edges == StructuralExample("linear-gaussian", nodes=6, graph_seed=3).edges
