"""A stated graph against released numbers: rates of false alarms, planted errors, intervals."""

import json
from functools import partial

import numpy as np
import pytest

from privcore.algorithms import discover
from privcore.algorithms.moment_search.released import ReleasedNumbers
from privcore.data import Column, Dataset, load_network
from privcore.errors import DataError, ParameterError
from privcore.exchange.stated import read_graph
from privcore.graphs.stated import StatedGraph
from privcore.independence.linear_scores import partial_correlation
from privcore.measures.graph_check import GraphCheck, _noncentrality, checked
from tests.graphs.random_dags import names, random_dag
from tests.messages import says

LEVEL = 0.2


def linear(seed, p=6, rows=3_000):
    """Numbers of a linear model, its covariance, and its graph."""
    rng = np.random.default_rng(seed)
    arrows = random_dag(rng, p, 0.35)
    weights = np.zeros((p, p))
    for i, j in arrows:
        weights[j, i] = rng.uniform(0.4, 0.8) * rng.choice([-1, 1])
    mixed = np.linalg.inv(np.eye(p) - weights)
    covariance = mixed @ mixed.T
    values = rng.normal(size=(rows, p)) @ mixed.T / np.sqrt(np.diag(covariance))
    columns = [Column(name, "continuous", bounds=(-4.0, 4.0), declared=True) for name in names(p)]
    data = Dataset("linear", tuple(columns), tuple(np.clip(values, -4, 4).T.copy()))
    return data, covariance, StatedGraph(names(p), frozenset(arrows))


def levels(seed, p=5, rows=3_000):
    """Yes/no columns of a network in which every cause has its own effect, and its graph."""
    rng = np.random.default_rng(seed)
    arrows = random_dag(rng, p, 0.35)
    values = np.zeros((p, rows), np.uint8)
    order = sorted(range(p), key=lambda k: sum(1 for _ in above(arrows, k)))
    for column in order:
        score = sum(rng.uniform(0.8, 1.6) * (2.0 * values[i] - 1) for i, j in arrows if j == column)
        values[column] = rng.random(rows) < 1 / (1 + np.exp(-score))
    columns = [Column(name, "nominal", levels=("no", "yes"), declared=True) for name in names(p)]
    graph = StatedGraph(names(p), frozenset(arrows))
    return Dataset("levels", tuple(columns), tuple(values)), None, graph


def above(arrows, column):
    for i, j in arrows:
        if j == column:
            yield i
            yield from above(arrows, i)


def run(data, seed, **parameters):
    given = {"epsilon": 1.0, **parameters}
    return discover(data, "moment-search", given, seed=seed, keep_trace=False)


@pytest.mark.parametrize(
    ("drawn", "settings", "form"),
    [
        (linear, {}, "numbers"),
        (partial(linear, rows=20_000), {"longest_row": 1.0}, "numbers"),
        (levels, {}, "table"),
        (levels, {"whole_table": 0, "measured": "levels"}, "sums"),
        (levels, {"measured": "lines"}, "lines"),
    ],
    ids=["numbers", "clipped numbers", "table", "sums", "lines"],
)
def test_a_right_graph_is_contradicted_no_more_often_than_stated(drawn, settings, form):
    """With up to 40 graphs at .2, more than 16 contradicted ones have a probability of .0008."""
    contradicted = arrows = supported = 0
    for seed in range(40):
        data, _, graph = drawn(seed)
        result = run(data, seed, **settings)
        assert result.released.statistics.form == form
        # At this size, nothing is too small to count.
        check = checked(result, graph, level=LEVEL, size=1e-6)
        contradicted += bool(check.having("contradicted"))
        arrows += sum(pair.arrow for pair in check.pairs)
        supported += len(check.having("supported"))
        assert not check.having("agrees", "not seen")
    assert contradicted <= 16
    assert supported > 0.8 * arrows


def test_without_arrows_false_alarms_come_at_the_rate_that_is_stated():
    """Neither more often nor much less: of 120 empty graphs at .2, 24 ± 9 (two deviations)."""
    contradicted = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 2, (4, 400)).astype(np.uint8)
        columns = [Column(n, "nominal", levels=("no", "yes"), declared=True) for n in names(4)]
        data = Dataset("independent", tuple(columns), tuple(values))
        check = checked(run(data, seed), StatedGraph(names(4)), level=LEVEL, size=1e-6)
        contradicted += bool(check.having("contradicted"))
    assert 8 <= contradicted <= 37


@pytest.mark.parametrize("drawn", [linear, levels])
def test_planted_errors_are_found(drawn):
    missed = {"taken away": 0, "added": 0}
    tried = 0
    for seed in range(100, 115):
        data, _, graph = drawn(seed, rows=10_000)
        if not graph.directed:
            continue
        tried += 1
        result = run(data, seed)
        gone = sorted(graph.directed)[0]
        without = StatedGraph(graph.names, graph.directed - {gone})
        check = checked(result, without)
        pair = {graph.names[end] for end in gone}
        missed["taken away"] += not any(set(c.pair) == pair for c in check.having("contradicted"))
        if check.having("contradicted"):
            assert pair in [set(link) for link in check.asked_for]
        absent = sorted(graph.independences())[0]
        more = graph.with_link(*absent)[0]
        (new,) = more.directed - graph.directed
        found = {c.pair: c.verdict for c in checked(result, more).pairs if c.arrow}
        missed["added"] += found[graph.names[new[0]], graph.names[new[1]]] != "not seen"
    assert tried > 10
    assert max(missed.values()) <= 2


def test_intervals_hold_the_dependence_with_its_noise():
    """Of about 300 intervals of 95 %, at least 92 % hold it; widths follow ε."""
    inside, every, widths = 0, 0, {}
    for seed in range(40):
        data, covariance, graph = linear(seed, rows=10_000)
        for epsilon in (1.0, 4.0):
            check = checked(run(data, seed, epsilon=epsilon), graph)
            for pair in check.having("supported"):
                x, y, *given = (graph.names.index(name) for name in (*pair.pair, *pair.given))
                true = abs(partial_correlation(covariance, x, y, given))
                inside += pair.low <= true <= pair.high
                every += 1
                widths.setdefault(epsilon, []).append(pair.high - pair.low)
    assert every > 200
    assert inside >= 0.92 * every
    assert np.mean(widths[1.0]) > 1.2 * np.mean(widths[4.0])


@pytest.mark.parametrize("value", [0.01, 1.0, 30.0, 3e4, 2e8])
@pytest.mark.parametrize("dof", [1.0, 7.5])
def test_a_noncentrality_gives_its_probability(value, dof):
    from scipy.stats import ncx2

    for probability in (0.975, 0.5, 0.025):
        extra = _noncentrality(value, dof, probability)
        if extra:
            assert ncx2.cdf(value, dof, extra) == pytest.approx(probability, rel=1e-3)
        else:
            assert ncx2.cdf(value, dof, 1e-12) <= probability + 1e-9


def test_a_graph_of_some_columns_is_checked_against_a_run_of_all():
    data = load_network("asia").sample(20_000, seed=1)
    result = run(data, 1)
    check = checked(result, read_graph("bronc <- smoke -> lung"))
    (independent,) = check.implied
    assert (independent.pair, independent.given) == (("bronc", "lung"), ("smoke",))
    assert independent.verdict == "agrees"
    assert independent.high <= check.least
    assert [pair.verdict for pair in check.pairs if pair.arrow] == ["supported", "supported"]
    assert check.asked_for == ()
    assert GraphCheck.of(json.loads(json.dumps(check.as_dict()))).as_dict() == check.as_dict()
    with pytest.raises(DataError, match=says("no-column-of-graph", name="smok", nearest="smoke")):
        checked(result, read_graph("smok -> lung"))


def test_links_that_are_asked_for_explain_what_they_can():
    data = load_network("asia").sample(20_000, seed=1)
    check = checked(run(data, 1), read_graph("smoke -> dysp; smoke -> bronc; smoke <-> lung"))
    assert [set(link) for link in check.asked_for] == [{"bronc", "dysp"}, {"lung", "dysp"}]
    assert check.explained
    assert check.by_chance == pytest.approx(check.level * len(check.having("contradicted")))


def test_the_two_kinds_of_statements_have_a_level_each():
    """Many strong arrows do not make it easier for an independence to be contradicted."""
    data, _, graph = linear(3)
    result = run(data, 3)
    alone = StatedGraph(graph.names, frozenset())
    limits = {}
    for stated in (graph, alone):
        check = checked(result, stated, size=1e-6)
        p_values = sorted(pair.p_value for pair in check.implied)
        fitting = [0.05 * k / len(p_values) for k, p in enumerate(p_values, 1)
                   if p <= 0.05 * k / len(p_values)]  # fmt: skip
        limits[stated] = max(fitting, default=0.0)
        for pair in check.implied:
            assert (pair.verdict == "contradicted") == (pair.p_value <= limits[stated])


def test_distances_and_runs_without_numbers_answer_for_nothing():
    columns = [Column(n, "nominal", levels=tuple("12345678"), declared=True) for n in names(4)]
    values = np.random.default_rng(1).integers(0, 8, (4, 500)).astype(np.uint8)
    data = Dataset("unordered", tuple(columns), tuple(values))
    check = checked(run(data, 1, measured="distances"), StatedGraph(names(4)))
    assert {pair.verdict for pair in check.pairs} == {"inconclusive"}
    assert {pair.size for pair in check.pairs} == {None}
    with pytest.raises(ParameterError, match=says("check-needs-numbers", name="pc")):
        checked(discover(data, "pc"), StatedGraph(names(4)))


def test_what_unobserved_causes_hide_is_not_told():
    data = load_network("asia").sample(5_000, seed=1)
    check = checked(run(data, 1), read_graph("smoke -> lung; smoke <-> lung; lung -> xray"))
    verdicts = {pair.pair: pair for pair in check.pairs}
    assert verdicts["smoke", "lung"].given is None
    assert verdicts["smoke", "lung"].verdict == "inconclusive"


@pytest.mark.parametrize("value", [0, -1, 1, "x"])
def test_levels_and_sizes_are_checked(value):
    data, _, graph = linear(1)
    with pytest.raises(ParameterError):
        checked(run(data, 1), graph, level=value)


def test_numbers_that_were_cut_may_leave_a_dependence():
    """A column in intervals does not explain all that the column itself does."""
    rng = np.random.default_rng(5)
    z = rng.normal(size=20_000)
    x, y = (0.8 * z + 0.6 * rng.normal(size=z.size) for _ in range(2))
    more = rng.integers(0, 3, z.size).astype(np.uint8)
    columns = [
        *(Column(n, "continuous", bounds=(-5.0, 5.0), declared=True) for n in "xyz"),
        Column("more", "nominal", levels=("a", "b", "c"), declared=True),
    ]
    data = Dataset("mixed", tuple(columns), (*(np.clip(v, -5, 5) for v in (x, y, z)), more))
    result = run(data, 1)
    released = result.released.statistics
    assert isinstance(released, ReleasedNumbers)
    assert released.units[0]
    # No dependence is too small to count.
    check = checked(result, read_graph("x <- z -> y; more"), size=1e-6)
    assert not check.having("contradicted")
    assert len(check.having("supported")) == 2


def test_a_column_with_long_tails_is_mostly_in_one_interval():
    """It then explains less than as many even intervals would."""
    rng = np.random.default_rng(5)
    z, *more = rng.lognormal(0, 1.5, (6, 20_000))
    values = np.clip([z, *(0.7 * z + own for own in more)], -100, 100)
    columns = [Column(n, "continuous", bounds=(-100.0, 100.0), declared=True) for n in names(6)]
    data = Dataset("long tails", tuple(columns), tuple(values))
    result = run(data, 1, epsilon=3.0)
    released = result.released.statistics
    assert isinstance(released, ReleasedNumbers)
    assert released.form == "sums"
    check = checked(result, StatedGraph(names(6), frozenset((0, k) for k in range(1, 6))))
    assert not check.having("contradicted")
    assert len(check.having("supported")) == 5
