"""Time and memory against the number of rows, and against the number of columns.

    python -m benchmarks.scale [--rows 100000,1000000,10000000] [--folder DIR] [--out FILE.png]
    python -m benchmarks.scale --columns [--data alarm,…,200] [--limit 100000] [--out FILE.png]

Rows: the alarm network (37 columns) is sampled in pieces of a million rows and written to one
Parquet file of text in a temporary folder, and each size is counted and searched in a process of
its own, whose largest memory is taken from the system: PC with G² at level 0.05 up to order 3.
Two ways: the unique rows brought to memory in one pass, which is what `discover` does where they
fit, and passes over the file for every joint table, with 64 MB for what is kept of them, which is
what it does where they do not.

Columns: networks of 37 to 76 columns and random DAGs of up to 200 with as many edges as columns
(random-categorical), 20,000 rows, defaults otherwise, ε = 1: likely tests as estimated from public
facts before the run, tests made and seconds with counting, under a limit of tests fixed beforehand.
Then PC on hailfinder and hepar2 against the largest order.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from privcore.dataset import ColumnSchema, Dataset, StructuralExample, load_network
from privcore.dataset.parquet import open_parquet

_PIECE = 1_000_000
_FAR = 100_000_000
# Of counts, so that the unique rows of any of these sizes do not fit.
_LITTLE = 64 << 20
_DATA = "alarm,hailfinder,hepar2,win95pts,20,50,100,150,200"
_ROWS = 20_000
_ALGORITHMS = ("pc", "priv-pc", "svt-pc", "em-pc", "moment-search")


def schema() -> list[ColumnSchema]:
    """The public schema of alarm."""
    columns = (variable.column for variable in load_network("alarm").variables)
    return [ColumnSchema(c.name, c.kind, c.levels, declared=True) for c in columns]


def write(path: Path, rows: int) -> None:
    """A sample of alarm as text in Parquet, made piece by piece."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for number, start in enumerate(range(0, rows, _PIECE)):
        data = load_network("alarm").sample(min(_PIECE, rows - start), seed=number + 1)
        columns = {
            c.name: pa.DictionaryArray.from_arrays(pa.array(v), pa.array(c.levels))
            for c, v in zip(data.columns, data.values, strict=True)
        }
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


def one(path: str, way: str) -> dict[str, Any]:
    """Seconds of each step and the largest memory of this process, which should be a fresh one."""
    from privcore.counts.external import ExternalCounts
    from privcore.counts.sql import ParquetRows, count_parquet
    from privcore.discovery import discover

    imported = _peak()
    times = [time.perf_counter()]
    table = open_parquet(path, schema())
    times.append(time.perf_counter())
    if way == "memory":
        source = count_parquet(table)
    else:
        source = ExternalCounts(ParquetRows(table), _LITTLE)
    times.append(time.perf_counter())
    run = discover(source, "pc", {"score": "g2"}, keep_trace=False)
    times.append(time.perf_counter())
    seconds = [b - a for a, b in pairwise(times)]
    return {
        "rows": table.n,
        "unique": getattr(source, "unique_rows", None),
        "passes": getattr(source, "passes", None),
        "opened": seconds[0],
        "counted": seconds[1],
        "searched": seconds[2],
        "tests": run.tests_run,
        "edges": sorted(map(list, run.graph.skeleton)),
        "imported": imported,
        "peak": _peak(),
    }


def _peak() -> float:
    """Largest memory of this process so far, GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def against_rows(sizes: list[int], folder: Path, out: str) -> None:
    """The table and the picture of the growth with the rows."""
    found: dict[str, list[dict[str, Any]]] = {"memory": [], "passes": []}
    print(
        "| rows | file | way | unique rows or passes | read and checked | counted | PC | all | "
        "largest memory |"
    )
    print("|---" * 9 + "|")
    for rows in sizes:
        path = folder / f"alarm{rows}.parquet"
        write(path, rows)
        for way, lines in found.items():
            command = [sys.executable, "-m", "benchmarks.scale", "--one", way, str(path)]
            done = subprocess.run(command, check=True, capture_output=True)
            lines.append(json.loads(done.stdout))
            line = lines[-1]
            line["all"] = line["opened"] + line["counted"] + line["searched"]
            what = f"{line['unique'] or line['passes']:,}"
            print(
                f"| {rows:,} | {path.stat().st_size / 1e6:.0f} MB | {way} | {what} | "
                f"{line['opened']:.1f} s | {line['counted']:.1f} s | {line['searched']:.1f} s "
                f"({line['tests']:,} tests) | {line['all']:.1f} s | {line['peak']:.2f} GB |",
                flush=True,
            )
        if found["memory"][-1]["edges"] != found["passes"][-1]["edges"]:
            print(f"The two ways differ at {rows:,} rows.")
        path.unlink()
    for way, lines in found.items():
        if len(lines) > 1:
            _far(way, lines)
    panels: list[Panel] = []
    for name, title in (("all", "seconds"), ("peak", "largest memory, GB")):
        growth = {way: [(x["rows"], x[name]) for x in lines] for way, lines in found.items()}
        panels.append(("rows", title, growth))
    draw(panels, out, log=("rows", "seconds"))


def _far(way: str, lines: list[dict[str, Any]]) -> None:
    """What the last two sizes say of 10⁸ rows, growth going on as a power of the rows."""
    said = []
    for name, unit in (("all", "s"), ("peak", "GB")):
        before, last = lines[-2][name], lines[-1][name]
        ratio = math.log(lines[-1]["rows"] / lines[-2]["rows"])
        power = math.log(last / before) / ratio
        said.append(f"{last * (_FAR / lines[-1]['rows']) ** power:.1f} {unit} (power {power:.2f})")
    print(f"\n{way}, extrapolated to {_FAR:,} rows: {', '.join(said)}")


def data(name: str, rows: int) -> Dataset:
    """A network by name, or a random DAG with so many columns and about as many edges."""
    if name.isdigit():
        density = 2 / (int(name) - 1)
        example = StructuralExample("random-categorical", nodes=int(name), density=density)
        return example.sample(rows, 1)
    return load_network(name).sample(rows, 1)


def searched(dataset: Dataset, algorithm: str, given: dict[str, Any], limit: int) -> dict[str, Any]:
    """One run with counting, under a limit of tests, and what was expected of it."""
    from privcore.discovery import count, discover
    from privcore.discovery.work import estimate

    given = given if algorithm == "pc" else {**given, "epsilon": 1.0}
    expected = estimate(dataset.n, dataset.levels, algorithm, given)
    start = time.perf_counter()
    run = discover(count(dataset), algorithm, given, seed=1, keep_trace=False, test_limit=limit)
    seconds = time.perf_counter() - start
    ended = {None: "finished", "work": "stopped at the limit"}.get(run.stopped, "budget used up")
    if run.unreached:
        ended += f", orders {run.unreached.first}–{run.unreached.last} not finished"
    return {
        "likely": f"{expected.tests:,}, {expected.seconds:.0f} s" if expected else "not by tests",
        "tests": run.tests_run,
        "seconds": seconds,
        "ended": ended,
        "edges": len(run.graph.skeleton),
    }


def against_columns(names: list[str], rows: int, limit: int, out: str) -> None:
    """Both tables and the picture of the growth with columns and with the order."""
    print(f"n = {rows:,}, at most {limit:,} tests, counting included\n")
    print("| data | algorithm | likely tests and time | tests | seconds | how it ended | edges |")
    print("|---" * 7 + "|")
    growth: dict[str, list[tuple[float, float]]] = {name: [] for name in _ALGORITHMS}
    for name in names:
        dataset = data(name, rows)
        label = f"random, {name} columns" if name.isdigit() else f"{name}, {dataset.p} columns"
        for algorithm in _ALGORITHMS:
            run = searched(dataset, algorithm, {}, limit)
            if name.isdigit():
                growth[algorithm].append((dataset.p, run["seconds"]))
            print(
                f"| {label} | {algorithm} | {run['likely']} | {run['tests']:,} | "
                f"{run['seconds']:.1f} | {run['ended']} | {run['edges']} |",
                flush=True,
            )
    orders: dict[str, list[tuple[float, float]]] = {}
    for name in ("hailfinder", "hepar2"):
        dataset = data(name, rows)
        for order in range(5):
            run = searched(dataset, "pc", {"max_order": order}, limit)
            orders.setdefault(f"pc, {name}", []).append((order, run["seconds"]))
    for title, lines in (("columns", growth), ("largest order", orders)):
        print(f"\nSeconds against {title}:")
        for name, points in lines.items():
            print(f"{name}: {', '.join(f'{x:g}: {y:.1f} s' for x, y in points)}")
    panels = [("columns of a random DAG", "seconds", growth), ("largest order", "seconds", orders)]
    draw(panels, out)


Panel = tuple[str, str, dict[str, list[tuple[float, float]]]]


def draw(panels: list[Panel], out: str, *, log: tuple[str, ...] = ()) -> None:
    """The panels side by side, as the pages draw; log: titles of logarithmic axes."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    from benchmarks.eight_networks import save
    from pages.ui.theme import PALETTES

    figure = make_subplots(rows=1, cols=len(panels))
    palette = PALETTES["light"]
    for column, (across, up, series) in enumerate(panels, start=1):
        for number, (name, points) in enumerate(series.items()):
            figure.add_trace(
                go.Scatter(
                    x=[x for x, _ in points],
                    y=[y for _, y in points],
                    name=name,
                    mode="lines+markers",
                    line={"color": palette.series[number % len(palette.series)]},
                    legend=f"legend{column}" if column > 1 else "legend",
                ),
                row=1,
                col=column,
            )
        kinds = {name: "log" if name in log else "linear" for name in (across, up)}
        figure.update_xaxes(title=across, type=kinds[across], row=1, col=column)
        # From 0 on; a logarithm has none.
        figure.update_yaxes(title=up, type=kinds[up], rangemode="tozero", row=1, col=column)
        place = {"x": (column - 1) / len(panels), "y": 1.12, "orientation": "h"}
        figure.update_layout({f"legend{column}" if column > 1 else "legend": place})
    save(figure, out)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", default="100000,1000000,10000000")
    parser.add_argument("--folder", help="for the Parquet files (a temporary one)")
    parser.add_argument("--columns", action="store_true")
    parser.add_argument("--data", default=_DATA, help="networks, or sizes of random DAGs")
    parser.add_argument("--limit", type=int, default=100_000)
    parser.add_argument("--out")
    parser.add_argument("--one", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        way, path = options.one
        print(json.dumps(one(path, way)))
    elif options.columns:
        out = options.out or "docs/images/scale_columns.png"
        against_columns(options.data.split(","), _ROWS, options.limit, out)
    else:
        sizes = [int(n) for n in options.rows.split(",")]
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            against_rows(sizes, Path(folder), options.out or "docs/images/scale_rows.png")


if __name__ == "__main__":
    main()
