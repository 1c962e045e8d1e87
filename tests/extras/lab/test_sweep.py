"""The same rows whoever makes them, in whatever order, and what a plan means."""

import json
import random
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from privcore.algorithms import count, discover
from privcore.data import StructuralExample, load_network
from privcore.errors import Cancelled, ParameterError, SweepError
from privcore.extras.lab.sweeps import sweep as engine
from privcore.extras.lab.sweeps.cells import (
    METRICS,
    Batch,
    ReferenceGraph,
    Runner,
    edges_text,
    graph_of,
    in_waves,
)
from privcore.extras.lab.sweeps.settings import seed_of
from privcore.extras.lab.sweeps.sweep import (
    ExampleData,
    NetworkData,
    SweepPlan,
    TableData,
    columns,
    edges_of,
    run_sweep,
)
from privcore.extras.worker import Crew, Pool
from privcore.graphs import PDAG, cpdag_of_names
from privcore.measures import skeleton_metrics
from privcore.privacy.mechanisms import NoNoise
from tests.messages import begins, label, outside, says, shows

PLAN = SweepPlan(
    (NetworkData("cancer"), NetworkData("survey", seed=3)),
    ("pc", "svt-pc", "curate", "lapmech"),
    grids={"epsilon": (0.5, 5), "threshold": (0.05, 0.01)},
    rows=(500, 1000),
    calibrations=("proven", "published"),
    seeds=2,
)


def untimed(rows):
    """Without times, in the plan's order."""
    rows = [{k: v for k, v in row.items() if k != "seconds"} for row in rows]
    return sorted(rows, key=lambda row: row["cell"])


def rows_of(plan, **how):
    return untimed(run_sweep(plan, **how))


@pytest.fixture(scope="module")
def expected():
    return rows_of(PLAN, workers=0)


def test_each_run_is_one_row(expected):
    assert [row["cell"] for row in expected] == list(range(PLAN.size))
    # pc: 2 thresholds; 3 private ones: 2 thresholds, 2 ε, 2 calibrations, 2 seeds; on 4 data sets.
    assert PLAN.size == 4 * (2 + 3 * 2 * 2 * 2 * 2)
    wanted = [name for name in columns(PLAN) if name != "seconds"]
    assert all(list(row) == wanted for row in expected)
    assert all(row["error"] is None for row in expected)


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.long), 2])
def test_rows_do_not_depend_on_the_workers(expected, workers):
    assert rows_of(PLAN, workers=workers) == expected


def test_rows_do_not_depend_on_batches_or_order(expected, monkeypatch):
    monkeypatch.setattr(engine, "_LARGEST_BATCH", 1)

    def permuted(plan, left):
        order = in_waves(plan, left)
        random.Random(7).shuffle(order)
        return order

    monkeypatch.setattr(engine, "in_waves", permuted)
    assert rows_of(PLAN, workers=0) == expected


def test_a_row_does_not_depend_on_what_else_is_planned(expected):
    alone = SweepPlan(
        (NetworkData("survey", seed=3),),
        ("svt-pc",),
        grids={"epsilon": (5,)},
        rows=(1000,),
        settings={"threshold": 0.01},
        seeds=1,
    )
    (row,) = rows_of(alone, workers=0)
    setting = {"data": "survey", "rows": 1000, "algorithm": "svt-pc", "calibration": "proven"}
    setting |= {"epsilon": 5, "threshold": 0.01, "replicate": 0}
    (same,) = [other for other in expected if setting.items() <= other.items()]
    # A fixed parameter has no column, and another plan has other numbers of cells.
    assert row == {name: same[name] for name in row} | {"cell": row["cell"]}


def test_no_two_runs_share_their_noise(expected):
    seeds = [row["seed"] for row in expected if row["algorithm"] != "pc"]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**53 for seed in seeds)
    assert all(row["seed"] is None for row in expected if row["algorithm"] == "pc")
    other = replace(PLAN, master_seed=2)
    assert not {c.seed for c in other.cells} & set(seeds)
    assert seed_of("a", 1) == seed_of("a", 1) != seed_of("a", 2)


def test_a_row_is_the_run_that_it_says(expected):
    """Every kind of row against `discover` called by hand."""
    for row in expected[:: len(expected) // 12]:
        dataset = load_network(row["data"]).sample(row["rows"], row["data_seed"])
        setting = PLAN.cells[row["cell"]].setting
        run = discover(dataset, row["algorithm"], setting.choice.parameters, seed=row["seed"])
        assert row["edges"] == edges_text(run.graph)
        assert row["tests_run"] == run.tests_run
        private = row["calibration"] != "none"
        assert row["guarantee_epsilon"] == (run.guarantee.epsilon if private else None)
        assert run.parameters.get("epsilon") == row["epsilon"]
        assert run.parameters["threshold"] == row["threshold"]
        truth = skeleton_metrics(run.graph, cpdag_of_names(dataset.names, dataset.true_edges))
        assert row["truth_skeleton_f1"] == truth.f1
        assert row["truth_skeleton_shd"] == truth.shd
        reference = discover(dataset, "pc") if private else run
        against = skeleton_metrics(run.graph, reference.graph)
        assert row["non_private_skeleton_precision"] == against.precision


@pytest.mark.long
def test_references_are_made_once(monkeypatch):
    asked = []
    original = Runner.reference

    def counted(self, reference):
        asked.append(reference.number)
        return original(self, reference)

    monkeypatch.setattr(Runner, "reference", counted)
    rows_of(PLAN, workers=0)
    # One for each data set and number of rows.
    assert sorted(asked) == list(range(2 * 2))


def test_runs_are_compared_with_the_same_algorithm_without_noise():
    plan = SweepPlan(
        (NetworkData("cancer"),),
        ("pc", "svt-pc", "laplace-pc"),
        grids={"epsilon": (0.5, 5)},
        rows=(1_000,),
        seeds=2,
        same=True,
    )
    plain = replace(plan, same=False)
    assert plan.digest != plain.digest
    # One for each ε of each algorithm, beside PC, which all of them share.
    assert [r.kind for r in plan.references].count("same") == 2 * 2
    assert [r.kind for r in plan.references].count("non_private") == 1
    rows, others = rows_of(plan, workers=0), rows_of(plain, workers=0)
    assert set(columns(plan)) - set(columns(plain)) == {m for m in METRICS if m.startswith("same_")}
    for row, other in zip(rows, others, strict=True):
        assert {name: row[name] for name in other} == other
    source = count(plan.data[0].load(1_000))
    for cell, row in zip(plan.cells, rows, strict=True):
        choice = cell.setting.choice
        noise = NoNoise() if choice.private else None
        made = discover(source, choice.algorithm, choice.parameters, noise=noise)
        graph = graph_of(source.names, row["edges"])
        assert row["same_skeleton_f1"] == skeleton_metrics(graph, made.graph).f1


def test_what_has_no_effect_is_left_out():
    plan = SweepPlan(
        (NetworkData("cancer"),),
        ("pc", "laplace-pc", "priv-pc"),
        rows=(500,),
        seeds=3,
        grids={"epsilon": (1,), "tweak": (0, 1), "max_tests": (10, "auto"), "blocks": (3, 5)},
        calibrations=("proven", "published"),
        settings={"radius": 0.5},
    )
    kinds = {}
    for cell in plan.cells:
        choice = cell.setting.choice
        shown = choice.shown["tweak"], choice.shown["max_tests"]
        kinds.setdefault((choice.algorithm, choice.calibration), []).append(shown)
    assert kinds[("pc", "none")] == [(None, None)]
    assert set(kinds[("priv-pc", "proven")]) == {(0, None), (1, None)}
    assert set(kinds[("laplace-pc", "proven")]) == {(None, 10), (None, "auto")}
    assert set(kinds[("laplace-pc", "published")]) == {(None, None)}
    assert [len(v) for v in kinds.values()] == [1, 6, 3, 6, 6]
    # Only one of two scores that nobody chose uses blocks.
    assert all(cell.setting.choice.shown["blocks"] is None for cell in plan.cells)
    assert plan.left_out == (label("no-parameter-in-sweep", name="radius"),)
    lacking = SweepPlan(
        (NetworkData("cancer"),), ("pc", "moment-notears"), calibrations=("published",)
    )
    assert lacking.left_out == (label("no-published-in-sweep", name="moment-notears"),)
    assert lacking.size == 1


def test_values_are_parsed_before_they_are_compared():
    one = SweepPlan((NetworkData("asia"),), ("priv-pc",), grids={"epsilon": ("1", 1.0, 2)})
    two = SweepPlan((NetworkData("asia"),), ("priv-pc",), grids={"epsilon": (1, "2.0")})
    assert one.grids["epsilon"] == (1.0, 2.0)
    assert one.digest == two.digest
    assert one.digest != SweepPlan((NetworkData("asia", 2),), ("priv-pc",)).digest


def test_refused_runs_are_rows():
    plan = SweepPlan(
        (NetworkData("child"), NetworkData("cancer")),
        ("lapmech", "svt-pc"),
        rows=(300,),
        seeds=2,
        grids={"epsilon": (1,), "score": ("g2", "z-star")},
        settings={"max_order": 1},
    )
    rows = rows_of(plan, workers=0)
    assert len(rows) == plan.size
    refused = {(r["data"], r["algorithm"], r["score"]): r["error"] for r in rows}
    assert shows(refused[("child", "lapmech", "g2")], "full-table-too-large")
    assert refused[("cancer", "lapmech", "g2")] is None
    # svt-pc has no proven bound for g2, which its declaration says.
    assert begins(refused[("cancer", "svt-pc", "g2")], "out-of-range", name="score", value="g2")
    assert refused[("cancer", "svt-pc", "z-star")] is None
    for row in rows:
        if row["error"]:
            assert row["edges"] is row["truth_skeleton_f1"] is row["guarantee_epsilon"] is None


def test_a_reference_that_is_refused_leaves_the_run():
    cell = PLAN.cells[-1]
    row = Runner(PLAN).row(cell, {cell.setting.references[0]: ReferenceGraph(None, "No.")})
    assert row["error"] == "Non-private reference: No."
    assert row["truth_skeleton_f1"] is not None
    assert row["non_private_skeleton_f1"] is None


@pytest.mark.long
def test_numbers_and_dags():
    example = StructuralExample("linear-gaussian", 5, 0.4, 2, standardised=False)
    plan = SweepPlan(
        (ExampleData(example), ExampleData(example, intervals=3)),
        ("notears", "privpc-star", "moment-notears", "svt-pc"),
        rows=(400,),
        seeds=1,
        grids={"epsilon": (10,)},
    )
    rows = {(row["data"], row["algorithm"]): row for row in rows_of(plan, workers=0)}
    assert "continuous" in rows[("linear-gaussian 5 0.4 2", "svt-pc")]["error"]
    assert rows[("linear-gaussian 5 0.4 2 in 3", "svt-pc")]["error"] is None
    # One DAG is measured against the DAG itself, arrows and all.
    row = rows[("linear-gaussian 5 0.4 2", "notears")]
    names, truth = example.names, set(example.edges)
    found = edges_of(row["edges"])
    assert all(kind == "directed" for *_, kind in found)
    right = sum((a, b) in truth for a, b, _ in found)
    assert row["truth_cpdag_recall"] == right / len(truth)
    assert row["non_private_cpdag_f1"] == 1.0
    assert len(names) == 5
    assert 0 <= rows[("linear-gaussian 5 0.4 2", "moment-notears")]["non_private_cpdag_f1"] <= 1


@pytest.mark.long
def test_a_table_in_memory_crosses_processes_and_is_sampled():
    dataset = load_network("cancer").sample(900, 5)
    table = TableData(dataset)
    plan = SweepPlan((table,), ("svt-pc",), rows=(900, 400, 1000), seeds=2)
    here, there = rows_of(plan, workers=0), rows_of(plan, workers=2)
    assert here == there
    assert {row["error"] for row in here if row["rows"] == 1000} == {
        label("fewer-rows-than-required", rows=900, required="1,000")
    }
    part = table.load(400)
    assert part.n == 400
    kept = {tuple(row) for row in np.column_stack(part.values)}
    assert kept <= {tuple(row) for row in np.column_stack(dataset.values)}
    assert all((a == b).all() for a, b in zip(part.values, table.load(400).values, strict=True))
    everything = SweepPlan((table,), ("svt-pc",), seeds=2)
    assert {row["rows"] for row in rows_of(everything, workers=0)} == {900}
    text = json.dumps(plan.describe())
    assert table.content in text
    other = TableData(load_network("cancer").sample(900, 6))
    assert other.content != table.content


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": ()}, says("no-data-set")),
        ({"algorithms": ()}, says("no-algorithm-named")),
        ({"algorithms": ("pc", "pc")}, says("algorithm-twice")),
        ({"algorithms": ("pcc",)}, says("no-such-algorithm", name="pcc")),
        ({"calibrations": ("good",)}, says("no-such-calibration", name="good")),
        ({"grids": {"epsilon": ()}}, says("grid-is-empty", name="epsilon")),
        ({"grids": {"epsilon": (0,)}}, says("positive-parameter")),
        ({"grids": {"eps": (1,)}}, says("no-algorithm-has", name="eps")),
        ({"grids": {"calibration": ("proven",)}}, says("calibrations-have-a-list")),
        ({"settings": {"threshold": 0.1}}, says("fixed-and-in-a-grid")),
        ({"own": {"priv-pc": {"tweak": 1}}}, says("not-among-the-algorithms")),
        ({"own": {"svt-pc": {"thresh-old": 1}}}, says("no-algorithm-has")),
        ({"own": {"svt-pc": {"tweak": 1}}}, says("no-such-parameter", name="tweak")),
        ({"own": {"svt-pc": {"threshold": 1}}}, says("fixed-and-in-a-grid")),
        ({"rows": (1,)}, outside("rows", 1)),
        ({"rows": (500, 500)}, says("rows-twice")),
        ({"seeds": 0}, outside("seeds", 0)),
        ({"master_seed": -1}, outside("seed", "-1")),
        (
            {"seeds": 100_000, "grids": {"epsilon": range(1, 100)}},
            says("too-many-runs", limit="10,000,000"),
        ),
        (
            {"algorithms": ("moment-notears",), "calibrations": ("published",), "grids": {}},
            says("none-of-the-calibrations"),
        ),
    ],
)
def test_plans_that_make_no_sense_are_refused(change, message):
    with pytest.raises(ParameterError, match=message) as caught:
        replace(PLAN, **change)
    assert str(caught.value).count("\n") == 0


def test_what_is_done_is_not_made_again(expected):
    some = {row["cell"] for row in expected[::3]}
    rest = rows_of(PLAN, workers=0, done=some)
    assert rest == [row for row in expected if row["cell"] not in some]
    assert rows_of(PLAN, workers=2, done=range(PLAN.size)) == []


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.long)])
def test_cancel_stops(workers):
    plan = SweepPlan((NetworkData("cancer"),), ("svt-pc",), rows=(500,), seeds=2_000)
    seen = []
    coming = run_sweep(plan, workers=workers, cancelled=lambda: len(seen) >= 5)
    with pytest.raises(Cancelled):
        seen.extend(coming)
    assert len(seen) < 3_000


def test_cancel_stops_within_a_run():
    plan = SweepPlan((NetworkData("alarm"),), ("priv-pc",), rows=(100_000,), seeds=1)
    asked = []

    def cancelled():
        asked.append(None)
        return len(asked) > 50

    with pytest.raises(Cancelled):
        list(run_sweep(plan, workers=0, cancelled=cancelled))
    assert len(asked) < 60


@pytest.mark.long
def test_closing_ends_the_processes():
    plan = SweepPlan((NetworkData("cancer"),), ("svt-pc",), rows=(500,), seeds=2_000)
    crew = Pool(Runner(plan), 2)
    with closing(crew):
        crew.submit(plan.references[0]).result()
    assert all(process.poll() is not None for process in crew._processes)


@pytest.mark.long
def test_a_worker_that_is_killed_is_replaced(expected, monkeypatch):
    crews = []
    original = Pool.__init__

    def watched(self, plan, count):
        original(self, plan, count)
        crews.append(self)

    monkeypatch.setattr(Pool, "__init__", watched)
    rows = []
    for row in run_sweep(PLAN, workers=2):
        if not rows:
            crews[0]._processes[0].kill()
        rows.append(row)
    assert untimed(rows) == expected
    assert len(crews[0]._processes) == 3


@pytest.mark.long
@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/true"])
def test_workers_that_do_not_start_end_the_sweep(monkeypatch, program):
    monkeypatch.setattr("sys.executable", program)
    with pytest.raises(SweepError, match=says("worker-ended", times=3)):
        list(run_sweep(PLAN, workers=2))


@pytest.mark.long
def test_a_run_that_no_worker_survives_ends_the_sweep(monkeypatch):
    """It is lost each time, and with it all batches that hold it."""
    victim = 5

    class Deadly(Runner):
        def __call__(self, work):
            if isinstance(work, Batch) and victim in {c.number for c in work.cells}:
                raise Crew.lost
            return super().__call__(work)

    crew = Crew(Deadly(PLAN, seconds=60.0))
    crew.slots = 2
    monkeypatch.setattr(engine, "_crew", lambda *_: crew)
    rows = []
    with pytest.raises(SweepError, match=says("worker-ended-while", times=3, data="cancer")):
        rows.extend(run_sweep(PLAN))
    assert victim not in {row["cell"] for row in rows}


def test_an_error_of_the_program_is_not_swallowed(monkeypatch):
    def broken(self, work):
        raise ZeroDivisionError("here")

    monkeypatch.setattr(Runner, "__call__", broken)
    with pytest.raises(ZeroDivisionError, match="here"):
        list(run_sweep(PLAN, workers=0))


def test_one_replicate_of_everything_comes_first():
    order = in_waves(PLAN, range(PLAN.size))
    replicates = [PLAN.cells[number].replicate for number in order]
    assert replicates == sorted(replicates)
    assert sorted(order) == list(range(PLAN.size))


def test_edges_survive_any_name():
    names = ("a->b", "c--d e", "=1+1", "größe", "%20")
    graph = PDAG.from_names(names, [("a->b", "c--d e"), ("=1+1", "%20")], [("größe", "a->b")])
    text = edges_text(graph)
    assert text.count(" ") == 2
    assert not text.startswith(("=", "+", "-", "@"))
    assert edges_of(text) == [
        ("a->b", "c--d e", "directed"),
        ("=1+1", "%20", "directed"),
        ("a->b", "größe", "undirected"),
    ]
    assert edges_of(edges_text(PDAG(names))) == []
