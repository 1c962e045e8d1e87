"""Structural examples on the command line, and commands that make their runs again."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from privcore.algorithms import discover
from privcore.data import EXAMPLES, StructuralExample, intervals
from privcore.display.commands import command_line, python_code
from privcore.intake import build_dataset, read_table
from privcore.intake.triage import proposed_schema
from tests.examples import few
from tests.messages import outside, says, shows


def test_examples_are_listed(report, printed):
    text = printed("examples")
    described = report("examples --json")
    assert [e["name"] for e in described] == list(EXAMPLES)
    for example in described:
        assert example["title"] in text
        assert example["citation"] in text
        assert {"nodes", "density", "graph-seed"} <= {p["name"] for p in example["parameters"]}
        assert all(p["help"] and p["source"] and p["allowed"] for p in example["parameters"])


def test_an_example_with_levels_runs_like_a_network(report):
    example = "random-categorical --nodes 6 --density 0.3 --graph-seed 2"
    found = report(f"discover --example {example} --rows 2000 --json")
    assert found["nodes"] == [f"X{i}" for i in range(1, 7)]
    assert found["data"] == {"name": "random-categorical", "rows": 2000, "columns": 6}
    assert set(found["metrics"]) == {"truth", "non_private"}
    assert found["guarantee"]["caveats"] == []


@pytest.mark.parametrize("example", ["linear-gaussian", "nonlinear"])
def test_numbers_can_be_cut_for_algorithms_that_need_levels(report, example):
    words = "--rows 2000 --nodes 5 --intervals 4 --epsilon 1"
    found = report(f"discover --example {example} {words} --json")
    assert len(found["nodes"]) == 5
    assert found["guarantee"]["caveats"] == []


def test_numbers_run_as_they_are(report):
    words = "linear-gaussian --rows 20000 --nodes 6 --density 0.3 --algorithm pc"
    found = report(f"discover --example {words} --json")
    assert found["metrics"]["truth"]["skeleton"]["f1"] > 0.7


def test_a_file_of_numbers_can_stay_uncut(report, tmp_path):
    example = StructuralExample("linear-gaussian", nodes=4, density=0.5)
    values = example.sample(2_000, 1).values
    path = tmp_path / "t.csv"
    rows = (",".join(f"{v:.6f}" for v in row) for row in zip(*values, strict=True))
    path.write_text("a,b,c,d\n" + "\n".join(rows) + "\n")
    base = f"discover --csv {path} --algorithm pc --json"
    uncut = report(f"{base} --intervals none")
    assert uncut["nodes"] == ["a", "b", "c", "d"]
    coarse = report(f"{base} --intervals 6")
    default = report(base)
    for found in (default, coarse):
        del found["seconds"]
    # So few rows are cut into six intervals.
    assert default == coarse


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "arguments", "cuts"),
    few(
        [
            ("linear-gaussian", {"nodes": 5, "density": 0.5, "weight_high": 2.0}, 3),
            ("random-categorical", {"nodes": 5, "concentration": 0.5}, None),
            ("nonlinear", {"nodes": 5, "graph_seed": 7, "noise_sd": 1.0, "bound": 2.5}, 5),
        ],
        1,
    ),
)
def test_the_command_and_the_script_make_the_run_again(report, kind, arguments, cuts):
    dataset = StructuralExample(kind, **arguments).sample(1_000, seed=3)
    dataset = dataset if cuts is None else intervals(dataset, cuts)
    result = discover(dataset, "priv-pc", {"epsilon": 5.0}, seed=9)
    options = {"network": False, "data_seed": 3, "seed": 9}

    words = shlex.split(command_line(result, dataset, **options))
    assert words[:4] == ["python", "-m", "privcore", "discover"]
    found = report("", *words[3:])
    assert {tuple(e) for e in found["directed"]} == set(result.graph.named_directed())
    assert {tuple(e) for e in found["undirected"]} == set(result.graph.named_undirected())
    assert found["spent"] == result.spent.as_dict()

    script = python_code(result, dataset, **options)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    printed = {tuple(line.split()) for line in done.stdout.decode().splitlines()}
    assert {tuple(line.split()) for line in result.graph.lines()} <= printed


def test_the_script_for_a_table_of_one_s_own_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 2},{i // 2 % 3},{i % 2}\n" for i in range(300))
    Path("own.csv").write_text(f"a,b,c\n{rows}")
    raw = read_table(Path("own.csv").read_bytes(), "own.csv")
    dataset = build_dataset(raw, proposed_schema(raw), name="own.csv")
    result = discover(dataset, "moment-search", {"target": "a"}, seed=9)
    script = python_code(result, dataset, network=False, data_seed=3, seed=9)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, env=environment, text=True
    )
    assert set(result.graph.lines()) <= set(done.stdout.splitlines())


BASE = "discover --example linear-gaussian --rows 500"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("discover --example magic", says("no-such-example", name="magic")),
        (f"{BASE} --nodes ten", outside("nodes", "ten")),
        (f"{BASE} --concentration 1", says("no-such-parameter", name="concentration")),
        (f"{BASE} --intervals many", outside("intervals", "many")),
        (f"{BASE} --network asia", says("either-source")),
        (
            "discover --network asia --graph-seed 1",
            says("option-is-for", option="--graph-seed", source="--example"),
        ),
        ("discover --network asia --intervals 3", says("levels-already")),
        ("discover --example random-categorical --intervals 3", says("levels-already")),
    ],
)
def test_a_wrong_option_exits_2_with_one_sentence(refused, arguments, sentence):
    assert re.search(sentence, refused(arguments))


def test_numbers_are_given_to_an_algorithm_for_numbers(printed):
    example = "discover --example linear-gaussian --rows 500 --nodes 4"
    out = printed(f"{example} --algorithm privpc-star")
    assert shows(out, "seeded-noise")
    assert shows(out, "correlations-seen")
    arguments = "discover --network cancer --rows 500 --delta 0.01"
    out = printed(f"{arguments} --algorithm priv-pc --secure")
    assert shows(out, "leave-out-of-release")
    assert shows(out, "random-row")


def test_weights_are_in_the_report_and_a_new_run_costs(report, printed):
    asked = "discover --example linear-gaussian --rows 2000 --nodes 4"
    asked += " --algorithm moment-notears --epsilon 20"
    found = report(f"{asked} --json")
    nodes = found["nodes"]
    strong = {
        (nodes[i], nodes[j])
        for i, row in enumerate(found["weights"])
        for j, weight in enumerate(row)
        if abs(weight) > 0.3
    }
    assert found["weight_threshold"] == 0.3
    assert strong == {tuple(edge) for edge in found["directed"]}
    out = printed(f"{asked} --secure")
    assert " iterations, " in out
    assert "gradients" not in out
    assert "DAG F1" in out
    assert "CPDAG F1" not in out
    assert shows(out, "new-run-does")


@pytest.mark.long
def test_numbers_have_an_estimate_as_they_may_be_counted(report, printed):
    data = "--example nonlinear --nodes 40 --rows 50000 --estimate"
    text = printed(f"discover {data}")
    assert "takes about" in text
    seconds = [
        report(f"discover {data} --epsilon {epsilon} --json")["seconds"] for epsilon in ("0.1", "1")
    ]
    assert seconds[0] < seconds[1]


@pytest.mark.long
def test_a_run_on_numbers_says_that_it_cut_them(report, printed):
    data = "--nodes 5 --rows 20000 --graph-seed 2"
    out = printed(f"discover --example nonlinear {data}")
    assert shows(out, "counted-in-intervals", intervals=6)
    assert report(f"discover --example nonlinear {data} --json")["intervals"] == 6
    assert "intervals" not in printed(f"discover --example linear-gaussian {data}")


def test_a_run_on_numbers_beside_levels_says_what_it_did_with_them(printed, tmp_path):
    rng = np.random.default_rng(1)
    sex, place, noise = rng.integers(0, 2, 3_000), rng.integers(0, 3, 3_000), rng.normal(size=3_000)
    rows = [
        f"{'fm'[s]},{4 * s + x:.2f},{'abc'[k]}" for s, x, k in zip(sex, noise, place, strict=True)
    ]
    three, two = tmp_path / "three.csv", tmp_path / "two.csv"
    three.write_text("\n".join(["sex,height,place", *rows]))
    two.write_text("\n".join(["sex,height", *(row.rpartition(",")[0] for row in rows)]))
    text = printed(f"discover --csv {three} --intervals none")
    assert shows(text, "cut-by-release", columns="height", levels=3)
    assert "sex -- height" in text
    text = printed(f"discover --csv {two} --intervals none")
    assert shows(text, "two-levels-as-numbers")
    for file in (two, three):
        data = f"--csv {file} --intervals none --estimate"
        assert shows(printed(f"discover {data}"), "takes-less-than-a-second")
