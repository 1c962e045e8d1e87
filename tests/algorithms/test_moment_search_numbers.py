"""Moment search on numbers and on mixed tables: its limit, its noise, what it is computed from."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from privcore.algorithms import count, discover
from privcore.algorithms.engine import planned_events
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.power import PublicShape, visible_sentence
from privcore.counts import InMemoryCounts, MixedRows, NumericRows
from privcore.data import Column, Dataset, StructuralExample, discretise, load_network
from privcore.errors import DataError
from privcore.graphs import cpdag_of_names
from privcore.measures import cpdag_metrics, skeleton_metrics
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import gaussian_delta, gaussian_mu
from privcore.privacy.mechanisms.moment_release import weighted_sensitivity
from tests.examples import examples
from tests.transcripts import Recorder, Replay

BOUNDS = ((-1.0, 1.0),) * 3


def example(seed, n, nodes=12, density=0.2):
    data = StructuralExample(
        "linear-gaussian", nodes=nodes, density=density, graph_seed=seed
    ).sample(n, seed)
    return count(data), cpdag_of_names(data.names, data.true_edges)


@pytest.mark.parametrize("graphs", [2, pytest.param(6, marks=pytest.mark.long)])
def test_with_a_vast_budget_it_is_at_least_as_good_as_pc(graphs):
    ours, theirs = [], []
    for seed in range(700, 700 + graphs):
        source, truth = example(seed, 50_000)
        found = discover(source, "moment-search", {"epsilon": 1e5}, seed=1).graph
        reference = discover(source, "pc", {"threshold": 0.01}).graph
        ours.append((skeleton_metrics(found, truth).f1, cpdag_metrics(found, truth).f1))
        theirs.append((skeleton_metrics(reference, truth).f1, cpdag_metrics(reference, truth).f1))
    (skeleton, cpdag), (of_pc, marks_of_pc) = np.mean(ours, axis=0), np.mean(theirs, axis=0)
    assert skeleton >= of_pc
    assert cpdag >= marks_of_pc
    assert skeleton > 0.95


@pytest.mark.parametrize("graphs", [2, pytest.param(5, marks=pytest.mark.long)])
def test_more_budget_finds_more(graphs):
    """On average; the figures are far apart."""
    quality = [
        np.mean(
            [
                skeleton_metrics(
                    discover(source, "moment-search", {"epsilon": epsilon}, seed=1).graph, truth
                ).f1
                for source, truth in (example(seed, 10_000) for seed in range(710, 710 + graphs))
            ]
        )
        for epsilon in (0.03, 0.2, 1e3)
    ]
    assert quality[0] + 0.1 < quality[1] < quality[2]


def uniform(generator, n):
    return generator.uniform(-1, 1, (n, 6)) * 0.6 + 0.2


def skewed(generator, n):
    """Far from the middle of their bounds, with long tails on one side."""
    return np.clip(generator.exponential(0.1, (n, 6)) - 0.9, -1, 1)


@pytest.mark.parametrize("draw", [uniform, skewed])
@pytest.mark.parametrize("epsilon", [0.3, 5.0, 1e4])
@pytest.mark.parametrize("runs", [15, pytest.param(100, marks=pytest.mark.long)])
def test_where_nothing_depends_on_anything_few_runs_show_an_edge(epsilon, draw, runs):
    """At most q = .03 of the runs; fails by chance less than once in a million.

    Shortening rows must not make columns depend on each other, whatever their shape.
    """
    any_edge = 0
    for seed in range(runs):
        rows = draw(np.random.default_rng(seed), 3_000)
        source = NumericRows(tuple("abcdef"), ((-1.0, 1.0),) * 6, rows)
        found = discover(source, "moment-search", {"epsilon": epsilon}, seed=seed)
        any_edge += bool(found.graph.skeleton)
    assert binom.sf(any_edge - 1, runs, 0.03) > 1e-6


def test_the_releases_have_the_noise_that_was_derived():
    rows = np.random.default_rng(1).uniform(-1, 1, (500, 3))
    noise = Recorder(1)
    asked = {"epsilon": 0.7, "delta": 1e-5}
    source = NumericRows(("a", "b", "c"), BOUNDS, rows)
    result = discover(source, "moment-search", asked, noise=noise)
    scales, moments = (sigma for what, _, sigma, _ in noise.calls if what == "gaussian")
    mu = gaussian_mu(0.7, 1e-5)
    assert scales == pytest.approx(2 * math.sqrt(3) / 500 / (mu * math.sqrt(0.1)))
    assert moments == pytest.approx(weighted_sensitivity(1.0, 500) / (mu * math.sqrt(0.9)))
    assert len(noise.calls) == 2
    assert sum(1 / event.value**2 for event in result.planned) == pytest.approx(mu * mu)
    assert [step.charge for step in result.trace if step.phase == "release"] == pytest.approx(
        [0.1, 0.9]
    )
    assert result.guarantee.holds
    assert result.guarantee.epsilon == 0.7


@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    row=st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    epsilon=st.sampled_from([0.3, 8.0, 300.0]),
)
def test_numbers_keep_to_the_total_and_to_the_noisy_outputs(seed, row, epsilon):
    """A neighbour fed the same outputs gives the same result, findings included."""
    rows = np.random.default_rng(seed).uniform(-1, 1, (80, 3))
    rows[:, 1] = np.clip(0.7 * rows[:, 0] + 0.3 * rows[:, 1], -1, 1)
    rows[0] = 1
    other = rows.copy()
    other[0] = row
    asked = {"epsilon": epsilon, "delta": 1e-5}
    first = Recorder(seed)
    before = discover(
        NumericRows(("a", "b", "c"), BOUNDS, rows), "moment-search", asked, noise=first
    )
    second = Replay(first.calls)
    after = discover(
        NumericRows(("a", "b", "c"), BOUNDS, other), "moment-search", asked, noise=second
    )
    assert before.graph == after.graph
    assert before.findings == after.findings
    assert (before.spent, before.tests_run) == (after.spent, after.tests_run)
    squares = sum(
        float(np.sum((value - there) ** 2)) / sigma**2
        for (_, value, sigma, _), (_, there, _, _) in zip(first.calls, second.calls, strict=True)
    )
    assert gaussian_delta(epsilon, math.sqrt(squares)) <= 1e-5 * (1 + 1e-6)


def mixed(n=6_000, seed=1):
    generator = np.random.default_rng(seed)
    sex = generator.integers(0, 2, n)
    height = 165 + 12 * sex + 6 * generator.standard_normal(n)
    shoe = 0.2 * height + 5 + 0.8 * generator.standard_normal(n)
    dice = generator.integers(0, 6, n)
    columns = (
        Column("sex", "nominal", ("f", "m"), declared=True),
        Column("height", "continuous", bounds=(140.0, 210.0), declared=True),
        Column("shoe", "continuous", bounds=(30.0, 50.0), declared=True),
        Column("dice", "ordinal", tuple("123456"), declared=True),
    )
    values = (
        sex.astype(np.uint8),
        np.clip(height, 140, 210),
        np.clip(shoe, 30, 50),
        dice.astype(np.uint8),
    )
    return Dataset("mixed", columns, values)


def without(data, *names):
    kept = [k for k, name in enumerate(data.names) if name not in names]
    return Dataset(
        "mixed", tuple(data.columns[k] for k in kept), tuple(data.values[k] for k in kept)
    )


def test_numbers_beside_more_than_two_levels_are_cut_by_what_is_released():
    data, noise = mixed(), Recorder(1)
    asked = {"epsilon": 5.0}
    result = discover(data, "moment-search", asked, noise=noise)
    assert {(0, 1), (1, 2)} <= result.graph.skeleton
    assert not any(3 in pair for pair in result.graph.skeleton)
    assert "height, shoe cut into 4 levels by their released middle and spread" in (
        result.guarantee.public
    )
    assert result.intervals is None
    assert result.guarantee.holds
    assert planned_events("moment-search", asked, count(data)) == result.planned
    # The middle and spread of the two numbers alone, with a tenth of the budget; then counts.
    (_, scales, sigma, _), (_, pairs, _, _), *_ = noise.calls
    assert scales.shape == (4,)
    assert sigma == pytest.approx(
        2 * math.sqrt(2) / data.n / (gaussian_mu(5.0, 1e-6) * math.sqrt(0.1))
    )
    by_hand = tuple(
        np.mean((2 * values - low - high) / (high - low))
        for values, (low, high) in zip(data.values[1:3], ((140, 210), (30, 50)), strict=True)
    )
    assert scales[:2] == pytest.approx(by_hand, abs=1e-6)
    assert len(result.margins[1].probabilities) == 4
    assert max(result.margins[1].probabilities) < 0.35
    assert pairs.shape == (1 + 3 + 3 + 5 + 3 + 3 + 5 + 9 + 15 + 15,)


def test_numbers_beside_yes_and_no_stay_numbers_where_lines_tell_all():
    data = without(mixed(30_000), "dice")
    result = discover(data, "moment-search", {"epsilon": 1.0}, seed=1)
    assert result.intervals is None
    assert result.graph.skeleton == {(0, 1), (1, 2)}
    assert "columns with two levels count as −1 and 1" in result.guarantee.public
    # The same moments as of a table in which yes and no are numbers.
    coded = Dataset(
        "coded",
        (Column("sex", "continuous", bounds=(0.0, 1.0), declared=True), *data.columns[1:]),
        (data.values[0].astype(float), *data.values[1:]),
    )
    assert count(data).numbers().moments() == pytest.approx(count(coded).moments())
    assert planned_events("moment-search", {}, count(data)) == result.planned


def test_numbers_beside_yes_and_no_are_cut_where_lines_miss_much():
    data = without(mixed(30_000), "dice")
    height = data.values[1]
    far = (np.abs(height - height.mean()) > 8).astype(np.uint8)
    bent = Dataset(
        "bent",
        (*data.columns, Column("far", "nominal", ("no", "yes"), declared=True)),
        (*data.values, far),
    )
    result = discover(bent, "moment-search", {"epsilon": 1.0}, seed=1)
    assert result.intervals == 8
    assert (1, 3) in result.graph.skeleton
    assert [len(m.probabilities) for m in result.margins] == [2, 8, 8, 2]


def test_what_can_be_seen_of_mixed_columns_is_said_as_of_numbers_or_of_levels():
    parameters = MomentSearchParameters.checked({}, "moment-search")
    data = mixed()
    levels, numbers = (
        visible_sentence(PublicShape.of(count(d)), parameters)
        for d in (data, without(data, "dice"))
    )
    assert "Cramér's V" in levels
    assert "a correlation of" in numbers


def test_pc_cuts_mixed_columns_alike():
    data = mixed()
    result = discover(data, "pc", {"mixed_levels": 3})
    by_hand = discover(discretise(data, {"height": 3, "shoe": 3}), "pc")
    assert result.graph == by_hand.graph


def test_other_algorithms_say_what_to_do_about_mixed_columns():
    with pytest.raises(DataError, match=r"'height' is continuous .* or choose moment-search"):
        discover(mixed(), "priv-pc", seed=1)


def test_mixed_rows_are_counted_once_for_each_number_of_levels():
    source = count(mixed())
    assert isinstance(source, MixedRows)
    assert source.counts(4) is source.counts(4)
    assert source.counts(3).levels == (2, 3, 3, 6)


class OnlyTables:
    """A source with the methods of the protocol that moment search may use, and no others."""

    holds = "levels"

    def __init__(self, source):
        self.names, self.n, self.levels = source.names, source.n, source.levels
        self.caveats, self.unit = source.caveats, source.unit
        self._source, self.asked = source, []

    def table(self, columns):
        self.asked.append(tuple(columns))
        return self._source.table(columns)


@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_any_source_of_tables_gives_the_same_result(epsilon):
    source = InMemoryCounts.from_dataset(load_network("asia").sample(20_000, 1))
    small = OnlyTables(source)
    one = discover(source, "moment-search", {"epsilon": epsilon}, seed=3)
    other = discover(small, "moment-search", {"epsilon": epsilon}, seed=3)
    assert one.graph == other.graph
    assert one.findings == other.findings
    assert one.trace[0] == other.trace[0]
    assert one.guarantee == other.guarantee
    # Every table is requested as a set of distinct columns, and few of them.
    assert all(len(set(columns)) == len(columns) for columns in small.asked)
    assert len(small.asked) <= 8 + 28 + 16


class OnlyMoments:
    """The same for numbers."""

    holds = "numbers"

    def __init__(self, source):
        self.names, self.n, self.caveats = source.names, source.n, source.caveats
        self.unit = source.unit
        self.moments, self.moments_about = source.moments, source.moments_about
        self.rows, self.own_levels, self.bounds = source.rows, source.own_levels, source.bounds


def test_any_source_of_moments_gives_the_same_result():
    source, _ = example(701, 5_000)
    one, other = (
        discover(s, "moment-search", {"epsilon": 1.0}, noise=SimulatedNoise(5))
        for s in (source, OnlyMoments(source))
    )
    assert one.graph == other.graph
    assert one.findings == other.findings
