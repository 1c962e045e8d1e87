"""Print what becomes of each kind of file, as a table; --write puts it into the manual.

python -m benchmarks.file_kinds [--write]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.file_kinds import KINDS
from benchmarks.file_kinds.model import Kind
from benchmarks.file_kinds.surfaces import in_python, on_command_line, on_page, what_happens

MANUAL = Path(__file__).parents[2] / "docs" / "how-to" / "table.md"
FIRST, LAST = "<!-- kinds of files -->", "<!-- end of kinds of files -->"
_HEAD = "| kind | what happens | page | command line | Python |\n|---|---|---|---|---|\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put the table into the manual")
    options = parser.parse_args()
    print(_HEAD, end="")
    rows = []
    for kind in KINDS:
        rows.append(_row(kind))
        print(rows[-1], flush=True)
    if options.write:
        text = MANUAL.read_text("utf-8")
        before, rest = text.split(FIRST)
        after = rest.split(LAST)[1]
        table = _HEAD + "".join(row + "\n" for row in rows)
        MANUAL.write_text(f"{before}{FIRST}\n\n{table}\n{LAST}{after}", "utf-8")


def _row(kind: Kind) -> str:
    marks = [_mark(kind, surface) for surface in (on_page, on_command_line, in_python)]
    cells = [kind.name, what_happens(kind).replace("|", "\\|"), *marks]
    return f"| {' | '.join(cells)} |"


def _mark(kind: Kind, surface: Callable[[Kind], list[str]]) -> str:
    try:
        faults = surface(kind)
    except Exception as error:
        # The page raises what its scripts do, and an assertion if one did.
        faults = [repr(error)]
    for fault in faults:
        print(f"{kind.name}, {surface.__name__}: {fault}", file=sys.stderr)
    return "✗" if faults else "✓"


if __name__ == "__main__":
    main()
