"""The sweep over eight networks that comes with the product."""

import pandas as pd
import pytest

from privcore.extras.lab.sweeps.cells import Batch, Runner
from privcore.extras.lab.sweeps.eight_networks import (
    NETWORKS,
    best_on_average,
    eight_networks,
    shipped_rows,
)
from privcore.extras.lab.sweeps.sweep import NetworkData, SweepPlan, run_sweep
from privcore.faces.cli.sweep import plan_of


def test_it_is_whole_and_of_the_command_that_it_names():
    held = eight_networks()
    plan = plan_of(held.command)
    assert plan.describe() == held.plan
    there = {row["cell"] for row in held.rows}
    assert there == {cell.number for cell in plan.cells}
    assert {row["data"] for row in held.rows} == set(NETWORKS)
    refused = {(row["algorithm"], row["data"]) for row in held.rows if row["error"]}
    assert refused == {("lapmech", name) for name in ("child", "insurance", "alarm")}


@pytest.mark.parametrize("algorithm", ["svt-pc", "em-pc"])
def test_a_run_made_again_has_the_same_row(algorithm):
    held = eight_networks()
    plan = plan_of(held.command)
    cell = next(
        c
        for c in plan.cells
        if c.setting.choice.algorithm == algorithm and c.replicate == 2 and c.setting.data == 0
    )
    runner = Runner(plan, seconds=60)
    graphs = {k: runner.reference(plan.references[k]) for k in cell.setting.references}
    (row,) = runner.rows(Batch((cell,), graphs))
    old = held.rows[cell.number]
    assert {k: v for k, v in row.items() if k != "seconds"} == pytest.approx(
        {k: v for k, v in old.items() if k != "seconds"}
    )


def means(*lines):
    names = ["data", "algorithm", "calibration", "epsilon", "mean", "se"]
    return pd.DataFrame(lines, columns=names)


def test_the_best_on_average_by_hand():
    table = means(
        ("x", "em-pc", "proven", 1.0, 0.8, 0.03),
        ("y", "em-pc", "proven", 1.0, 0.4, 0.04),
        ("x", "svt-pc", "proven", 1.0, 0.7, 0.0),
        ("y", "svt-pc", "proven", 1.0, 0.7, 0.0),
        # Refused on y.
        ("x", "lapmech", "proven", 1.0, 1.0, 0.0),
        ("y", "lapmech", "proven", 1.0, None, None),
        ("x", "em-pc", "proven", 2.0, 0.0, 0.0),
    )
    best = best_on_average(table, 1.0)
    assert list(best["algorithm"]) == ["svt-pc", "em-pc"]
    assert list(best["mean"]) == pytest.approx([0.7, 0.6])
    assert list(best["error"]) == pytest.approx([0.0, 0.025])
    assert list(best["wins"]) == [1, 0]


def plan(**changes):
    stated = {
        "data": (NetworkData("cancer"),),
        "algorithms": ("pc", "svt-pc"),
        "grids": {"epsilon": (0.1, 1)},
        "rows": (100_000,),
        "seeds": 3,
    }
    return SweepPlan(**{**stated, **changes})


def test_the_rows_of_a_plan_are_those_that_its_runs_give():
    small = plan(seeds=1)
    shipped = shipped_rows(small)
    made = {row["cell"]: row for row in run_sweep(small, workers=0)}
    assert set(shipped) == set(made) == set(range(3))
    for cell, row in made.items():
        old = shipped[cell]
        assert list(old) == list(row)
        assert {k: v for k, v in old.items() if k != "seconds"} == pytest.approx(
            {k: v for k, v in row.items() if k != "seconds"}
        )


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 7),
        # Five of each are there, and more have to be made.
        ({"seeds": 10}, 11),
        ({"grids": {"epsilon": (0.1, 0.3)}}, 4),
        ({"rows": (2_000, 100_000)}, 7),
        ({"rows": (2_000,)}, 0),
        ({"data": (NetworkData("cancer", 2),)}, 0),
        ({"data": (NetworkData("hepar2"),)}, 0),
        ({"calibrations": ("published",)}, 1),
        ({"settings": {"threshold": 0.01}}, 0),
        ({"master_seed": 2}, 1),
    ],
)
def test_only_the_very_runs_are_taken(changes, count):
    rows = shipped_rows(plan(**changes))
    assert len(rows) == count
    assert all(row["cell"] == cell for cell, row in rows.items())
