"""Reproductions as tables, and those that come with the product."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import privcore
from benchmarks.papers.engine import Reproduced
from benchmarks.papers.model import SERIES, Line, Mean, Reproduction
from privcore.text import spreadsheet_cell
from privcore.version import __version__

FOLDER = Path(privcore.__file__).parent / "extras" / "results" / "reproductions"
_PAPER = "paper"


@dataclass(frozen=True)
class Shipped:
    """A result made beforehand: by which command, version and when; settings as they were then."""

    result: Reproduced
    command: str
    version: str
    made: str
    settings: Mapping[str, Any]


def command_of(name: str, runs: int, seed: int) -> str:
    """The command that makes a result again."""
    return f"python -m privcore reproduce {name} --runs {runs} --seed {seed}"


def as_json(reproduction: Reproduction, result: Reproduced) -> str:
    """What `shipped` reads, with a line of text for each line of the table."""
    about = {
        "name": result.name,
        "paper": reproduction.paper.citation,
        "item": reproduction.item,
        "command": command_of(result.name, result.runs, result.seed),
        "version": __version__,
        "made": date.today().isoformat(),
        "runs": result.runs,
        "seed": result.seed,
        "settings": reproduction.settings,
        "refused": result.refused,
        "columns": reproduction.columns,
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
        for line in result.lines
    )
    head = json.dumps(about, ensure_ascii=False, indent=1)[: -len("\n}")]
    return f'{head},\n "lines": [\n{lines}\n]\n}}\n'


def _values(mean: Mean) -> list[float | int | None]:
    """Mean, sd, runs and x; what is not a number as null, which JSON has."""
    return [None if isinstance(v, float) and math.isnan(v) else v for v in mean]


def _mean(held: Sequence[Any]) -> Mean:
    mean, sd, runs, x = held
    return Mean(math.nan if mean is None else mean, math.nan if sd is None else sd, runs, x)


@cache
def shipped(name: str) -> Shipped | None:
    """The result that comes with the product, None if none does."""
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        return None
    held = json.loads(path.read_text(encoding="utf-8"))
    lines = tuple(
        Line(
            tuple(line["case"]),
            line["paper"],
            {series: _mean(values) for series, values in line["ours"].items()},
        )
        for line in held["lines"]
    )
    result = Reproduced(name, lines, held["runs"], held["seed"], tuple(held["refused"]))
    return Shipped(result, held["command"], held["version"], held["made"], held["settings"])


def series_of(lines: Sequence[Line]) -> list[str]:
    """Which series the lines have, in a fixed order."""
    named = {series for line in lines for series in line.ours}
    return [series for series in SERIES if series in named]


def as_texts(reproduction: Reproduction, lines: Sequence[Line]) -> list[list[str]]:
    """The table as it is read: a line of names, then one for each line.

    The paper's column is left out where it prints nothing.
    """
    series = series_of(lines)
    printed = any(line.paper is not None for line in lines)
    head = [*reproduction.columns, *[_PAPER] * printed, *(SERIES[name] for name in series)]
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
        # A count reads better without decimals; a rate of 1 is not a count.
        count = mean.mean == int(mean.mean) and abs(mean.mean) >= 2
        return f"{mean.mean:,.{0 if count else places}f}{_place(line, mean.x)}"
    return f"{mean.mean:,.{places}f} ± {mean.sd:,.{places}f}{_place(line, mean.x)}"


def _place(line: Line, x: float | None) -> str:
    """Where a value stands, unless the case says so already."""
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


def as_csv(reproduction: Reproduction, lines: Sequence[Line]) -> str:
    """Numbers to work with: mean, sd, runs and place of each series."""
    series = series_of(lines)
    parts = ("mean", "sd", "runs", "x")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [*reproduction.columns, _PAPER, *(f"{name}_{part}" for name in series for part in parts)]
    )
    for line in lines:
        held = (line.ours.get(name) for name in series)
        values = [v for mean in held for v in (_values(mean) if mean else [None] * len(parts))]
        case = [spreadsheet_cell(v) if isinstance(v, str) else v for v in line.case]
        writer.writerow([*case, line.paper, *values])
    return text.getvalue()
