"""One PC is the yardstick of a table, wherever a private graph is compared with one without noise.

A row of PC itself runs as asked, without the limits of PC as a reference,
which no table meets here.
"""

import json
from itertools import count as numbers
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

from pages.ui.controls.data import prepare
from pages.ui.discover.runs import reference_run
from pages.ui.effects import runs as effects_runs
from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.engine import accepts
from privcore.data import Column, Dataset, load_network
from privcore.display.interactive import run_series
from privcore.effects import Question
from privcore.extras.lab.sweeps.cells import compared, edges_text, graph_of
from privcore.extras.lab.sweeps.eight_networks import FIRST_VIEW, PATH
from privcore.extras.lab.sweeps.sweep import SweepPlan, TableData, read_sweep, run_sweep
from privcore.measures import evaluate
from privcore.measures.references import non_private_reference

ABOUT = {"": (False, False), "known": (True, False), "known-hidden": (True, True)}

VERSIONS = numbers()


def table(kind):
    if kind == "levels":
        return load_network("cancer").sample(2_000, 1)
    noise = np.random.default_rng(1).normal(size=(5, 600))
    a, b = noise[0], 0.9 * noise[0] + noise[1]
    numbers = (a, b, 0.8 * b + noise[2], 0.8 * b + noise[3], a + noise[4])
    columns = [Column(f"x{k}", "continuous", bounds=(-6.0, 6.0), declared=True) for k in range(5)]
    values = [np.clip(x, -6, 6) for x in numbers]
    if kind == "mixed":
        columns[2] = Column("x2", "nominal", ("low", "high"), declared=True)
        values[2] = (values[2] > 0).astype(np.uint16)
    return Dataset("t", tuple(columns), tuple(values))


def asked(about, last, others):
    known, hidden = ABOUT[about]
    knowledge = {"knowledge": json.dumps({"tiers": [[last], others]})} if known else {}
    return knowledge | ({"hidden_causes": True} if hidden else {})


@pytest.mark.parametrize("about", ABOUT)
@pytest.mark.parametrize("kind", ["levels", "numbers", "mixed"])
def test_every_comparison_is_with_the_same_graph(kind, about, monkeypatch):
    data = table(kind)
    source = count(data)
    settings = asked(about, data.names[-1], list(data.names[:-1]))
    pc = discover(source, "pc", settings).graph
    names = [
        a.name
        for a in ALGORITHMS.values()
        if a.private and accepts(a, source) and {p.name for p in a.parameters} >= settings.keys()
    ]
    question, adjusted = Question(*data.names[:2]), Mock(return_value=())
    monkeypatch.setattr(effects_runs, "without_privacy", adjusted)
    for name in names:
        run = discover(source, name, settings, seed=1)
        # Another version each time, as pages keep what they have computed.
        loaded = prepare(data, is_network=False, seed=0, version=next(VERSIONS))
        found = [non_private_reference(source, run).graph]
        # The page to send, Discover, and Effects.
        series = run_series(data, source, name, settings, runs=1, made=lambda e, s, run=run: run)
        found += [series.base.graph, reference_run(loaded, run).graph]
        effects_runs.compared(loaded, SimpleNamespace(result=run, question=question))
        found.append(adjusted.call_args.args[1])
        assert found == [pc] * 4
    plan = SweepPlan(
        (TableData(data),), ("pc", *names), grids={"epsilon": (1.0,)}, settings=settings, seeds=1
    )
    for row in run_sweep(plan, workers=0):
        assert row["error"] is None
        if row["algorithm"] == "pc":
            assert row["edges"] == edges_text(pc)
        graph = graph_of(data.names, row["edges"])
        measures = compared(graph, {"non_private": pc})
        assert {k: row[k] for k in measures} == measures


@pytest.mark.parametrize("about", ABOUT)
def test_the_command_line_compares_with_it_too(about, report):
    data = table("levels")
    settings = asked(about, "Dyspnoea", [n for n in data.names if n != "Dyspnoea"])
    pc = discover(count(data), "pc", settings).graph
    command = "discover --network cancer --rows 2000 --algorithm moment-search --seed 1 --json"
    stated = [f"--set={name}={value}" for name, value in settings.items()]
    run = discover(count(data), "moment-search", settings, seed=1)
    wanted = evaluate(run.graph, {"non_private": pc})["non_private"]
    assert report(command, *stated)["metrics"]["non_private"] == wanted


@pytest.mark.parametrize("path", [PATH, FIRST_VIEW], ids=lambda p: p.stem)
def test_shipped_sweeps_compare_with_it_too(path):
    rows = [row for row in read_sweep(path).rows if not row["error"]]
    graphs = {}
    for row in rows:
        if row["algorithm"] == "pc":
            network = load_network(row["data"])
            pc = discover(count(network.sample(row["rows"], row["data_seed"])), "pc").graph
            assert row["edges"] == edges_text(pc)
            graphs[row["data"]] = pc
    for row in rows:
        if row["guarantee_epsilon"] is not None:
            pc = graphs[row["data"]]
            measures = compared(graph_of(pc.nodes, row["edges"]), {"non_private": pc})
            assert {k: row[k] for k in measures} == pytest.approx(measures)
