"""Summaries of a sweep's rows: means over replicates, smallest budgets, and best algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from privcore.extras.lab.sweeps.cells import METRICS, OUTCOMES, Row, edges_of

Rows = Iterable[Row] | pd.DataFrame
_QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
_KEYS = ("data", "data_seed", "rows", "algorithm", "calibration", "epsilon", "delta")
_NO_KEYS = {"cell", "replicate", "seed", *OUTCOMES}


def lower_is_better(metric: str) -> bool:
    """Whether smaller values of the metric are better, as for distances, costs and times."""
    return metric.endswith("_shd") or metric not in METRICS


def _table(rows: Rows) -> pd.DataFrame:
    return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))


def _keys(table: pd.DataFrame, by: Sequence[str] | None) -> list[str]:
    """The columns `by`, or if None all columns that identify a run except the replicate."""
    if by is not None:
        return list(by)
    swept = [name for name in table.columns if name not in _NO_KEYS and name not in _KEYS]
    return [*_KEYS, *swept]


def summarise(rows: Rows, metric: str, by: Sequence[str] | None = None) -> pd.DataFrame:
    """Summarise a metric with one line per group of runs, in order of first occurrence.

    by: columns that define a group; None for all settings of a run, so that a group consists of
    the replicates of a run. Columns: the columns of `by`, then runs (number of runs with the
    metric), refused, mean, sd (n − 1), se = sd/√runs, min, q05, q25, median, q75, q95 (linear
    interpolation) and max; NaN if there are too few runs.
    """
    table = _table(rows)
    keys = _keys(table, by)
    values = pd.to_numeric(table[metric]).astype(float)
    groups = values.groupby([table[key] for key in keys], sort=False, dropna=False)
    summary = pd.DataFrame({"runs": groups.count(), "refused": groups.size() - groups.count()})
    summary["mean"], summary["sd"] = groups.mean(), groups.std()
    summary["se"] = summary["sd"] / np.sqrt(summary["runs"].where(summary["runs"] > 0))
    summary["min"] = groups.min()
    for name, share in _QUANTILES.items():
        summary[name] = groups.quantile(share)
    summary["max"] = groups.max()
    return summary.reset_index()


def best_alike(means: pd.DataFrame, *, lower: bool = False) -> pd.DataFrame:
    """The lines of `summarise` whose mean is within two standard errors of the best mean.

    The best line is first. The standard error is that of the difference between the two means; an
    unknown standard error counts as 0. Lines without a mean are left out. lower: whether smaller
    values are better.
    """
    known = means[means["mean"].notna()].sort_values("mean", ascending=lower)
    if known.empty:
        return known
    errors = known["se"].fillna(0.0)
    differences = (known["mean"] - known["mean"].iloc[0]).abs()
    alike: pd.DataFrame = known[differences <= 2 * np.hypot(errors, errors.iloc[0])]
    return alike


def smallest_epsilon(
    rows: Rows, metric: str, target: float, by: Sequence[str] | None = None
) -> pd.DataFrame:
    """The smallest ε of the grid at which the mean reaches the target, one line per group of runs.

    All larger ε of the grid must reach the target as well, so that a chance success does not count.
    There is no interpolation, and an ε with refused runs does not reach any target.  Algorithms
    without ε are left out. by: columns that define a group; None for all settings of a run except
    ε. Columns: the columns of `by`, then epsilon (NaN if the largest ε does not reach the target),
    mean (at this ε), and lowest (whether this is the smallest ε of the grid, so that the answer is
    "at most" this ε).
    """
    table = _table(rows)
    table = table[table["epsilon"].notna()]
    keys = [key for key in _keys(table, by) if key != "epsilon"]
    means = summarise(table, metric, [*keys, "epsilon"])
    sign = -1.0 if lower_is_better(metric) else 1.0
    means["reached"] = (means["refused"] == 0) & (sign * means["mean"] >= sign * target)
    lines = []
    for key, group in means.groupby(keys, sort=False, dropna=False):
        ordered = group.sort_values("epsilon", ascending=False)
        held = ordered[ordered["reached"].cummin().astype(bool)]
        best = held.iloc[-1] if len(held) else None
        lines.append(
            {
                **dict(zip(keys, key, strict=True)),
                "epsilon": np.nan if best is None else best["epsilon"],
                "mean": np.nan if best is None else best["mean"],
                "lowest": len(held) == len(ordered),
            }
        )
    return pd.DataFrame(lines, columns=[*keys, "epsilon", "mean", "lowest"])


def frontier(
    rows: Rows,
    metrics: Sequence[str] = ("truth_skeleton_f1",),
    by: Sequence[str] = ("data", "data_seed", "rows", "calibration", "epsilon"),
) -> pd.DataFrame:
    """The Pareto-optimal runs at each ε: no other run is as good in every mean and better in one.

    Runs that are not private are left out. With one metric, the result is the best run and any
    ties. by: only runs that agree in these columns are compared. By default, calibrations are
    compared separately, since ε has a different meaning in each calibration. Columns: the columns
    that identify runs, then the mean of each metric.
    """
    table = _table(rows)
    table = table[table["calibration"] != "none"]
    keys = _keys(table, None)
    means = summarise(table, metrics[0], keys)[keys]
    for metric in metrics:
        means[metric] = summarise(table, metric, keys)["mean"]
    means = means.dropna(subset=list(metrics))
    signs = np.array([-1.0 if lower_is_better(metric) else 1.0 for metric in metrics])
    kept = []
    for _, group in means.groupby(list(by), sort=False, dropna=False):
        scores = group[list(metrics)].to_numpy(float) * signs
        as_good = (scores[None, :, :] >= scores[:, None, :]).all(axis=2)
        better = (scores[None, :, :] > scores[:, None, :]).any(axis=2)
        kept.append(group[~(as_good & better).any(axis=1)])
    return pd.concat(kept, ignore_index=True) if kept else means


def edge_recovery(
    rows: Rows, edges: Iterable[tuple[str, str]], by: Sequence[str] | None = None
) -> pd.DataFrame:
    """How often each edge (cause, effect) is found.

    by: columns that define a group of runs; None for all settings of a run, so that a group
    consists of the replicates of a run.  Refused runs do not count. Columns: the columns of `by`,
    then cause, effect, runs (number of runs), adjacent (share of the runs in which the pair is
    adjacent) and directed (share of the runs in which the edge points from cause to effect).
    """
    table = _table(rows)
    keys = _keys(table, by)
    table = table[table["edges"].notna()]
    wanted = list(edges)
    lines = []
    for key, texts in table.groupby(keys, sort=False, dropna=False)["edges"]:
        graphs = [_marks(text) for text in texts]
        for cause, effect in wanted:
            adjacent = [(cause, effect) in g or (effect, cause) in g for g in graphs]
            directed = [g.get((cause, effect)) == "directed" for g in graphs]
            lines.append(
                {
                    **dict(zip(keys, key, strict=True)),
                    "cause": cause,
                    "effect": effect,
                    "runs": len(graphs),
                    "adjacent": float(np.mean(adjacent)),
                    "directed": float(np.mean(directed)),
                }
            )
    return pd.DataFrame(lines, columns=[*keys, "cause", "effect", "runs", "adjacent", "directed"])


def _marks(text: str) -> dict[tuple[str, str], str]:
    return {(a, b): kind for a, b, kind in edges_of(text)}
