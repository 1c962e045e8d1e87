"""Making rows of the sweep that comes with the product again."""

import pytest

from benchmarks.eight_networks import remake
from privcore.extras.lab.sweeps.sweep import read_sweep, write_rows
from privcore.faces.cli.sweep import plan_of
from tests.messages import shows

SMALL = (
    "sweep --network cancer,survey --rows 300 --algorithms pc,svt-pc,priv-pc"
    " --epsilons 0.5,5 --seeds 2 --workers 0"
)


def without_time(rows):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


@pytest.fixture
def made(tmp_path, run):
    path = tmp_path / "sweep.parquet"
    assert run(f"{SMALL} --out {path}").code == 0
    return path


def test_only_the_rows_that_are_named_are_made_again(made, capsys):
    before = read_sweep(made)
    marked = [{**row, "tests_run": -1, "seconds": -1.0} for row in before.rows]
    write_rows(made, marked, plan_of(before.command), before.command)
    remake(made, ["svt-pc"], ["survey"], 0)
    after = read_sweep(made)
    assert (after.command, after.plan) == (before.command, before.plan)
    fresh = [row["tests_run"] != -1 for row in after.rows]
    assert fresh == [row["algorithm"] == "svt-pc" and row["data"] == "survey" for row in after.rows]
    for row, new in zip(without_time(before.rows), without_time(after.rows), strict=True):
        assert new == (row if new["tests_run"] != -1 else {**row, "tests_run": -1})
    assert shows(capsys.readouterr().out, "runs-made", made=4, there=18, all=18)
    assert not made.with_name("sweep.parquet.journal").exists()


def test_rows_that_were_never_made_are_made(made, capsys):
    before = read_sweep(made)
    fewer = [row for row in before.rows if row["algorithm"] != "priv-pc"]
    write_rows(made, fewer, plan_of(before.command), before.command)
    remake(made, ["pc", "priv-pc"], ["cancer", "survey"], 0, missing=True)
    assert shows(capsys.readouterr().out, "runs-made", made=8, there=18, all=18)
    assert without_time(read_sweep(made).rows) == without_time(before.rows)
