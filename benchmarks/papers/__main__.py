"""Computes a table or figure of a paper again, and prints it with the published values.

`causalveil reproduce` and the page Papers run this program. With --declare it writes what is
declared into the files that are shipped; their numbers stay. A new item's numbers come from
`causalveil reproduce NAME --out` into the folder of results.
"""

from __future__ import annotations

import signal

if __name__ == "__main__":
    # Ctrl-C ends the program at once, also while the rest loads; its caller says so.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks import parsed
from benchmarks.papers.engine import collect, reproduce
from benchmarks.papers.model import Reproduction, Work
from benchmarks.papers.registry import REPRODUCTIONS
from privcore.data import Dataset
from privcore.errors import ParameterError
from privcore.extras.lab.reproductions import (
    FOLDER,
    NAMES,
    TIMED,
    Item,
    Reproduced,
    Shipped,
    as_csv,
    as_json,
    as_texts,
    made_now,
    shipped,
)
from privcore.faces.cli import carry_out
from privcore.faces.cli.data import load_file, whole
from privcore.faces.cli.reproduce import add_options, aligned, listing
from privcore.text import counted, short


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers", description=(__doc__ or "").splitlines()[0]
    )
    add_options(parser)
    parser.add_argument(
        "--json", action="store_true", help="print finished shares, one a line, and then JSON"
    )
    parser.add_argument(
        "--declare", action="store_true", help="write what is declared into the shipped files"
    )
    parser.set_defaults(run=_run)
    smallest = {"name": NAMES[0], "runs": "1", "quick": False, "table": None, "out": None}
    return carry_out(lambda: parsed(parser, **smallest))


def _run(options: argparse.Namespace) -> None:
    if options.declare:
        _declare(write=not options.smallest)
        return
    if options.name is None:
        print(listing())
        return
    shipped(options.name)
    reproduction = REPRODUCTIONS[options.name]
    if options.out is not None and not options.out.endswith(".json"):
        raise ParameterError(f"--out {short(options.out)} must end in .json.")
    work = Work(
        runs=_runs(options, reproduction),
        seed=whole(options.seed, "seed"),
        workers=None if options.workers is None else whole(options.workers, "workers"),
        table=_table(options, reproduction),
        tick=_print_share if options.json else _ticker(),
    )
    result = reproduce(reproduction, work)
    text = as_json(made_now(reproduction, result))
    if options.out is not None:
        _write(options.out, text)
    if options.json:
        sys.stdout.buffer.write(text.encode())
    elif options.csv:
        print(as_csv(reproduction, result.lines), end="")
    else:
        print("\n".join(_words(reproduction, result)))


def _declare(*, write: bool) -> None:
    for name, item in REPRODUCTIONS.items():
        if item.needs_table:
            printed = Reproduced(name, collect([], item.published), 0, 0)
            held = Shipped(item, printed, "", None)
        else:
            held = replace(shipped(name), item=item)
        text = as_json(held)
        if write:
            (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")


def _runs(options: argparse.Namespace, reproduction: Reproduction) -> int:
    if options.runs is None:
        return reproduction.quick if options.quick else reproduction.runs
    if options.quick:
        raise ParameterError("--quick sets the number of runs; leave --runs out.")
    return whole(options.runs, "runs")


def _table(options: argparse.Namespace, item: Item) -> Dataset | None:
    if options.table is None:
        return None
    if not item.needs_table:
        raise ParameterError(f"{item.name} has its own data; leave --table out.")
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
        raise ParameterError(
            f"The file {short(path)} cannot be written; check the folder."
        ) from None


def _print_share(share: float) -> None:
    print(share, flush=True)


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


if __name__ == "__main__":
    sys.exit(main())
