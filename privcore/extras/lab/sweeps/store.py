"""The rows of a sweep: stored, and summarised.

Rows of a sweep on disk: a journal while the sweep runs, and a file when it is finished.

Summaries of a sweep's rows: means over replicates, smallest budgets, and best algorithms.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from privcore.errors import DataError, ParameterError
from privcore.extras.lab.sweeps.cells import METRICS, OUTCOMES, Row, columns, edges_of
from privcore.extras.lab.sweeps.plan import SweepPlan
from privcore.strict_json import read_json
from privcore.text import csv_text, short
from privcore.version import __version__

ENDINGS = ("parquet", "csv", "json")
_METADATA = b"causalveil"
_SYNC_SECONDS = 1.0
_WHOLE = {
    "cell",
    "data_seed",
    "rows",
    "replicate",
    "seed",
    "tests_run",
    "orders_run",
    *(metric for metric in METRICS if metric.endswith("shd")),
}
_TEXT = {"data", "algorithm", "calibration", "stopped", "edges", "error"}


class SweepFile(NamedTuple):
    """The content of a sweep's file; plan: the output of `SweepPlan.describe`."""

    rows: list[Row]
    plan: dict[str, Any]
    version: str
    command: str


class Journal:
    """A journal of finished rows next to the final file: one line for the plan, then one per row.

    path: path of the final file; the journal's name is this path with ".journal" appended. Rows
    from an earlier, interrupted sweep are in `rows`; an incomplete last line is dropped. Raises
    ParameterError if the journal belongs to another plan or version, and DataError if the journal
    cannot be written.
    """

    def __init__(self, path: str | Path, plan: SweepPlan) -> None:
        self.path = Path(f"{path}.journal")
        self._header = json.dumps({"sweep": plan.digest, "plan": plan.describe()})
        self.rows: list[Row] = []
        try:
            self._file = self.path.open("a+b")
            self._synced = time.monotonic()
            self._resume()
        except OSError:
            raise DataError("sweep-file-unwritable", path=short(self.path)) from None

    def _resume(self) -> None:
        self._file.seek(0)
        lines = self._file.read().splitlines(keepends=True)
        good = 0
        if lines and lines[0].endswith(b"\n"):
            if lines[0].decode(errors="replace").rstrip("\n") != self._header:
                self._file.close()
                raise ParameterError("unfinished-sweep", path=short(self.path))
            good = len(lines[0])
            rows: dict[int, Row] = {}
            for line in lines[1:]:
                row = _read_line(line)
                if row is None:
                    break
                rows[row["cell"]] = row
                good += len(line)
            self.rows = list(rows.values())
        self._file.truncate(good)
        if not good:
            self._write(self._header)

    def add(self, row: Row) -> None:
        """Append one row; if the machine crashes, the rows of the last second may be lost."""
        self._write(json.dumps(row))

    def _write(self, line: str) -> None:
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def close(self) -> None:
        self._file.close()

    def remove(self) -> None:
        """Delete the journal, once the final file is written."""
        self.close()
        self.path.unlink()


def _read_line(line: bytes) -> Row | None:
    """The row, or None if the line is incomplete or damaged."""
    try:
        row = read_json(line)
    except ValueError:
        return None
    whole = line.endswith(b"\n") and isinstance(row, dict) and isinstance(row.get("cell"), int)
    return row if whole else None


def encode(rows: Iterable[Row], plan: SweepPlan, ending: str, command: str = "") -> bytes:
    """Return the content of a sweep's file, with rows sorted by `cell`.

    ending: "parquet" or "json", which include the plan, version and command, or "csv", which has
    only the rows. Raises ParameterError for another ending.
    """
    ordered = sorted(rows, key=lambda row: row["cell"])
    about = {"plan": plan.describe(), "version": __version__, "command": command}
    if ending == "json":
        text = json.dumps({**about, "rows": ordered}, ensure_ascii=False, indent=0)
        return text.encode()
    if ending == "csv":
        heads = columns(plan)
        return csv_text([heads, *([row[head] for head in heads] for row in ordered)]).encode()
    if ending == "parquet":
        return _parquet(ordered, plan, about)
    raise ParameterError("cannot-end-in", ending=short(ending), choices=", ".join(ENDINGS))


def write_rows(path: str | Path, rows: Iterable[Row], plan: SweepPlan, command: str = "") -> None:
    """Write a sweep's file, completely or not at all; the ending of `path` determines the format.

    Raises ParameterError for an unknown ending, and DataError if the file cannot be written.
    """
    path = Path(path)
    content = encode(rows, plan, ending_of(path), command)
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError:
        raise DataError("sweep-file-unwritable", path=short(path)) from None


def ending_of(path: str | Path) -> str:
    """The ending of a path: "parquet", "csv" or "json"; raises ParameterError for any other."""
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in ENDINGS:
        raise ParameterError("name-end-in-parquet-csv-json", path=short(path))
    return ending


def read_sweep(path: str | Path) -> SweepFile:
    """Read a finished sweep from Parquet or JSON; raises DataError if the file has no sweep."""
    refusal = DataError("no-sweep-file", path=short(path))
    try:
        if ending_of(path) == "json":
            about = read_json(Path(path).read_bytes())
            rows = about["rows"]
        else:
            table = pq.read_table(path)
            about = read_json(table.schema.metadata[_METADATA])
            rows = table.to_pylist()
        return SweepFile(rows, about["plan"], about["version"], about["command"])
    except (OSError, ValueError, TypeError, KeyError, pa.ArrowException):
        raise refusal from None


def _parquet(rows: list[Row], plan: SweepPlan, about: Mapping[str, Any]) -> bytes:
    fields = [pa.field(name, _type(name, plan)) for name in columns(plan)]
    schema = pa.schema(fields, metadata={_METADATA: json.dumps(about)})
    arrays = [
        pa.array([_typed(row[field.name], field.type) for row in rows], field.type)
        for field in schema
    ]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), out, compression="zstd")
    return out.getvalue()


def _type(name: str, plan: SweepPlan) -> pa.DataType:
    if name in _WHOLE:
        return pa.int64()
    if name in _TEXT:
        return pa.string()
    kinds = {type(value) for value in plan.grids[name]} if name in plan.swept else {float}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds <= {int, float} else pa.string()


def _typed(value: Any, kind: pa.DataType) -> Any:
    """Convert a value to text if its column can contain both numbers and the word "auto"."""
    return str(value) if kind == pa.string() and value is not None else value


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
