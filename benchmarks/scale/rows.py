"""Time and memory against the number of rows, each size and way in a process of its own."""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from privcore.data import load_network
from privcore.intake import ColumnSchema
from privcore.storage.parquet import open_parquet

_PIECE = 1_000_000
_FAR = 100_000_000
# Of counts, so that the unique rows of any of these sizes do not fit.
_LITTLE = 64 << 20


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
    from privcore.algorithms import discover
    from privcore.storage.external import ExternalCounts
    from privcore.storage.parquet import ParquetRows

    imported = _peak()
    times = [time.perf_counter()]
    table = open_parquet(path, schema())
    times.append(time.perf_counter())
    source = table.count() if way == "memory" else ExternalCounts(ParquetRows(table), _LITTLE)
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
    # Not in the processes that are measured: it would count as their memory.
    from benchmarks.scale.pictures import Panel, draw

    panels: list[Panel] = []
    for name, title in (("all", "seconds"), ("peak", "largest memory, GB")):
        growth = {way: [(x["rows"], x[name]) for x in lines] for way, lines in found.items()}
        panels.append(("rows", title, growth))
    draw(panels, out, log=("rows", "seconds"))


def _far(way: str, lines: list[dict[str, Any]]) -> None:
    """Extrapolation to 10⁸ rows from the last two sizes, by a power law."""
    parts = []
    for name, unit in (("all", "s"), ("peak", "GB")):
        before, last = lines[-2][name], lines[-1][name]
        ratio = math.log(lines[-1]["rows"] / lines[-2]["rows"])
        power = math.log(last / before) / ratio
        parts.append(f"{last * (_FAR / lines[-1]['rows']) ** power:.1f} {unit} (power {power:.2f})")
    print(f"\n{way}, extrapolated to {_FAR:,} rows: {', '.join(parts)}")
