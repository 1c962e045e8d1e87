"""Structural examples on the command line, and commands that make their runs again."""

import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from privcore.algorithms import discover
from privcore.data import EXAMPLES, StructuralExample, intervals
from privcore.display.commands import command_line, python_code
from privcore.faces.cli import main
from tests.examples import few
from tests.messages import says, shows


def run(capsys, *arguments):
    code = main(arguments)
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def refused(capsys, *arguments):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_examples_are_listed(capsys):
    text = run(capsys, "examples")
    described = json.loads(run(capsys, "examples", "--json"))
    assert [e["name"] for e in described] == list(EXAMPLES)
    for example in described:
        assert example["title"] in text
        assert example["citation"] in text
        assert {"nodes", "density", "graph-seed"} <= {p["name"] for p in example["parameters"]}
        assert all(p["help"] and p["source"] and p["allowed"] for p in example["parameters"])


def test_an_example_with_levels_runs_like_a_network(capsys):
    out = run(
        capsys,
        "discover",
        "--example",
        "random-categorical",
        "--rows",
        "2000",
        "--nodes",
        "6",
        "--density",
        "0.3",
        "--graph-seed",
        "2",
        "--json",
    )
    report = json.loads(out)
    assert report["nodes"] == [f"X{i}" for i in range(1, 7)]
    assert report["data"] == {"name": "random-categorical", "rows": 2000, "columns": 6}
    assert set(report["metrics"]) == {"truth", "non_private"}
    assert report["guarantee"]["caveats"] == []


@pytest.mark.parametrize("example", ["linear-gaussian", "nonlinear"])
def test_numbers_can_be_cut_for_algorithms_that_need_levels(capsys, example):
    out = run(
        capsys,
        "discover",
        "--example",
        example,
        "--rows",
        "2000",
        "--nodes",
        "5",
        "--intervals",
        "4",
        "--epsilon",
        "1",
        "--json",
    )
    report = json.loads(out)
    assert len(report["nodes"]) == 5
    assert report["guarantee"]["caveats"] == []


def test_numbers_run_as_they_are(capsys):
    out = run(
        capsys,
        "discover",
        "--example",
        "linear-gaussian",
        "--rows",
        "20000",
        "--nodes",
        "6",
        "--density",
        "0.3",
        "--algorithm",
        "pc",
        "--json",
    )
    report = json.loads(out)
    assert report["metrics"]["truth"]["skeleton"]["f1"] > 0.7


def test_a_file_of_numbers_can_stay_uncut(capsys, tmp_path):
    example = StructuralExample("linear-gaussian", nodes=4, density=0.5)
    values = example.sample(2_000, 1).values
    path = tmp_path / "t.csv"
    rows = (",".join(f"{v:.6f}" for v in row) for row in zip(*values, strict=True))
    path.write_text("a,b,c,d\n" + "\n".join(rows) + "\n")
    base = ("discover", "--csv", str(path), "--algorithm", "pc", "--json")
    uncut = json.loads(run(capsys, *base, "--intervals", "none"))
    assert uncut["nodes"] == ["a", "b", "c", "d"]
    coarse = json.loads(run(capsys, *base, "--intervals", "6"))
    default = json.loads(run(capsys, *base))
    for report in (default, coarse):
        del report["seconds"]
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
def test_the_command_and_the_script_make_the_run_again(capsys, kind, arguments, cuts):
    dataset = StructuralExample(kind, **arguments).sample(1_000, seed=3)
    dataset = dataset if cuts is None else intervals(dataset, cuts)
    result = discover(dataset, "priv-pc", {"epsilon": 5.0}, seed=9)
    options = {"network": False, "data_seed": 3, "seed": 9}

    words = shlex.split(command_line(result, dataset, **options))
    assert words[:4] == ["python", "-m", "privcore", "discover"]
    report = json.loads(run(capsys, *words[3:]))
    assert {tuple(e) for e in report["directed"]} == set(result.graph.named_directed())
    assert {tuple(e) for e in report["undirected"]} == set(result.graph.named_undirected())
    assert report["spent"] == result.spent.as_dict()

    script = python_code(result, dataset, **options)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    printed = {tuple(line.split()) for line in done.stdout.decode().splitlines()}
    assert {tuple(line.split()) for line in result.graph.lines()} <= printed


BASE = ("discover", "--example", "linear-gaussian", "--rows", "500")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("discover", "--example", "magic"), says("no-such-example", name="magic")),
        ((*BASE, "--nodes", "1"), says("out-of-range", name="nodes", value=1)),
        ((*BASE, "--nodes", "ten"), says("out-of-range", name="nodes", value="ten")),
        ((*BASE, "--density", "2"), says("out-of-range", name="density", value=2)),
        ((*BASE, "--graph-seed", "-1"), says("out-of-range", name="graph-seed", value="-1")),
        ((*BASE, "--concentration", "1"), says("no-such-parameter", name="concentration")),
        (
            (*BASE, "--weight-low", "3"),
            says("above-another", name="weight-low", value=3, other="weight-high"),
        ),
        ((*BASE, "--intervals", "1"), says("cut-from-to", low=2, high=100)),
        ((*BASE, "--intervals", "many"), says("out-of-range", name="intervals", value="many")),
        ((*BASE, "--rows", "1"), says("out-of-range", name="rows", value=1)),
        ((*BASE, "--network", "asia"), says("either-source")),
        (
            ("discover", "--network", "asia", "--graph-seed", "1"),
            says("option-is-for", option="--graph-seed", source="--example"),
        ),
        (("discover", "--network", "asia", "--intervals", "3"), says("levels-already")),
        (
            ("discover", "--example", "random-categorical", "--intervals", "3"),
            says("levels-already"),
        ),
    ],
)
def test_a_wrong_option_exits_2_with_one_sentence(capsys, arguments, sentence):
    assert re.search(sentence, refused(capsys, *arguments))


def test_numbers_are_given_to_an_algorithm_for_numbers(capsys):
    example = ["discover", "--example", "linear-gaussian", "--rows", "500", "--nodes", "4"]
    assert main([*example, "--algorithm", "privpc-star"]) == 0
    out = capsys.readouterr().out
    assert shows(out, "seeded-noise")
    assert shows(out, "correlations-seen")
    arguments = ["discover", "--network", "cancer", "--rows", "500", "--delta", "0.01"]
    assert main([*arguments, "--algorithm", "priv-pc", "--secure"]) == 0
    out = capsys.readouterr().out
    assert shows(out, "leave-out-of-release")
    assert shows(out, "random-row")


def test_weights_are_in_the_report_and_a_new_run_costs(capsys):
    arguments = [
        "discover",
        "--example",
        "linear-gaussian",
        "--rows",
        "2000",
        "--nodes",
        "4",
        "--algorithm",
        "moment-notears",
        "--epsilon",
        "20",
    ]
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    strong = {
        (i, j) for i, row in enumerate(report["weights"]) for j, w in enumerate(row) if abs(w) > 0.3
    }
    assert report["weight_threshold"] == 0.3
    assert {(report["nodes"][i], report["nodes"][j]) for i, j in strong} == {
        tuple(edge) for edge in report["directed"]
    }
    assert main([*arguments, "--secure"]) == 0
    out = capsys.readouterr().out
    assert " iterations, " in out
    assert "gradients" not in out
    assert "DAG F1" in out
    assert "CPDAG F1" not in out
    assert shows(out, "new-run-does")


@pytest.mark.long
def test_numbers_have_an_estimate_as_they_may_be_counted(capsys):
    data = ("--example", "nonlinear", "--nodes", "40", "--rows", "50000", "--estimate")
    text = run(capsys, "discover", *data)
    assert "takes about" in text
    seconds = [
        json.loads(run(capsys, "discover", *data, "--epsilon", epsilon, "--json"))["seconds"]
        for epsilon in ("0.1", "1")
    ]
    assert seconds[0] < seconds[1]


@pytest.mark.long
def test_a_run_on_numbers_says_that_it_cut_them(capsys):
    data = ("--example", "nonlinear", "--nodes", "5", "--rows", "20000", "--graph-seed", "2")
    assert shows(run(capsys, "discover", *data), "counted-in-intervals", intervals=6)
    report = json.loads(run(capsys, "discover", *data, "--json"))
    assert report["intervals"] == 6
    linear = ("--example", "linear-gaussian", *data[2:])
    assert "intervals" not in run(capsys, "discover", *linear)


def test_a_run_on_numbers_beside_levels_says_what_it_did_with_them(capsys, tmp_path):
    rng = np.random.default_rng(1)
    sex, place, noise = rng.integers(0, 2, 3_000), rng.integers(0, 3, 3_000), rng.normal(size=3_000)
    rows = [
        f"{'fm'[s]},{12 * s + x:.2f},{'abc'[k]}" for s, x, k in zip(sex, noise, place, strict=True)
    ]
    three, two = tmp_path / "three.csv", tmp_path / "two.csv"
    three.write_text("\n".join(["sex,height,place", *rows]))
    two.write_text("\n".join(["sex,height", *(row.rpartition(",")[0] for row in rows)]))
    text = run(capsys, "discover", "--csv", str(three), "--intervals", "none")
    assert shows(text, "cut-by-release", columns="height", levels=3)
    assert "sex -- height" in text
    text = run(capsys, "discover", "--csv", str(two), "--intervals", "none")
    assert shows(text, "two-levels-as-numbers")
    for file in (two, three):
        data = ("--csv", str(file), "--intervals", "none", "--estimate")
        assert shows(run(capsys, "discover", *data), "takes-less-than-a-second")
