"""Print what happens to each kind of file, as CSV; --write puts it next to the manual.

python -m benchmarks.file_kinds [--write]
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path

from benchmarks import parsed
from benchmarks.file_kinds import KINDS
from benchmarks.file_kinds.model import Kind
from benchmarks.file_kinds.surfaces import in_python, on_command_line, on_page, what_happens

MANUAL = Path(__file__).parents[2] / "docs" / "how-to" / "file_kinds.csv"
_HEAD = ["kind", "what happens", "page", "command line", "Python"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help=f"write {MANUAL.name} of the manual")
    options = parsed(parser, write=False)
    lines = []
    for row in chain([_HEAD], map(_row, KINDS[:2] if options.smallest else KINDS)):
        lines.append(_line(row))
        print(lines[-1], end="", flush=True)
    if options.write:
        MANUAL.write_text("".join(lines), "utf-8")


def _row(kind: Kind) -> list[str]:
    marks = [_mark(kind, surface) for surface in (on_page, on_command_line, in_python)]
    return [kind.name, what_happens(kind), *marks]


def _line(row: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue()


def _mark(kind: Kind, surface: Callable[[Kind], list[str]]) -> str:
    try:
        faults = surface(kind)
    except Exception as error:
        # The page raises what its scripts do, and an assertion if one did.
        faults = [repr(error)]
    for fault in faults:
        print(f"{kind.name}, {surface.__name__}: {fault}", file=sys.stderr)
    return "differs" if faults else "as expected"


if __name__ == "__main__":
    main()
