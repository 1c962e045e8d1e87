"""Reproductions of papers' tables and figures, shipped with the product in one file each.

The numbers are computed by a program, `python -m benchmarks.papers`, which is part of the source
but not of the wheel.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from privcore.errors import ParameterError, PrivcoreError
from privcore.extras.worker import end, environment
from privcore.text import csv_text, short
from privcore.version import __version__

_PACKAGE = Path(__file__).parents[2]
FOLDER = _PACKAGE / "extras" / "results" / "reproductions"
# Names of the items, in the order of lists.
NAMES = (
    *("wang-table-1", "wang-figure-1", "wang-table-2"),
    *(f"xu-table-{number}" for number in (3, 4, 5, 6, 8, 9, 10, 11)),
    "xu-adult",
    *("curate-figure-3", "curate-figure-4", "curate-figure-5", "curate-tables-4-7"),
    *("kusner-table-2", "kusner-figure-1", "kusner-figure-2"),
)
Case = tuple[str | float, ...]
# Settings of our results, by the name of their column.
SERIES = {
    "exact": "ours, no privacy",
    "published": "ours, published (not proven)",
    "uncached": "published, counted again",
    "proven": "ours, proven",
}
TIMED = "Times depend on the machine and differ from run to run."
_PAPER = "paper"


@dataclass(frozen=True)
class Paper:
    """A paper; name: prefix of the names of its items; title: short title for lists."""

    name: str
    title: str
    citation: str


@dataclass(frozen=True)
class Figure:
    """How an item is drawn as a figure; columns are given by name.

    panel: column with one picture per value. line: column with one line per value. x: column for
    the x axis, unless the values have their own positions. bounded: whether y ranges from 0 to 1.
    x_range: ends of the x axis, if not at the outer points. If there is a column "measure", one of
    its values is drawn at a time.
    """

    panel: str
    line: str
    x: str
    x_title: str
    y_title: str
    bounded: bool = True
    log_y: bool = False
    x_range: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Item:
    """One table or figure of a paper.

    shows: one sentence on the content.  columns: names of the columns that identify a case, in
    order. settings: all settings of our runs except seed and number of runs, JSON-ready. says: the
    paper's statements about the item that can be compared with our results. differences: reasons
    why our results differ from the paper's. quick: number of replicates for a quick look.
    needs_table: whether the user must provide the data. timed: whether the values are times, which
    differ from run to run.
    """

    name: str
    paper: Paper
    item: str
    shows: str
    columns: tuple[str, ...]
    settings: Mapping[str, Any]
    differences: tuple[str, ...]
    says: tuple[str, ...] = ()
    quick: int = 1
    figure: Figure | None = None
    needs_table: bool = False
    timed: bool = False


class Mean(NamedTuple):
    """The mean of a result over several runs, NaN if all runs were refused.

    sd: standard deviation with denominator n − 1, and 0 for one run. x: mean position on the x
    axis, None if the case determines the position.
    """

    mean: float
    sd: float
    runs: int
    x: float | None = None


@dataclass(frozen=True)
class Line:
    """One line of a table.

    case: values that identify the line. paper: the paper's value, None if the paper has no value.
    ours: our means by name of the series.
    """

    case: Case
    paper: str | None
    ours: Mapping[str, Mean]


@dataclass(frozen=True)
class Reproduced:
    """The result of a reproduction.

    lines: lines of the table, in the paper's order. runs: number of replicates. seed: seed of all
    runs. refused: distinct error messages of refused runs.
    """

    name: str
    lines: tuple[Line, ...]
    runs: int
    seed: int
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shipped:
    """An item with its result, and the version and the day of the computation.

    made: the day; None if the user has to provide the data, so that the lines contain only the
    paper's numbers.
    """

    item: Item
    result: Reproduced
    version: str
    made: str | None

    @property
    def command(self) -> str:
        """The command that reproduces the result."""
        runs, seed = self.result.runs, self.result.seed
        return f"python -m privcore reproduce {self.item.name} --runs {runs} --seed {seed}"


def made_now(item: Item, result: Reproduced) -> Shipped:
    """Return a result as computed today by this version."""
    return Shipped(item, result, __version__, date.today().isoformat())


def has_program() -> bool:
    """Whether the program that computes the numbers lies next to this package."""
    return (_PACKAGE.parent / "benchmarks" / "papers" / "__main__.py").is_file()


def start(words: Sequence[str], stdout: int | None = None) -> subprocess.Popen[bytes]:
    """Start the program that computes the numbers.

    words: its options. stdout: as for `subprocess.Popen`.
    """
    command = [sys.executable, "-P", "-m", "benchmarks.papers", *words]
    return subprocess.Popen(command, stdout=stdout, env=environment())


def quick_result(name: str, tick: Callable[[float], None]) -> Shipped:
    """Compute an item with few replicates, in a process that ends with this function.

    tick: called with the finished share, from 0 to 1. Raises PrivcoreError if the process ends
    without a result.
    """
    process = start([name, "--quick", "--workers=0", "--json"], subprocess.PIPE)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith(b"{"):
                return from_json(line + process.stdout.read())
            tick(float(line))
    finally:
        end(process)
    raise PrivcoreError("ended-without-result", name=short(name))


def described(item: Item) -> dict[str, Any]:
    """The part of an item's file that does not depend on the result."""
    return {field.name: _plain(getattr(item, field.name)) for field in fields(Item)}


def _plain(value: Any) -> Any:
    return asdict(value) if isinstance(value, Paper | Figure) else value


def as_json(held: Shipped) -> str:
    """Return the JSON that `from_json` reads, with one line of text per line of the table."""
    about = {
        **described(held.item),
        "command": held.command if held.made else None,
        "version": held.version,
        "made": held.made,
        "runs": held.result.runs,
        "seed": held.result.seed,
        "refused": held.result.refused,
    }
    lines = ",\n".join(
        json.dumps(
            {
                "case": line.case,
                "paper": line.paper,
                "ours": {series: _values(mean) for series, mean in line.ours.items()},
            },
            ensure_ascii=False,
        )
        for line in held.result.lines
    )
    head = json.dumps(about, ensure_ascii=False, indent=1)[: -len("\n}")]
    return f'{head},\n "lines": [\n{lines}\n]\n}}\n'


def _values(mean: Mean) -> list[float | int | None]:
    """Mean, sd, runs and x; NaN as null, since JSON has no NaN."""
    return [None if isinstance(v, float) and math.isnan(v) else v for v in mean]


def _mean(held: Sequence[Any]) -> Mean:
    mean, sd, runs, x = held
    return Mean(math.nan if mean is None else mean, math.nan if sd is None else sd, runs, x)


@cache
def shipped(name: str) -> Shipped:
    """Read the shipped result of an item; raises ParameterError if there is no such item."""
    if name not in NAMES:
        raise ParameterError("no-such-reproduction", name=short(name), choices=", ".join(NAMES))
    return from_json((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def from_json(text: str | bytes) -> Shipped:
    """Read what `as_json` has written."""
    held = json.loads(text)
    lines = tuple(
        Line(
            tuple(line["case"]),
            line["paper"],
            {series: _mean(values) for series, values in line["ours"].items()},
        )
        for line in held["lines"]
    )
    parts = {field.name: held[field.name] for field in fields(Item)}
    parts |= {name: tuple(parts[name]) for name in ("columns", "differences", "says")}
    parts |= {"paper": Paper(**held["paper"]), "figure": _figure(held["figure"])}
    result = Reproduced(held["name"], lines, held["runs"], held["seed"], tuple(held["refused"]))
    return Shipped(Item(**parts), result, held["version"], held["made"])


def _figure(held: Mapping[str, Any] | None) -> Figure | None:
    if held is None:
        return None
    ends = held["x_range"]
    return Figure(**{**held, "x_range": None if ends is None else tuple(ends)})


def series_of(lines: Sequence[Line]) -> list[str]:
    """The names of all series in the lines, in the order of `SERIES`."""
    named = {series for line in lines for series in line.ours}
    return [series for series in SERIES if series in named]


def as_texts(item: Item, lines: Sequence[Line]) -> list[list[str]]:
    """Return the table as lists of text: the column names first, then one list per line.

    The paper's column is left out if it has no values.
    """
    series = series_of(lines)
    printed = any(line.paper is not None for line in lines)
    head = [*item.columns, *[_PAPER] * printed, *(SERIES[name] for name in series)]
    body = [
        [
            *(_entry(value) for value in line.case),
            *[line.paper or "–"] * printed,
            *(_cell(line, line.ours.get(name)) for name in series),
        ]
        for line in lines
    ]
    return [head, *body]


def _entry(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:,.10g}"


def _cell(line: Line, mean: Mean | None) -> str:
    if mean is None:
        return "–"
    if mean.runs == 0:
        return "refused"
    places = 3 if abs(mean.mean) < 10 else 1
    if not mean.sd:
        # Counts are shown without decimals; a rate of 1 is not a count.
        count = mean.mean == int(mean.mean) and abs(mean.mean) >= 2
        return f"{mean.mean:,.{0 if count else places}f}{_place(line, mean.x)}"
    return f"{mean.mean:,.{places}f} ± {mean.sd:,.{places}f}{_place(line, mean.x)}"


def _place(line: Line, x: float | None) -> str:
    """The position of a value as text; empty if the case determines the position."""
    if x is None:
        return ""
    shown = f"ε {x:.3g}"
    for entry in line.case:
        if isinstance(entry, str):
            if entry.replace("= ", "").endswith(shown):
                return ""
        elif math.isclose(entry, x, rel_tol=0.01):
            return ""
    return f" at {shown}"


def as_csv(item: Item, lines: Sequence[Line]) -> str:
    """Return the numbers as CSV, with mean, sd, runs and position of each series."""
    series = series_of(lines)
    parts = ("mean", "sd", "runs", "x")
    rows: list[list[object]] = [
        [*item.columns, _PAPER, *(f"{name}_{part}" for name in series for part in parts)]
    ]
    for line in lines:
        held = (line.ours.get(name) for name in series)
        values = [v for mean in held for v in (_values(mean) if mean else [None] * len(parts))]
        rows.append([*line.case, line.paper, *values])
    return csv_text(rows)
