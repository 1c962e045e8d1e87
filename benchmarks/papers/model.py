"""What a reproduction is: a table or figure of a paper, and how its numbers are made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from privcore.data import Dataset

Case = tuple[str | float, ...]
# What ours are made with, by the name of their column.
SERIES = {
    "exact": "ours, no privacy",
    "published": "ours, published (not proven)",
    "uncached": "published, counted anew",
    "proven": "ours, proven",
}
TIMED = "Times depend on the machine and differ from one run to the next."
NOT_LEGIBLE = "not legible"
DRAWN = "drawn, no numbers"


@dataclass(frozen=True)
class Paper:
    """name: as in the names of its reproductions; title: short, for lists."""

    name: str
    title: str
    citation: str


@dataclass(frozen=True)
class Figure:
    """How the lines of a reproduction are drawn: names of its columns.

    panel: a picture for each of its values; line: a line for each; x: the axis, where a value does
    not bring its own.  bounded: whether y is from 0 to 1.  x_range: where the axis ends, if not
    with the points.  Of a column "measure" one value is drawn at a time.
    """

    panel: str
    line: str
    x: str
    x_title: str
    y_title: str
    bounded: bool = True
    log_y: bool = False
    x_range: tuple[float, float] | None = None


class Sample(NamedTuple):
    """One value of ours: NaN where the run was refused.

    x: its place on the axis of a figure, where that is not what the case says.
    """

    case: Case
    series: str
    value: float
    x: float | None = None


class Mean(NamedTuple):
    """Mean of several runs, NaN if all were refused.  sd: over n − 1, and 0 for one run.

    x: mean place on the axis, None where the case says it.
    """

    mean: float
    sd: float
    runs: int
    x: float | None = None


@dataclass(frozen=True)
class Line:
    """One line of a table: what the paper says, None where it says nothing, and ours by series."""

    case: Case
    paper: str | None
    ours: Mapping[str, Mean]


@dataclass(frozen=True)
class Work:
    """How a reproduction is made now.

    runs: how many replicates.  seed: all data and noise are derived from it.  workers: processes,
    as many as processors if None.  table: a data set of the user's, where one is needed.
    tick: told the share that is done, from 0 to 1.  note: told of every run that was refused.
    """

    runs: int
    seed: int = 0
    workers: int | None = 0
    table: Dataset | None = None
    tick: Callable[[float], None] = lambda share: None
    note: Callable[[str], None] = lambda sentence: None

    def part(self, number: int, parts: int) -> Work:
        """The same for one of several equal parts, the first being 0."""
        return replace(self, tick=lambda share: self.tick((number + share) / parts))


Make = Callable[[Mapping[str, Any], Work], Iterator[Sample]]


@dataclass(frozen=True)
class Reproduction:
    """One table or figure.

    shows: one sentence.  columns: names of what makes a case, in order.
    published: what the paper prints, as text, by case; figures are drawn, and have no numbers.
    says: sentences of the paper on the item that can be compared with ours.
    settings: all that decides about our numbers but for seed and runs, JSON-ready; `make` reads
        nothing else.
    differences: why ours are not the paper's.
    runs: replicates of the numbers that are shipped; quick: of a first look.
    needs_table: whether the user must bring the data.
    timed: whether the values are times, which differ from one run to the next.
    """

    name: str
    paper: Paper
    item: str
    shows: str
    columns: tuple[str, ...]
    settings: Mapping[str, Any]
    make: Make
    differences: tuple[str, ...]
    published: Mapping[Case, str]
    says: tuple[str, ...] = ()
    runs: int = 5
    quick: int = 1
    figure: Figure | None = None
    needs_table: bool = False
    timed: bool = False
