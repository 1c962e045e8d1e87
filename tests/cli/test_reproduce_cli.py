"""`reproduce` as a script sees it."""

import csv
import io
import json
import re
import signal
import sys

import numpy as np
import pytest

from benchmarks.papers.__main__ import main
from benchmarks.papers.engine import reproduce
from benchmarks.papers.model import Work
from benchmarks.papers.registry import REPRODUCTIONS
from privcore.extras.lab import reproductions
from privcore.version import __version__
from tests.cli.calling import Shell
from tests.messages import outside, says, shows


@pytest.fixture
def shell(capfd):
    """What the program prints, which is another process, is seen too."""
    return Shell(capfd)


class Here:
    """The program in this process, which does not wait until it is loaded."""

    stdin = stdout = None

    def __init__(self, words):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["benchmarks.papers", *words])
            self.code = main()

    def kill(self):
        pass

    def wait(self):
        return self.code


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr("privcore.faces.cli.reproduce.start", Here)


def test_without_a_name_all_are_listed(printed):
    lines = printed("reproduce").splitlines()
    assert lines[0].split() == ["name", "paper", "item", "shows"]
    assert [line.split()[0] for line in lines[1:]] == list(REPRODUCTIONS)


def test_printed_and_ours_stand_side_by_side_in_columns(printed):
    lines = printed("reproduce wang-table-1").splitlines()
    assert lines[0] == "Wang, Pang & Song 2020: Priv-PC, Table 1"
    head = next(n for n, line in enumerate(lines) if line.startswith("network"))
    paper, ours = lines[head].index("paper"), lines[head].index("ours")
    edges = next(line for line in lines if line.startswith("asia") and "edges" in line)
    assert (edges[paper:].split()[0], edges[ours:].split()[0]) == ("10", "8")
    assert shows(lines, "why-ours-differ")
    assert any("Lauritzen & Spiegelhalter 1988" in line for line in lines)


@pytest.mark.long
def test_the_three_columns_and_the_sentences(printed):
    out = printed("reproduce xu-table-9 --quick --workers 1 --seed 3")
    head = next(line for line in out.splitlines() if line.startswith("rows n"))
    assert head.split("  ")[-1] == "ours, proven"
    assert "ours, published (not proven)" in head
    assert shows(out, "seed-and-runs", seed=3, runs=1)
    assert shows(out, "graphs-exchanged")


@pytest.mark.long
def test_csv_and_json_hold_the_same_numbers(printed, tmp_path):
    path = tmp_path / "r.json"
    out = printed(f"reproduce xu-table-9 --runs 1 --workers 0 --csv --out {path}")
    rows = list(csv.DictReader(io.StringIO(out)))
    held = json.loads(path.read_text(encoding="utf-8"))
    result = reproduce(REPRODUCTIONS["xu-table-9"], Work(1))
    assert len(rows) == len(held["lines"]) == len(result.lines)
    for row, line, made in zip(rows, held["lines"], result.lines, strict=True):
        assert row["paper"] == line["paper"] == made.paper
        for series, mean in made.ours.items():
            assert float(row[f"{series}_mean"]) == line["ours"][series][0] == mean.mean
    assert held["command"] == "python -m privcore reproduce xu-table-9 --runs 1 --seed 0"
    assert (held["version"], held["runs"], held["seed"]) == (__version__, 1, 0)
    assert held["settings"] == REPRODUCTIONS["xu-table-9"].settings


@pytest.fixture
def adult(tmp_path):
    noise = np.random.default_rng(2)
    path = tmp_path / "adult.csv"
    ages, works = noise.integers(17, 90, 300), noise.choice(["private", "state", "?"], 300)
    lines = [f"{a},{w},{'>50K' if a > 50 else '<=50K'}" for a, w in zip(ages, works, strict=True)]
    path.write_text("\n".join(["age,workclass,income", *lines]) + "\n")
    return str(path)


def test_the_users_table(printed, adult):
    out = printed(f"reproduce xu-adult --table {adult} --quick")
    line = next(line for line in out.splitlines() if line.startswith("PC (not private)"))
    assert line.split("  ")[-1] != ""
    assert "0.786" in out


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ("wang-table-9", says("no-such-reproduction", name="wang-table-9")),
        ("xu-adult", says("data-needed-for-item")),
        ("xu-adult --table missing.csv", says("cannot-be-read")),
        ("wang-table-1 --table t.csv", says("brings-its-own-data")),
        ("wang-table-1 --runs many", outside("runs", "many")),
        ("wang-table-1 --quick --runs 2", says("leave-option-out", option="--runs")),
        ("wang-table-1 --seed 9999999999", outside("seed", 9999999999)),
        ("wang-table-1 --workers two", outside("workers", "two")),
        ("wang-table-1 --out r.parquet", says("must-end-in", ends=".json")),
        ("wang-table-1 --out /no/such/folder/r.json", says("cannot-be-written")),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(refused, arguments, match):
    assert re.search(match, refused(f"reproduce {arguments}"))


def test_a_refusal_of_the_program_is_that_of_the_command(refused):
    assert re.search(outside("seed", 9999999999), refused("reproduce xu-adult --seed 9999999999"))


def test_an_interruption_ends_the_program(run, monkeypatch):
    started = []

    def start(words):
        process = reproductions.start(words)
        started.append(process)

        def interrupted():
            del process.wait
            raise KeyboardInterrupt

        process.wait = interrupted
        return process

    monkeypatch.setattr("privcore.faces.cli.reproduce.start", start)
    code, out, err = run("reproduce kusner-figure-1")
    assert (code, out, err.count(".")) == (130, "", 1)
    assert started[0].returncode == -signal.SIGKILL


def test_without_the_source_it_lists_and_says_where_to_run(printed, refused, monkeypatch):
    monkeypatch.setattr("privcore.faces.cli.reproduce.has_program", lambda: False)
    assert "wang-table-1" in printed("reproduce")
    assert shows(refused("reproduce wang-table-1"), "run-command-there")
    assert "no reproduction" in refused("reproduce wang-table-9")
