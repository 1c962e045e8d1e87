"""`reproduce`: recompute a table or figure of a paper, and print it with the published values."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from privcore.errors import ParameterError
from privcore.extras.lab.reproductions import NAMES, has_program, shipped, start
from privcore.extras.worker import end
from privcore.text import short


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
        print(listing())
        return
    shipped(options.name)
    if not has_program():
        raise ParameterError("run-command-there", name=short(options.name))
    process = start(options.words[1:])
    try:
        code = process.wait()
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        raise SystemExit(130) from None
    finally:
        end(process)
    if code:
        # A signal ended it if the code is negative; a shell reports such a code like this.
        raise SystemExit(code if code > 0 else 128 - code)


def listing() -> str:
    """All items as lines of text."""
    lines = [["name", "paper", "item", "shows"]]
    items = (shipped(name).item for name in NAMES)
    lines += [[i.name, i.paper.title.split(":")[0], i.item, i.shows] for i in items]
    return "\n".join(aligned(lines))


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Format a table as lines of text, with every column as wide as its widest entry."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    ]
