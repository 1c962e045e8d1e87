"""The links of one column: what a record moves, which columns are measured, and what is found."""

import json
import math
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import binom

from privcore.algorithms import discover
from privcore.algorithms.engine import (
    planned_events,
    row_parameters,
    search_again,
    source_of,
)
from privcore.algorithms.moment_search.findings import MEASURED
from privcore.algorithms.moment_search.measure import bases_of
from privcore.algorithms.moment_search.moments import Measurement
from privcore.algorithms.moment_search.one_column import among_measured
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.plan import Products, plan_target
from privcore.algorithms.moment_search.released import pool, read_released, released_as_dict
from privcore.algorithms.moment_search.visible import (
    POWER,
    PublicShape,
    plan_of,
    visible_effects,
)
from privcore.algorithms.search.model import NoHooks, Run
from privcore.counts import InMemoryCounts, PublicColumns
from privcore.data import Column, Dataset
from privcore.display.sentences import changing_sentence
from privcore.errors import DataError, ParameterError
from privcore.faces.cli import main
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge
from privcore.independence.linear_scores import basis_of
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import planned_mu
from privcore.privacy.mechanisms.no_noise import NoNoise
from tests.examples import examples
from tests.messages import raises_code
from tests.transcripts import Recorder

ASKED = {"measured": "target"}


def answers(columns, rows, seed=1, independent=False):
    """Answers 0 … 4: the first column is linked with the second and the third."""
    drawn = np.random.default_rng(seed)
    values = drawn.normal(size=(rows, columns))
    if not independent:
        values[:, 1] += values[:, 0]
        values[:, 2] += values[:, 0]
    codes = np.clip(np.round(2 + values / values.std(axis=0)), 0, 4).astype(np.uint8)
    described = tuple(
        Column(f"q{k}", "ordinal", tuple("12345"), declared=True) for k in range(columns)
    )
    return Dataset("answers", described, tuple(codes.T))


def numbers(columns, rows, seed=1):
    drawn = np.random.default_rng(seed)
    values = drawn.normal(size=(rows, columns))
    values[:, 1:3] += values[:, :1]
    described = tuple(
        Column(f"x{k}", "continuous", (), declared=True, bounds=(-5.0, 5.0)) for k in range(columns)
    )
    return Dataset("numbers", described, tuple(np.clip(values, -5, 5).T))


def products_of(rows, levels, bases, column):
    data = Dataset(
        "t",
        tuple(
            Column(f"c{k}", "nominal", tuple(map(str, range(r))), declared=True)
            for k, r in enumerate(levels)
        ),
        tuple(np.asarray(v).astype(np.uint8) for v in np.array(rows).T),
    )
    noise, widths = Recorder(1), [own.shape[1] for own in bases]
    bound = Products(n=len(rows), mu=1.0, own=widths[column], others=sum(widths) - widths[column])
    bound.measure(InMemoryCounts.from_dataset(data), noise, bases, column)
    ((_, values, _, _),) = noise.calls
    return np.asarray(values), bound


@settings(max_examples=examples(60), deadline=None)
@given(
    levels=st.lists(st.integers(2, 4), min_size=2, max_size=4),
    n=st.integers(2, 6),
    seed=st.integers(0, 10**6),
)
def test_no_replaced_record_moves_the_products_by_more(levels, n, seed):
    drawn = np.random.default_rng(seed)
    bases = tuple(basis_of(drawn.dirichlet(np.full(r, 0.3)), 0) for r in levels)
    rest = drawn.integers(0, levels, (n - 1, len(levels))).tolist()
    column = int(drawn.integers(len(levels)))
    made = [products_of([*rest, r], levels, bases, column) for r in product(*map(range, levels))]
    bound = made[0][1]
    for (one, _), (other, _) in combinations(made, 2):
        assert np.linalg.norm(one - other) <= bound.sensitivity


def test_some_replaced_record_moves_the_products_by_as_much():
    bases = (np.array([[-1.0], [1.0]]),) * 2
    (one, bound), (other, _) = (
        products_of([(0, 0), (0, 1), last], (2, 2), bases, 0) for last in ((1, 1), (1, 0))
    )
    assert np.linalg.norm(one - other) == pytest.approx(bound.sensitivity, rel=1e-6)


@pytest.mark.parametrize("levels", [(5,) * 30, (0,) * 30, (0, 3) * 15])
def test_the_plan_spends_all(levels):
    plan = plan_target(1_000, levels, (), 3, MomentSearchParameters(epsilon=1.0, delta=1e-6))
    mu = planned_mu(1.0, 1e-6)
    assert math.fsum(1 / event.value**2 for event in plan.events) == pytest.approx(mu * mu)
    assert sum(plan.shares) == pytest.approx(1)


def test_the_second_release_is_of_the_chosen_columns_alone():
    data, noise = answers(20, 3_000), Recorder(7)
    result = discover(data, "moment-search", {**ASKED, "target": "q0"}, noise=noise)
    looked = sorted({c for pair in result.findings for c in pair})
    off, on = noise.calls[-2:]
    # Means, products and squares of the measured columns, and nothing else.
    assert len(off[1]) + len(on[1]) == math.comb(len(looked) + 2, 2) - 1
    assert len(on[1]) == len(looked) < 20


def test_public_facts_choose_between_the_whole_graph_and_the_column():
    usual = MomentSearchParameters(epsilon=1.0, delta=1e-6)

    def alone(columns, rows, **given):
        levels = (5,) * columns
        plan = plan_of(rows, levels, levels, replace(usual, **given), 0)
        return plan.products is not None

    assert alone(40, 1_000)
    assert alone(60, 3_000)
    assert not alone(40, 100_000)
    # With so few columns, the products have no less noise than all second moments.
    assert not alone(5, 300)
    assert alone(5, 300, measured="target")
    assert not alone(40, 1_000, measured="lines")


@pytest.mark.parametrize("make", [answers, numbers])
def test_the_links_of_the_column_are_found_where_the_whole_graph_shows_none(make):
    data = make(40, 1_500)
    name = data.names[0]
    result = discover(data, "moment-search", {"epsilon": 1.0, "target": name}, seed=3)
    assert result.alone
    assert result.graph.adjacent(0) == {1, 2}
    assert result.graph.nodes == data.names
    assert all(0 in pair for pair in result.findings)
    for other in (1, 2):
        assert result.findings[0, other].probability > 0.9
    whole = discover(data, "moment-search", {"epsilon": 1.0}, seed=3)
    assert whole.graph.adjacent(0) == set()


def test_mixed_tables_are_asked_about_a_column():
    levels, more = answers(15, 2_000), numbers(15, 2_000, seed=2)
    data = Dataset("mixed", levels.columns + more.columns, levels.values + more.values)
    for name, links in (("q0", {1, 2}), ("x0", {16, 17})):
        result = discover(data, "moment-search", {"epsilon": 1.0, "target": name}, seed=1)
        assert result.graph.adjacent(data.names.index(name)) == links


@pytest.mark.parametrize("hidden", [False, True])
def test_without_noise_the_answer_is_the_part_of_the_graph_near_the_column(hidden):
    """A collider: its causes are linked, and each is drawn for the question about the other."""
    drawn = np.random.default_rng(4)
    x, z, other = drawn.integers(0, 2, (3, 20_000))
    y = (x + z + (drawn.random(20_000) < 0.3) > 1).astype(int)
    described = tuple(Column(n, "binary", ("0", "1"), declared=True) for n in "xyzw")
    data = Dataset("gate", described, tuple(v.astype(np.uint8) for v in (x, y, z, other)))
    settings = {**ASKED, "target": "y", "hidden_causes": hidden}
    result = discover(data, "moment-search", settings, noise=NoNoise())
    assert result.graph.skeleton == {(0, 1), (1, 2)}
    # What was not measured may cause both ends of a link.
    assert result.graph.directed == frozenset()
    assert all(finding.direction is None for finding in result.findings.values())
    pc = discover(data, "pc", {"target": "x"})
    assert pc.graph.directed == {(0, 1), (2, 1)}


def test_the_part_of_a_graph_near_a_column():
    graph = PDAG(tuple("abcde"), frozenset({(0, 1), (2, 1), (3, 2)}), frozenset({(0, 4)}))
    assert graph.near(0).directed == {(0, 1), (2, 1)}
    assert graph.near(0).undirected == {(0, 4)}
    assert graph.near(1).directed == {(0, 1), (2, 1)}
    assert graph.near(3).directed == {(3, 2)}


def test_links_of_independent_columns_are_false_in_few_runs():
    """False alarms at a level of 0.1 in 150 runs: more than allowed in one of 10⁶ such tests."""
    runs, level = 150, 0.1
    data = [answers(15, 600, seed, independent=True) for seed in range(runs)]
    settings = {**ASKED, "target": "q0", "false_edges": level}
    false = sum(
        bool(discover(d, "moment-search", settings, seed=k, keep_trace=False).graph.skeleton)
        for k, d in enumerate(data)
    )
    assert binom.sf(false - 1, runs, level) > 1e-6


def test_an_edge_pays_as_one_of_all_pairs_of_the_column():
    data, settings = answers(30, 1_500), {**ASKED, "target": "q0", "false_edges": 0.05}
    statistics = discover(data, "moment-search", settings, seed=1).released.statistics
    source = PublicColumns(data.names, 1_500, statistics.levels)
    checked = MomentSearchParameters(**ASKED, target="q0", false_edges=0.05)
    near = among_measured(Run(source, checked, SimulatedNoise(1), NoHooks()), statistics)
    k = len(near.columns)
    # Benjamini and Hochberg's threshold for as many edges as a tree over the k columns has.
    threshold = near.run.parameters.false_edges * (k - 1) / math.comb(k, 2)
    assert threshold == pytest.approx(0.05 / 29)


def test_knowledge_about_other_columns_is_kept_out_of_the_answer():
    data = answers(30, 1_000)
    known = Knowledge.of(require="q5 -> q6; q0 -> q9", forbid="q0 -- q1")
    for hidden in (False, True):
        settings = {**ASKED, "target": "q0", "knowledge": known.text, "hidden_causes": hidden}
        result = discover(data, "moment-search", settings, seed=1)
        assert (0, 9) in result.graph.directed
        assert 1 not in result.graph.adjacent(0)
        assert 6 not in {c for pair in result.graph.skeleton for c in pair}


def test_the_guarantee_is_of_the_whole_table():
    data = answers(30, 1_000)
    result = discover(data, "moment-search", {"epsilon": 1.0, "target": "q0"}, seed=1)
    whole = discover(data, "moment-search", {"epsilon": 1.0, "measured": "lines"}, seed=1)
    assert result.guarantee.epsilon == 1.0
    assert result.guarantee.delta == whole.guarantee.delta
    assert result.guarantee.public[:3] == whole.guarantee.public[:3]
    assert result.planned == planned_events(
        "moment-search", {"epsilon": 1.0, "target": "q0"}, source_of(data)
    )


def test_with_a_private_number_of_rows_the_form_does_not_depend_on_it():
    for rows in (300, 50_000):
        source = source_of(answers(12, rows))
        settings = {"target": "q0", "neighbours": "added or removed"}
        assert row_parameters("moment-search", settings, source)["measured"] == "target"
    result = discover(
        answers(12, 3_000),
        "moment-search",
        {"target": "q0", "epsilon": 2.0, "neighbours": "added or removed", "rows_per_unit": 2},
        noise=SimulatedNoise(1),
    )
    assert result.alone
    assert result.rows is not None


def test_the_released_numbers_are_kept_and_searched_again():
    data = answers(30, 1_500)
    settings = {"epsilon": 1.0, "target": "q0"}
    result = discover(data, "moment-search", settings, seed=1)
    kept = read_released(json.loads(json.dumps(released_as_dict(result.released.statistics))))
    assert released_as_dict(kept) == released_as_dict(result.released.statistics)
    assert len(result.margins) == 30
    again = search_again("moment-search", kept, data.names, settings, result.guarantee)
    assert again.graph == result.graph
    assert again.findings == result.findings
    # Without a question, all that was measured is drawn.
    everything = search_again("moment-search", kept, data.names, {}, result.guarantee)
    assert everything.graph.skeleton >= result.graph.skeleton
    assert everything.findings.keys() > result.findings.keys()


@pytest.mark.parametrize("make", [numbers, answers])
def test_numbers_of_all_columns_are_kept_too(make):
    """Of two columns both are measured; the form still says how, and numbers have cut levels."""
    data = make(3, 300)
    data = data.hiding(data.names[2:])
    settings = {"target": data.names[0], "measured": "target"}
    result = discover(data, "moment-search", settings, seed=1)
    statistics = result.released.statistics
    assert statistics.form == "target"
    assert all(statistics.coordinates)
    assert MEASURED["target"] in result.guarantee.public
    assert MEASURED["lines"] not in result.guarantee.public
    kept = read_released(json.loads(json.dumps(released_as_dict(statistics))))
    assert kept.form == "target"
    assert kept.fits([len(column.levels) for column in data.columns])
    again = search_again("moment-search", kept, data.names, settings, result.guarantee)
    assert again.graph == result.graph
    if make is answers:
        like = discover(data, "moment-search", settings, seed=2, like=statistics)
        assert pool([statistics, like.released.statistics], same_rows=True).form == "target"


def test_releases_in_the_same_units_are_pooled():
    data = answers(30, 1_500)
    settings = {"epsilon": 1.0, "target": "q0"}
    first = discover(data, "moment-search", settings, seed=1).released.statistics
    second = discover(data, "moment-search", settings, seed=2, like=first).released.statistics
    other = discover(data, "moment-search", settings, seed=3).released.statistics
    assert pool([first, second], same_rows=True).noise < min(first.noise, second.noise)
    with raises_code(DataError, "different-units-of-files"):
        pool([first, other], same_rows=True)
    # The cut points of numbers are not in the release.
    cut = discover(numbers(30, 1_500), "moment-search", {"target": "x0"}, seed=1)
    assert cut.alone
    with raises_code(DataError, "like-of-other-columns"):
        discover(
            numbers(30, 1_500),
            "moment-search",
            {"target": "x0"},
            noise=Recorder(1),
            like=cut.released.statistics,
        )


def test_repeats_of_the_column_are_named():
    data = answers(12, 4_000)
    copy = replace(data.columns[0], name="copy")
    data = Dataset("copied", (*data.columns, copy), (*data.values, data.values[0]))
    result = discover(data, "moment-search", {**ASKED, "target": "q0", "epsilon": 5.0}, seed=1)
    assert result.repeats == {12: 0}
    assert {1, 2, 12} <= result.graph.adjacent(0)


def test_a_column_that_is_not_there_is_refused_before_anything_is_spent():
    data, noise = answers(10, 500), Recorder(1)
    with raises_code(ParameterError, "target-names-no-column", nearest="q3"):
        discover(data, "moment-search", {"target": "Q3"}, noise=noise)
    with raises_code(ParameterError, "measured-needs-target"):
        discover(data, "moment-search", ASKED, noise=noise)
    with raises_code(ParameterError, "target-not-a-name"):
        discover(data, "moment-search", {"target": 3}, noise=noise)
    assert not noise.calls


def test_the_command_answers_about_a_column(capsys):
    words = ["discover", "--network", "asia", "--rows", "20000", "--epsilon", "3", "--seed", "1"]
    assert main([*words, "--target", "either", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["parameters"]["target"] == "either"
    assert ["either", "xray"] in report["directed"]
    assert all("either" in finding["pair"] for finding in report["pairs"])


def test_coordinates_of_levels_do_not_depend_on_the_length_of_rows():
    counts = [Measurement((0,), np.array([30.0, 50.0, 20.0]), 1.0, "counts")]
    plan = plan_target(100, (3, 3), (3, 3), 0, MomentSearchParameters())
    ((own),) = bases_of(counts, replace(plan, ordered=(3,)))
    assert np.array([0.3, 0.5, 0.2]) @ own == pytest.approx(0)
    assert np.array([0.3, 0.5, 0.2]) @ own**2 == pytest.approx(1)


def test_what_the_question_shows_is_known_before_the_run():
    levels = (5,) * 40
    names = [f"q{k}" for k in range(40)]
    shape = PublicShape(1_000, levels, 40, ordered=levels, names=names)
    usual = MomentSearchParameters(epsilon=1.0, delta=1e-6)
    asked = replace(usual, target="q7")
    assert visible_effects(shape, usual).alone is None or visible_effects(shape, usual).alone > 0.5
    assert visible_effects(shape, asked).alone <= 0.3
    # Without names the question cannot be proposed.
    whole = changing_sentence(replace(shape, names=()), usual)
    assert len(changing_sentence(shape, usual)) > len(whole) > 0
    assert changing_sentence(shape, asked) == ""


def test_what_is_seen_beforehand_is_seen_in_nine_of_ten_runs():
    """A correlation of the stated size, in 60 runs: fewer than 42 have a chance of one in 10⁵."""
    levels, names = (5,) * 30, [f"q{k}" for k in range(30)]
    shape = PublicShape(2_000, levels, 30, ordered=levels, names=names)
    asked = MomentSearchParameters(epsilon=1.0, delta=1e-6, target="q0", measured="target")
    least = visible_effects(shape, asked).alone
    found = 0
    for seed in range(60):
        drawn = np.random.default_rng(seed)
        values = drawn.normal(size=(2_000, 30))
        values[:, 1] = least * values[:, 0] + math.sqrt(1 - least**2) * values[:, 1]
        codes = np.floor(5 * ndtr(values)).astype(np.uint8)
        data = Dataset("one link", answers(30, 5).columns, tuple(codes.T))
        result = discover(data, "moment-search", vars(asked), seed=seed, keep_trace=False)
        found += 1 in result.graph.adjacent(0)
    assert binom.cdf(41, 60, POWER) < 1e-5
    assert found >= 42
