"""`sweep` as a script sees it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from privcore.extras.lab.sweeps.sweep import Journal, NetworkData, SweepPlan, read_sweep
from tests.cli.test_cli import TEXT
from tests.messages import begins, outside, reads, says, shows

SMALL = (
    "sweep --network cancer,survey --rows 300 --algorithms pc,priv-pc,svt-pc"
    " --epsilons 0.5,5 --seeds 3 --workers 0"
)


@pytest.mark.long
def test_a_table_of_means_is_printed(printed, tmp_path):
    path = tmp_path / "sweep.parquet"
    out = printed(
        "sweep --network asia --rows 100000 --algorithms pc,priv-pc --epsilons 0.1,1,10"
        f" --seeds 20 --out {path}"
    )
    found = read_sweep(path)
    assert len(found.rows) == 1 + 3 * 20
    assert found.command.startswith("python -m privcore sweep --network asia --rows 100000")
    table = pd.read_parquet(path)
    mean = table[table["epsilon"] == 1.0]["truth_skeleton_f1"].mean()
    lines = [line.split() for line in out.splitlines()]
    assert ["algorithm", "calibration", "ε", "0.1", "ε", "1", "ε", "10"] in lines
    private = next(line for line in lines if line[0] == "priv-pc")
    assert private[3] == f"{mean:.3f}"
    plain = next(line for line in lines if line[0] == "pc")
    assert len(set(plain[2:])) == 1
    assert out.splitlines()[-1] == f"61 runs: {path}"
    assert os.listdir(tmp_path) == ["sweep.parquet"]


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_grids_settings_and_endings(run, tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    code, out, err = run(
        f"{SMALL} --out {path} --grid threshold=0.01,0.05 --set max-order=1"
        " --set priv-pc.sieve-share=0.3 --set radius=0.5 --calibrations proven,published"
    )
    assert code == 0
    assert reads(err, "no-parameter-in-sweep", name="radius")
    if ending == "csv":
        table = pd.read_csv(path)
    else:
        content = json.loads(path.read_text())
        assert content["plan"]["settings"] == {"max_order": 1}
        assert content["plan"]["own"] == {"priv-pc": {"sieve_share": 0.3}}
        table = pd.DataFrame(content["rows"])
    assert len(table) == 2 * 2 * (1 + 2 * 2 * 2 * 3)
    assert set(table["threshold"]) == {0.01, 0.05}
    assert "threshold" in out.splitlines()[1]


def test_resuming(run, tmp_path):
    path = tmp_path / "a.parquet"
    run(f"{SMALL} --out {path}")
    whole = read_sweep(path)
    plan = SweepPlan(
        (NetworkData("cancer"), NetworkData("survey")),
        ("pc", "priv-pc", "svt-pc"),
        rows=(300,),
        grids={"epsilon": (0.5, 5)},
        seeds=3,
    )
    assert plan.describe() == whole.plan
    path.unlink()
    journal = Journal(path, plan)
    marked = [{**row, "seconds": -1.0} for row in whole.rows[:7]]
    for row in marked:
        journal.add(row)
    journal.close()
    code, _, err = run(f"{SMALL} --out {path}")
    assert code == 0
    assert reads(err, "going-on", done=7, runs=plan.size)
    again = read_sweep(path).rows
    assert [row["seconds"] == -1.0 for row in again] == [True] * 7 + [False] * (plan.size - 7)
    assert [{**row, "seconds": 0} for row in again] == [{**row, "seconds": 0} for row in whole.rows]
    assert os.listdir(tmp_path) == ["a.parquet"]


@pytest.mark.long
def test_interrupted_and_resumed(tmp_path):
    """Ctrl-C as a terminal sends it, then the same command again."""
    path = tmp_path / "a.csv"
    words = "sweep --network asia --rows 2000 --algorithms svt-pc --epsilons 1 --seeds 1000"
    command = [sys.executable, "-m", "privcore", *words.split(), "--workers", "2", "--out", path]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell starts what runs in its background with Ctrl-C ignored, and that is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    journal = tmp_path / "a.csv.journal"
    while not journal.exists() or journal.read_bytes().count(b"\n") < 5:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert reads(err.decode(), "stopped")
    kept = journal.read_bytes().count(b"\n") - 1
    assert 0 < kept < 1000
    done = subprocess.run(command, capture_output=True, check=True)
    assert reads(done.stderr.decode(), "going-on", done=f"{kept:,}", runs="1,000")
    assert len(pd.read_csv(path)) == 1000


def test_a_table_of_one_s_own(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text(TEXT)
    Path("truth.csv").write_text("a,b\n")
    asked = "sweep --csv table.csv --algorithms svt-pc --seeds 2 --workers 0 --epsilons 1"
    out = run(f"{asked} --out a.json").out
    assert shows(out, "sweep-compared")
    rows = read_sweep("a.json").rows
    assert {row["rows"] for row in rows} == {60}
    assert {row["truth_skeleton_f1"] for row in rows} == {None}
    out = run(f"{asked} --out b.json --truth truth.csv --rows 30,61").out
    assert shows(out, "sweep-against-truth")
    assert shows(out, "runs-refused", runs=2)
    assert "refused" in next(line for line in out.splitlines() if line.startswith("61"))


def test_an_example(run, tmp_path):
    path = tmp_path / "a.parquet"
    ran = run(
        "sweep --example linear-gaussian --nodes 4 --rows 200,400"
        f" --algorithms notears,privpc-star --seeds 2 --workers 0 --out {path}"
    )
    assert ran.code == 0
    found = read_sweep(path)
    assert found.plan["data"][0]["nodes"] == 4
    assert len(found.rows) == 2 * (1 + 3 * 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("--out a.xlsx", says("must-end-in", ends=".parquet, .csv or .json")),
        ("--network asiaa", says("no-such-network", name="asiaa")),
        ("--network ''", says("no-data-set")),
        ("--algorithms pc,privpc", says("no-such-algorithm", name="privpc")),
        ("--epsilons 0.1,x", outside("epsilon", "x")),
        ("--epsilons ,", says("grid-is-empty", name="epsilon")),
        ("--grid epsilon=1", says("grid-has-its-option", option="--epsilons")),
        ("--grid tweak", says("not-name-value")),
        ("--set em-pc.threshold=0.1", says("not-among-the-algorithms")),
        ("--seeds x", outside("seeds", "x")),
        ("--workers -1", outside("workers", "-1")),
        ("--truth t.csv", says("option-is-for", option="--truth", source="--csv")),
        ("--intervals 3", says("leave-option-out", option="--intervals")),
        ("--csv t.csv", says("either-source")),
        ("--nodes 4", says("option-is-for", option="--nodes", source="--example")),
    ],
)
def test_wrong_options_are_one_sentence(refused, tmp_path, monkeypatch, change, message):
    monkeypatch.chdir(tmp_path)
    assert re.search(message, refused(f"{SMALL} --out a.csv {change}"))
    assert os.listdir(tmp_path) == []


def test_a_scheduler_that_is_not_there(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("privcore.extras.lab.sweeps.dask.JOIN_SECONDS", 0.5)
    path = tmp_path / "a.csv"
    message = refused(f"{SMALL} --out {path} --scheduler tcp://127.0.0.1:9")
    assert shows(message, "no-scheduler", address="tcp://127.0.0.1:9")
    assert os.listdir(tmp_path) == []


@pytest.mark.long
def test_many_budgets_make_a_short_table(run, tmp_path):
    epsilons = ",".join(str(e) for e in range(1, 30))
    few = f"--epsilons {epsilons} --algorithms svt-pc --seeds 1"
    head = run(f"{SMALL} {few} --out {tmp_path / 'a.csv'}").out.splitlines()[1]
    assert head.count("ε") == 7
    assert "ε 1 " in head
    assert head.endswith("ε 29")


def test_progress_on_a_terminal(run, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("privcore.faces.cli.sweep._SHOWN_EVERY", 0.0)
    code, _, err = run(f"{SMALL} --out {tmp_path / 'a.csv'}")
    assert code == 0
    lines = err.split("\r")
    assert lines[1].startswith("1 of 26 runs, ")
    assert begins(lines[-1], "runs-and-time-left", done=26, runs=26, time="0:00")
    assert err.endswith("\n")
