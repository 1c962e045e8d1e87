"""A reproduction: a table or figure of a paper, and the computation of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from privcore.data import Dataset
from privcore.extras.lab.reproductions import Case, Item

NOT_LEGIBLE = "not legible"
DRAWN = "drawn, no numbers"


class Sample(NamedTuple):
    """One value of ours: NaN where the run was refused.

    x: its place on the axis of a figure, where that is not what the case says.
    """

    case: Case
    series: str
    value: float
    x: float | None = None


@dataclass(frozen=True)
class Work:
    """How a reproduction is made now.

    runs: how many replicates.  seed: all data and noise are derived from it.  workers: processes,
    as many as processors if None.  table: a data set of the user's, where one is needed.
    tick: called with the finished share, from 0 to 1. note: called for every refused run.
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


@dataclass(frozen=True, kw_only=True)
class Reproduction(Item):
    """An item, and how its numbers are made.

    make: reads nothing but the settings, and how it is made now.
    published: what the paper prints, as text, by case; figures are drawn, and have no numbers.
    runs: replicates of the numbers that are shipped.
    """

    make: Make
    published: Mapping[Case, str]
    runs: int = 5
