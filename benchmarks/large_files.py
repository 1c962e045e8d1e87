"""Large files: `read_table` compared with DuckDB for text, and with calamine for a workbook.

    python -m benchmarks.large_files [--megabytes 30] [--runs 3] [--only csv]

makes a CSV and an .xlsx of about that size from a seed, with the usual mix of columns, and
prints medians of wall seconds, CPU seconds and peak memory of each reader, with their ratios.
Readers take turns, each run in a process of its own; what a process takes before it reads is in its
peak.
DuckDB is no dependency: `pip install duckdb`.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from benchmarks import parsed

_BATCH = 20_000
_ANSWERS = np.array(["never", "rarely", "sometimes", "often", "always"])
_WARDS = np.array([f"ward {k}" for k in range(30)])
READERS = {"csv": ("privcore", "duckdb"), "xlsx": ("privcore", "calamine")}
_NEEDS = {"csv": ("duckdb",), "xlsx": ("python_calamine", "xlsxwriter")}


def rows(first: int, count: int) -> pd.DataFrame:
    """Rows of a table: identifier, whole numbers, other numbers, words, dates and answers."""
    generator = np.random.default_rng(first)
    days = np.datetime64("2015-01-01") + generator.integers(0, 3_000, count)
    columns: dict[str, object] = {
        "id": np.arange(first, first + count),
        "age": generator.integers(18, 95, count),
        "visits": generator.poisson(3, count),
        "weight": generator.normal(75, 12, count).round(2),
        "income": generator.lognormal(10, 0.6, count).round(2),
        "score": generator.standard_normal(count).round(6),
        "ward": generator.choice(_WARDS, count),
        "sex": generator.choice(["f", "m"], count),
        "day": days.astype(str),
    }
    columns |= {f"q{k}": generator.choice(_ANSWERS, count) for k in range(1, 5)}
    return pd.DataFrame(columns)


def write_csv(path: Path, size: int) -> int:
    """Write a CSV of about this number of bytes; returns its rows."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size:
            rows(written, _BATCH).to_csv(file, index=False, header=written == 0)
            written += _BATCH
    return written


def write_xlsx(path: Path, size: int) -> int:
    """Write a workbook of about this number of bytes; returns its rows."""
    import xlsxwriter

    # Packed bytes of a row, measured on one small workbook.
    few = 2_000
    _workbook(xlsxwriter, path, few)
    count = min(1_048_000, round(few * size / path.stat().st_size))
    _workbook(xlsxwriter, path, count)
    return count


def _workbook(library: object, path: Path, count: int) -> None:
    book = library.Workbook(str(path), {"constant_memory": True})  # type: ignore[attr-defined]
    sheet = book.add_worksheet()
    form = book.add_format({"num_format": "yyyy-mm-dd"})
    frame = rows(0, count)
    place = list(frame).index("day")
    frame["day"] = pd.to_datetime(frame["day"]).dt.to_pydatetime()
    sheet.write_row(0, 0, list(frame))
    for at, row in enumerate(frame.itertuples(index=False), 1):
        for k, cell in enumerate(row):
            if k == place:
                sheet.write_datetime(at, k, cell, form)
            else:
                sheet.write(at, k, cell)
    book.close()


def read(reader: str, path: Path) -> int:
    """Read a file by one reader; returns rows."""
    if reader == "privcore":
        from privcore.intake import read_table

        return len(read_table(path.read_bytes(), path.name).frame)
    if reader == "duckdb":
        import duckdb

        base = duckdb.connect()
        base.execute("create table t as select * from read_csv(?)", [str(path)])
        (count,) = base.execute("select count(*) from t").fetchone()
        return int(count)
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_path(str(path))
    return len(book.get_sheet_by_index(0).to_python()) - 1


def _measured(reader: str, path: Path) -> None:
    start, before = time.perf_counter(), time.process_time()
    count = read(reader, path)
    wall, cpu = time.perf_counter() - start, time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(count, wall, cpu, peak)


def _run(reader: str, path: Path) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.large_files", "--read", reader, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(each) for each in done.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=30)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=tuple(READERS))
    parser.add_argument("--read", nargs=2, metavar=("READER", "FILE"), help=argparse.SUPPRESS)
    options = parsed(parser, megabytes=1.0, runs=1)
    if options.read:
        _measured(options.read[0], Path(options.read[1]))
        return
    for ending, modules in _NEEDS.items():
        for module in modules if options.only in (None, ending) else ():
            import_module(module)
    print("| file | reader | rows | seconds | CPU seconds | peak MB |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for ending, write in (("csv", write_csv), ("xlsx", write_xlsx)):
            if options.only not in (None, ending):
                continue
            path = Path(folder) / f"table.{ending}"
            write(path, round(options.megabytes * 1e6))
            _compare(ending, path, options.runs)


def _compare(ending: str, path: Path, runs: int) -> None:
    taken: dict[str, list[list[float]]] = {reader: [] for reader in READERS[ending]}
    for _ in range(runs):
        for reader, figures in taken.items():
            figures.append(_run(reader, path))
    name = f"{path.stat().st_size / 1e6:.1f} MB .{ending}"
    medians = {
        reader: [median(each) for each in zip(*figures, strict=True)]
        for reader, figures in taken.items()
    }
    for reader, (count, wall, cpu, peak) in medians.items():
        print(f"| {name} | {reader} | {count:,.0f} | {wall:.2f} | {cpu:.2f} | {peak:,.0f} |")
    ours, other = medians.values()
    ratios = [a / b for a, b in zip(ours[1:], other[1:], strict=True)]
    print(f"| {name} | ratio | | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |", flush=True)


if __name__ == "__main__":
    main()
