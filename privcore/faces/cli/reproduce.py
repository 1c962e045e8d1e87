"""`reproduce`: recompute a table or figure of a paper, and print it with the published values."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from privcore.data import Dataset
from privcore.errors import ParameterError
from privcore.extras.lab.reproductions import (
    NAMES,
    TIMED,
    Item,
    Reproduced,
    as_csv,
    as_json,
    as_texts,
    made_now,
    makers,
    shipped,
)
from privcore.faces.cli.data import load_file, whole
from privcore.text import counted, short


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "name",
        nargs="?",
        help=("table or figure to reproduce; without a name, all of them are listed"),
    )
    command.add_argument("--seed", default="0", help="seed of data and noise (0)")
    command.add_argument("--runs", help="number of replicates (set by each item)")
    command.add_argument("--quick", action="store_true", help="few replicates, for a first look")
    command.add_argument("--workers", help="number of processes (one for each processor)")
    command.add_argument("--table", metavar="FILE", help="data file, for an item that needs one")
    command.add_argument("--out", metavar="FILE", help="also write the result as JSON")
    command.add_argument("--csv", action="store_true", help="print CSV, with standard deviations")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    if options.name is None:
        print(_listing())
        return
    shipped(options.name)
    papers = makers()
    if papers is None:
        raise ParameterError("run-command-there", name=short(options.name))
    reproduction = papers.REPRODUCTIONS[options.name]
    if options.out is not None and not options.out.endswith(".json"):
        raise ParameterError("out-not-json", out=short(options.out))
    work = papers.Work(
        runs=_runs(options, reproduction),
        seed=whole(options.seed, "seed"),
        workers=None if options.workers is None else whole(options.workers, "workers"),
        table=_table(options, reproduction),
        tick=_ticker(),
    )
    try:
        result = papers.reproduce(reproduction, work)
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        raise SystemExit(130) from None
    if options.out is not None:
        _write(options.out, as_json(made_now(reproduction, result)))
    if options.csv:
        print(as_csv(reproduction, result.lines), end="")
    else:
        print("\n".join(_words(reproduction, result)))


def _runs(options: argparse.Namespace, reproduction: Any) -> int:
    if options.runs is None:
        own: int = reproduction.quick if options.quick else reproduction.runs
        return own
    if options.quick:
        raise ParameterError("quick-sets-number-of-runs")
    return whole(options.runs, "runs")


def _table(options: argparse.Namespace, item: Item) -> Dataset | None:
    if options.table is None:
        return None
    if not item.needs_table:
        raise ParameterError("brings-its-own-data", name=item.name)
    # The file is read as with --csv of other commands; missing values become a level.
    file = argparse.Namespace(
        csv=options.table,
        intervals=None,
        schema=None,
        columns=None,
        drop=None,
        index=None,
        merge_rare=None,
        missing="level",
        truth=None,
    )
    return load_file(file)


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError:
        raise ParameterError("result-unwritable", path=short(path)) from None


def _ticker() -> Callable[[float], None]:
    """Returns a function that shows the share of finished runs on the terminal, if there is one."""
    if not sys.stderr.isatty():
        return lambda share: None
    shown = [-1]

    def tick(share: float) -> None:
        if int(100 * share) != shown[0]:
            shown[0] = int(100 * share)
            end = "\n" if share >= 1 else ""
            print(f"\r{shown[0]} % done ", end=end, file=sys.stderr, flush=True)

    return tick


def _listing() -> str:
    lines = [["name", "paper", "item", "shows"]]
    items = (shipped(name).item for name in NAMES)
    lines += [[i.name, i.paper.title.split(":")[0], i.item, i.shows] for i in items]
    return "\n".join(aligned(lines))


def _words(item: Item, result: Reproduced) -> list[str]:
    lines = [
        f"{item.paper.title}, {item.item}",
        item.shows,
        f"Seed {result.seed}, {counted(result.runs, 'run')} per value; mean ± standard deviation.",
        *([TIMED] if item.timed else []),
        "",
        *aligned(as_texts(item, result.lines)),
    ]
    for title, sentences in (
        ("What the paper says", item.says),
        ("Why ours differ", item.differences),
        ("Refused", result.refused),
    ):
        lines += ["", f"{title}:", *(f"- {s}" for s in sentences)] if sentences else []
    return lines


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Format a table as lines of text, with every column as wide as its widest entry."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    ]
