"""The shipped sweeps: every private algorithm over ε on eight networks, and the first view's."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from privcore.extras.lab.sweeps.cells import columns
from privcore.extras.lab.sweeps.settings import Cell
from privcore.extras.lab.sweeps.sweep import (
    NetworkData,
    Row,
    SweepFile,
    SweepPlan,
    read_sweep,
    summarise,
)

NETWORKS = ("cancer", "earthquake", "survey", "asia", "sachs", "child", "insurance", "alarm")
METRIC = "truth_skeleton_f1"
PATH = Path(__file__).parents[2] / "results" / "eight_networks.parquet"
# The sweep that the dashboard's Trade-off page opens with.
FIRST_VIEW = PATH.with_name("first_view.parquet")


@cache
def eight_networks() -> SweepFile:
    """Read the shipped rows, and the command and version that produced the rows."""
    return read_sweep(PATH)


@cache
def _rows_by_run() -> dict[str, Row]:
    """The shipped rows by the full description of the run."""
    return _described(eight_networks()) | _described(read_sweep(FIRST_VIEW))


def _described(held: SweepFile) -> dict[str, Row]:
    stated = held.plan
    plan = SweepPlan(
        data=tuple(NetworkData(data["network"], data["seed"]) for data in stated["data"]),
        algorithms=tuple(stated["algorithms"]),
        grids=stated["grids"],
        settings=stated["settings"],
        own=stated["own"],
        calibrations=tuple(stated["calibrations"]),
        rows=tuple(stated["rows"]),
        seeds=stated["seeds"],
        master_seed=stated["master_seed"],
    )
    rows = {row["cell"]: row for row in held.rows}
    return {_run(plan, cell): rows[cell.number] for cell in plan.cells if cell.number in rows}


def _run(plan: SweepPlan, cell: Cell) -> str:
    """The settings that determine a run's row, except for its number in the plan."""
    setting, choice = cell.setting, cell.setting.choice
    values: list[Any] = [
        plan.data[setting.data].describe(),
        setting.rows,
        choice.algorithm,
        choice.calibration,
        choice.parameters,
        cell.replicate,
        cell.seed,
    ]
    return json.dumps(values, sort_keys=True)


def shipped_rows(plan: SweepPlan) -> dict[int, Row]:
    """The shipped rows of a plan's runs, by number of the run in this plan.

    Except for `seconds` and the version, the rows equal the rows that new runs would give.
    """
    # Shipped rows have no measures against the same algorithm without noise.
    if plan.same or not any(isinstance(data, NetworkData) for data in plan.data):
        return {}
    shipped, names = _rows_by_run(), columns(plan)
    rows: dict[int, Row] = {}
    for cell in plan.cells:
        row = shipped.get(_run(plan, cell))
        if row is not None:
            values = {**row, **cell.setting.choice.shown, "cell": cell.number}
            rows[cell.number] = {name: values[name] for name in names}
    return rows


def eight_networks_means() -> pd.DataFrame:
    """Summarise the shipped sweep's skeleton F1 against the true graph (see `summarise`)."""
    return summarise(eight_networks().rows, METRIC)


def best_on_average(means: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """Rank the private algorithms at one ε by their mean skeleton F1 over the networks.

    means: the table `eight_networks_means`. Algorithms that were refused on a network are left out.
    Columns: algorithm, mean, error (standard error of the mean due to the noise) and wins (number
    of networks on which no algorithm has a higher mean).
    """
    here = means[means["epsilon"] == epsilon]
    groups = here.groupby("algorithm", sort=False)
    table = pd.DataFrame(
        {
            "mean": groups["mean"].mean(),
            "error": groups["se"].apply(lambda se: float((se**2).sum() ** 0.5 / len(se))),
            "networks": groups["mean"].count(),
            "wins": here.assign(first=here["mean"] == here.groupby("data")["mean"].transform("max"))
            .groupby("algorithm", sort=False)["first"]
            .sum(),
        }
    )
    table = table[table["networks"] == here["data"].nunique()].drop(columns="networks")
    return table.sort_values("mean", ascending=False).reset_index()
