"""Every private algorithm on eight networks against ε: a sweep that comes with the product."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

from privcore.evaluation.sweeps.sweep import SweepFile, read_sweep, summarise

NETWORKS = ("cancer", "earthquake", "survey", "asia", "sachs", "child", "insurance", "alarm")
METRIC = "truth_skeleton_f1"
PATH = Path(__file__).parents[1] / "results" / "eight_networks.parquet"


@cache
def eight_networks() -> SweepFile:
    """The rows, and the command and version that made them."""
    return read_sweep(PATH)


def eight_networks_means() -> pd.DataFrame:
    """As `summarise` gives them, of the skeleton F1 against the truth."""
    return summarise(eight_networks().rows, METRIC)


def best_on_average(means: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """Private algorithms by their mean over the networks at one ε, the best first.

    Those that were refused on a network are left out.
    Columns: algorithm, mean, error (standard error of the mean, from the noise alone) and wins
    (on how many networks none has a higher mean).
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
