"""The papers' tables and figures: what is transcribed, what is computed, and what is shipped."""

import json
import math
import shlex
import signal
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.papers.engine import collect, reproduce
from benchmarks.papers.model import Reproduction, Sample, Work
from benchmarks.papers.registry import REPRODUCTIONS
from benchmarks.papers.sweeps import Measured
from benchmarks.papers.trade_off import AGAINST_EXACT, AGAINST_TRUTH, trade_off
from benchmarks.papers.xu_adult import coarse
from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.engine import checked_parameters
from privcore.algorithms.gradients.curate_score import SCHEDULES, total
from privcore.data import load_network
from privcore.errors import ParameterError, PrivcoreError
from privcore.extras.lab import reproductions
from privcore.extras.lab.reproductions import (
    FOLDER,
    NAMES,
    SERIES,
    Figure,
    Paper,
    as_csv,
    as_json,
    as_texts,
    from_json,
    has_program,
    made_now,
    quick_result,
    shipped,
    start,
)
from privcore.extras.lab.sweeps.sweep import NetworkData, SweepPlan
from privcore.faces.cli import build_parser
from privcore.graphs import PDAG
from privcore.intake import build_dataset, read_table
from privcore.measures import ordered_pair_f1, skeleton_metrics
from tests.data.guess import guessed_schema
from tests.messages import begins, outside, says

MADE = [name for name in NAMES if not REPRODUCTIONS[name].needs_table]


def simple(make, published=None, **more):
    return Reproduction(
        name="toy",
        paper=Paper("toys", "Toys", "Of toys"),
        item="Toy",
        shows="A toy.",
        columns=("case",),
        settings={},
        differences=(),
        make=make,
        published=published or {},
        **more,
    )


# -- what is declared ---------------------------------------------------------------------------


def test_every_item_is_declared_in_the_order_of_the_names():
    assert list(REPRODUCTIONS) == list(NAMES)
    assert {name.partition("-")[0] for name in NAMES} == {"wang", "xu", "curate", "kusner"}


@pytest.mark.parametrize("name", NAMES)
def test_a_declaration_is_complete(name):
    item = REPRODUCTIONS[name]
    assert item.shows.endswith(".")
    assert item.differences
    assert all(s.endswith((".", ".”")) for s in (*item.differences, *item.says))
    assert json.loads(json.dumps(item.settings)) == item.settings
    assert all(len(case) == len(item.columns) for case in item.published)
    assert item.published or any("drawn only" in s for s in item.says)
    if item.figure is not None:
        assert {item.figure.panel, item.figure.line, item.figure.x} <= set(item.columns)
    assert 1 <= item.quick <= item.runs


# -- what is transcribed ------------------------------------------------------------------------


def printed(name, case):
    return float(REPRODUCTIONS[name].published[case].split(" ")[0])


def test_the_speedups_of_the_text_are_those_of_the_table():
    """“10.61 to 32.85 times”, and “1.20 to 2.40” by sub-sampling."""
    published = REPRODUCTIONS["wang-table-2"].published
    em = [float(t) for (_, name, _), t in published.items() if name == "EM-PC"]
    whole = [float(t) for (_, name, _), t in published.items() if name == "Priv-PC, all rows"]
    assert (min(em), max(em)) == (10.61, 32.85)
    assert (min(whole), max(whole)) == (1.20, 2.40)


def test_one_setting_in_two_tables_has_the_same_cells():
    tables = {name: REPRODUCTIONS[f"xu-table-{name}"].published for name in (3, 4, 5, 6, 8, 9)}
    for algorithm in ("PC (not private)", "LapMech", "EM-PC"):
        for rate in ("TPR", "TDR"):
            cells = {t[v, algorithm, rate] for t, v in ((tables[3], 5.0), (tables[5], 1e4))}
            assert len(cells) == 1
            assert tables[4][10.0, algorithm, rate] == tables[6][0.2, algorithm, rate]
    for rate in ("TPR", "FPR", "TDR"):
        assert tables[8][1.0, "PrivPC*", rate] == tables[9][1e4, "PrivPC*", rate]


@pytest.mark.parametrize(
    ("name", "value", "nodes", "density"),
    [
        ("xu-table-10", 50.0, 50, 0.4),
        ("xu-table-10", 20.0, 20, 0.4),
        ("xu-table-11", 0.7, 20, 0.7),
        ("xu-table-8", 10.0, 10, 0.4),
    ],
)
def test_the_printed_rates_of_xu_fit_only_with_the_graphs_exchanged(name, value, nodes, density):
    """From TPR and TDR follow the numbers of edges, and from these the FPR."""
    tpr, fpr, tdr = (printed(name, (value, "PC (not private)", r)) for r in ("TPR", "FPR", "TDR"))
    pairs = nodes * (nodes - 1) / 2
    edges = round(density * pairs)

    def false_rate(share_of_true, share_of_found):
        right = share_of_true * edges
        return (right / share_of_found - right) / (pairs - edges)

    # Exchanged, “TPR” is a share of the found edges and “TDR” of the true ones.
    right = tdr * edges
    found = right / tpr
    assert (edges - right) / (pairs - found) == pytest.approx(fpr, abs=0.01)
    assert abs(false_rate(tpr, tdr) - fpr) > 0.015


def test_the_rates_of_adult_are_those_of_22_shared_edges():
    published = REPRODUCTIONS["xu-adult"].published
    pc, em, shared, pairs = 31, 28, 22, 14 * 13 / 2
    assert f"{shared / em:.3f}" == published["EM-PC", "TPR"]
    assert f"{shared / pc:.3f}" == published["EM-PC", "TDR"]
    assert f"{(pc - shared) / (pairs - em):.3f}" == published["EM-PC", "FPR"]


# -- how it is computed -------------------------------------------------------------------------


def test_ordered_pairs_by_hand():
    nodes = ("a", "b", "c")
    reference = PDAG.from_names(nodes, [("a", "b")], [("b", "c")])
    graph = PDAG.from_names(nodes, [("b", "a"), ("b", "c")])
    # Reference ab, bc, cb; graph ba, bc: one of two and of three.
    assert ordered_pair_f1(graph, reference) == pytest.approx(2 * 1 / 5)
    assert ordered_pair_f1(reference, reference) == 1
    assert ordered_pair_f1(PDAG(nodes), PDAG(nodes)) == 1
    assert ordered_pair_f1(PDAG(nodes), reference) == 0


def test_samples_become_means_in_the_papers_order():
    lines = collect(
        [
            Sample(("b",), "proven", 1.0),
            Sample(("a",), "proven", 0.25, 3.0),
            Sample(("a",), "proven", 0.75, 5.0),
            Sample(("a",), "published", math.nan),
            Sample(("a",), "proven", math.nan),
        ],
        {("a",): "0.5", ("z",): "0.9"},
    )
    assert [(*line.case, line.paper) for line in lines] == [("a", "0.5"), ("z", "0.9"), ("b", None)]
    first, second, third = (line.ours for line in lines)
    assert first["proven"] == (0.5, pytest.approx(np.sqrt(0.125)), 2, 4.0)
    assert (first["published"].runs, second, third["proven"].sd) == (0, {}, 0)
    item = simple(None, {("a",): "0.5"})
    assert as_texts(item, lines) == [
        ["case", "paper", SERIES["published"], SERIES["proven"]],
        ["a", "0.5", "refused", "0.500 ± 0.354 at ε 4"],
        ["z", "0.9", "–", "–"],
        ["b", "–", "–", "1.000"],
    ]
    # As CSV every part has its number, and no cell is a formula.
    assert as_csv(simple(None), collect([Sample(("=x",), "proven", 0.5)], {})) == (
        "case,paper,proven_mean,proven_sd,proven_runs,proven_x\n'=x,,0.5,0.0,1,\n"
    )


@pytest.mark.parametrize(
    ("work", "match"),
    [
        (Work(0), outside("runs", 0)),
        (Work(10_001), outside("runs", "10,001")),
        (Work(1, seed=-1), outside("seed", "-1")),
        (Work(1, seed=2**31), outside("seed", 2147483648)),
    ],
)
def test_bad_runs_and_seeds_are_refused(work, match):
    with pytest.raises(ParameterError, match=match):
        reproduce(simple(lambda settings, work: iter(())), work)


def test_a_run_is_compared_with_what_the_same_search_finds_without_noise():
    asked = {"epsilon": 0.2, "calibration": "published"}
    plan = SweepPlan(
        (NetworkData("survey", 3),),
        ("priv-pc",),
        grids={"epsilon": (0.2,)},
        calibrations=("published",),
        rows=(2_000,),
        seeds=2,
    )
    source = count(load_network("survey").sample(2_000, 3))
    plain = ALGORITHMS["priv-pc"].reference(checked_parameters("priv-pc", asked))
    exact = discover(source, "pc", {**plain, "collider_rule": "first"}).graph
    for row, found in Measured(plan).runs(Work(2)):
        graph = discover(source, "priv-pc", asked, seed=row["seed"]).graph
        assert (found.graph, found.exact) == (graph, exact)
        assert found.against_exact == ordered_pair_f1(graph, exact)
        assert found.exchanged == skeleton_metrics(found.truth, graph)
        assert found.against_truth.f1 == row["truth_skeleton_f1"]


@pytest.mark.long
def test_processes_make_the_same_rows(monkeypatch):
    monkeypatch.setattr("benchmarks.papers.sweeps._SMALL", 0)
    plan = SweepPlan((NetworkData("cancer"),), ("svt-pc",), rows=(500,), seeds=2)
    here, there = (
        [(row["seed"], found.graph) for row, found in Measured(plan).runs(Work(2, workers=n))]
        for n in (0, 2)
    )
    assert here == there


SMALL = {
    "networks": ["cancer"],
    "rows": 2_000,
    "algorithms": ["pc", "priv-pc", "svt-pc"],
    "epsilons": [1.0, 20.0],
    "delta": 1e-6,
    "threshold": 0.05,
    "max_order": 3,
    "rounds": {"priv-pc": 2.0},
    "whole": [],
    "own": {"pc": {"score": "kendall"}},
    "measures": [AGAINST_TRUTH, AGAINST_EXACT],
}


def test_published_rounds_share_the_total_and_say_what_they_came_to():
    samples = list(trade_off(SMALL, Work(2)))
    kinds = {(s.case[1], s.series) for s in samples}
    assert ("PC (not private)", "exact") in kinds
    assert ("PC (not private)", "proven") not in kinds
    assert ("Priv-PC", "published") in kinds
    assert all(s.x is None for s in samples if s.series != "published")
    places = {s.case[3]: s.x for s in samples if s.case[1] == "SVT-PC" and s.series == "published"}
    assert places == pytest.approx({1.0: 1.0, 20.0: 20.0})
    rounds = [s.x for s in samples if s.case[1] == "Priv-PC" and s.case[3] == 1.0 and s.x]
    assert all(0 < x < 5 and x != 1.0 for x in rounds)
    same = {s.value for s in samples if s.case[:3] == ("cancer", "PC (not private)", AGAINST_EXACT)}
    assert same == {1.0}


def test_a_refused_run_is_told_and_not_counted():
    told = []
    # LapMech's table of child has 10⁹ cells.
    settings = {**SMALL, "algorithms": ["lapmech"], "networks": ["child"], "own": {}, "rows": 50}
    samples = list(trade_off(settings, Work(1, note=told.append)))
    assert samples
    assert all(math.isnan(s.value) and s.x is None for s in samples)
    assert all(begins(t, "full-table-of", name="lapmech", data="child") for t in told)
    assert {line.ours["proven"].runs for line in collect(samples, {})} == {0}


def test_iterations_of_curate_fit_and_one_more_does_not():
    item = REPRODUCTIONS["curate-figure-3"]
    for line in reproduce(item, Work(1)).lines:
        name, schedule, first = line.case
        epsilon, most = float(name.split("= ")[1]), int(line.ours["proven"].mean)
        assert schedule in SCHEDULES
        assert most == 0 or total(schedule, first, most) <= epsilon * (1 + 1e-9)
        assert total(schedule, first, most + 1) > epsilon * (1 - 1e-9)
        if schedule != "multiplicative":
            assert line.ours["published"].mean <= most


# -- Adult --------------------------------------------------------------------------------------


def adult(rows=400):
    """A table of Adult's kind: many levels, numbers, and weights to leave out."""
    noise = np.random.default_rng(5)
    jobs = noise.choice(
        [f"job{k}" for k in range(7)], rows, p=[0.3, 0.3, 0.2, 0.05, 0.05, 0.05, 0.05]
    )
    income = np.where(np.isin(jobs, ["job0", "job3"]), "high", "low")
    lines = ["occupation,fnlwgt,age,income"]
    lines += [
        f"{j},{w},{a},{i}"
        for j, w, a, i in zip(
            jobs, noise.integers(1, 9_999, rows), noise.integers(17, 90, rows), income, strict=True
        )
    ]
    raw = read_table("\n".join(lines).encode(), "adult.csv")
    return build_dataset(raw, guessed_schema(raw), name="adult.csv")


def test_levels_are_merged_into_the_most_frequent_and_the_rest():
    data = adult()
    small = coarse(data, 4, ["fnlwgt"])
    assert small.names == ("occupation", "age", "income")
    assert small.columns[0].levels == ("job0", "job1", "job2", "all others")
    assert all(len(column.levels) <= 4 for column in small.columns)
    before, after = data.values[0], small.values[0]
    names = np.array(data.columns[0].levels)[before]
    assert (np.array(small.columns[0].levels)[after][names == "job1"] == "job1").all()
    assert (np.array(small.columns[0].levels)[after][names == "job5"] == "all others").all()


def test_adult_needs_its_data_and_takes_them():
    item = REPRODUCTIONS["xu-adult"]
    with pytest.raises(ParameterError, match=says("data-needed-for-item")):
        reproduce(item, Work(1))
    lines = {line.case: line for line in reproduce(item, Work(2, table=adult())).lines}
    assert lines["PC (not private)", "edges"].ours["exact"].mean >= 1
    assert set(lines["EM-PC", "TPR"].ours) == {"published", "proven"}
    assert lines["EM-PC", "TPR"].ours["proven"].runs == 2


# -- what is shipped ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_file_says_what_is_declared(name):
    """`python -m benchmarks.papers --declare` writes the files after a change."""
    item, held = REPRODUCTIONS[name], shipped(name)
    told = as_json(replace(held, item=item))
    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == told
    assert as_json(held) == told
    assert {line.case: line.paper for line in held.result.lines if line.paper} == item.published
    assert (held.made is None) == item.needs_table


@pytest.mark.parametrize("name", MADE)
def test_a_shipped_result_is_of_this_declaration(name):
    item, held = REPRODUCTIONS[name], shipped(name)
    words = shlex.split(held.command)
    assert words[:3] == ["python", "-m", "privcore"]
    options = build_parser().parse_args(words[3:])
    made = (name, held.result.runs, held.result.seed)
    assert (options.name, int(options.runs), int(options.seed)) == made
    assert held.result.runs == item.runs
    assert held.version
    assert held.made.count("-") == 2
    assert all(set(line.ours) <= set(SERIES) for line in held.result.lines)
    means = [mean for line in held.result.lines for mean in line.ours.values()]
    assert all(mean.runs == 0 or math.isfinite(mean.mean) for mean in means)
    if item.figure is not None and item.figure.bounded:
        assert 0 <= min(mean.mean for mean in means) <= max(mean.mean for mean in means) <= 1


EM, LAP, STAR = "EM-PC", "LapMech", "PrivPC*"


@pytest.mark.parametrize(
    ("name", "better", "worse", "rate"),
    [
        *(("xu-table-3", (10.0, algorithm), (1.0, algorithm), "TPR") for algorithm in (EM, LAP)),
        *(("xu-table-3", (e, EM), (e, LAP), "TPR") for e in (1.0, 5.0, 10.0)),
        ("xu-table-6", (0.2, EM), (0.2, LAP), "TPR"),
        ("xu-table-4", (5.0, LAP), (10.0, LAP), "TPR"),
        ("xu-table-5", (1e4, EM), (1e3, EM), "TDR"),
        ("xu-table-8", (10.0, STAR), (0.01, STAR), "TPR"),
        ("xu-table-9", (1e4, STAR), (100.0, STAR), "TPR"),
    ],
)
def test_published_forms_behave_as_the_papers_report(name, better, worse, rate):
    """The papers' own graphs are not available, so that trends are compared and not digits."""
    lines = {line.case: line.ours for line in shipped(name).result.lines}
    ours = [lines[*case, rate]["published"].mean for case in (better, worse)]
    assert ours[0] > ours[1] + 0.05
    assert printed(name, (*better, rate)) > printed(name, (*worse, rate))


def test_the_noise_that_hides_a_record_costs_more_than_what_was_published():
    lines = {line.case: line.ours for line in shipped("xu-table-8").result.lines}
    for rate in ("TPR", "FPR", "TDR"):
        exact = lines[10.0, "PC (not private)", rate]["exact"].mean
        assert lines[10.0, STAR, rate]["published"].mean == pytest.approx(exact, abs=0.05)
    found = lines[0.1, STAR, "TDR"]
    assert found["proven"].mean < found["published"].mean / 2


@pytest.mark.parametrize(
    "name",
    [*("wang-table-1", "curate-figure-3"), pytest.param("xu-table-9", marks=pytest.mark.long)],
)
def test_making_it_again_gives_the_same_numbers(name):
    item, held = REPRODUCTIONS[name], shipped(name).result
    again = reproduce(item, Work(held.runs, seed=held.seed))
    assert [line.case for line in again.lines] == [line.case for line in held.lines]
    for new, old in zip(again.lines, held.lines, strict=True):
        assert new.ours.keys() == old.ours.keys()
        for series, mean in new.ours.items():
            assert mean.x == old.ours[series].x
            assert mean[:3] == pytest.approx(old.ours[series][:3], rel=1e-12, nan_ok=True)


def test_a_result_reads_back_as_it_was_written():
    samples = [Sample(("a",), "proven", 0.1, 2.5), Sample(("b",), "proven", math.nan)]
    figure = Figure("case", "case", "case", "x", "y")
    item = simple(lambda settings, work: iter(samples), {("a",): "0.2"}, figure=figure)
    result = reproduce(item, Work(1, seed=4))
    held = from_json(as_json(made_now(item, result)))
    assert held.item.figure == figure
    assert (held.result.runs, held.result.seed) == (1, 4)
    assert held.result.lines[0] == result.lines[0]
    assert math.isnan(held.result.lines[1].ours["proven"].mean)


# -- where it is made ---------------------------------------------------------------------------


def test_the_program_is_next_to_the_package(monkeypatch, tmp_path):
    assert has_program()
    monkeypatch.setattr(reproductions, "_PACKAGE", tmp_path / "privcore")
    assert not has_program()


def test_a_quick_result_is_that_of_the_program(monkeypatch, tmp_path):
    # Another package of this name is not taken.
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    item = REPRODUCTIONS["curate-figure-3"]
    held = quick_result(item.name, lambda share: None)
    assert held.result == reproduce(item, Work(item.quick))


def test_no_result_is_one_sentence():
    with pytest.raises(PrivcoreError, match=says("ended-without-result", name="xu-adult")):
        quick_result("xu-adult", lambda share: None)


def test_a_stopped_computation_ends_its_process(monkeypatch):
    started = []

    def kept(*given):
        started.append(start(*given))
        return started[-1]

    def stop(share):
        assert started[0].poll() is None
        raise KeyboardInterrupt

    monkeypatch.setattr(reproductions, "start", kept)
    with pytest.raises(KeyboardInterrupt):
        quick_result("kusner-figure-1", stop)
    assert started[0].returncode == -signal.SIGKILL


def test_ctrl_c_ends_the_program_without_a_word(capfd):
    process = start(["kusner-figure-1", "--json"], subprocess.PIPE)
    assert float(process.stdout.readline()) < 1
    process.send_signal(signal.SIGINT)
    assert process.wait() == -signal.SIGINT
    process.stdout.close()
    assert capfd.readouterr().err == ""
