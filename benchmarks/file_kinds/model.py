"""What a kind of file is: its bytes, what they should give, and what its owner says to settle it.

Every table is made from a seeded generator, so that none is anybody's.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from privcore.intake.reading import ReadingOptions

Columns = Mapping[str, Sequence[object]]


@dataclass(frozen=True)
class Taken:
    """What a column should be proposed as.

    label: of the first way.  codes: cells taken as missing.  unit: beside its numbers.  levels: all
    of them, in order.
    """

    label: str
    codes: tuple[str, ...] = ()
    unit: str = ""
    levels: tuple[str, ...] = ()


@dataclass(frozen=True)
class StatedOptions:
    """What the owner of a file says, on whichever surface."""

    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    leave_last: int = 0
    unit: str | None = None
    rows_per_unit: int | None = None
    columns: str | None = None

    @property
    def reading_options(self) -> ReadingOptions:
        return ReadingOptions(self.encoding, self.header, self.sheet, self.leave_last)

    @property
    def options(self) -> list[str]:
        """The same on the command line."""
        arguments = {
            "--encoding": self.encoding,
            "--sheet": self.sheet,
            "--leave-last": self.leave_last or None,
            "--unit": self.unit,
            "--rows-per-unit": self.rows_per_unit,
            "--columns": self.columns,
        }
        pairs = [text for name, value in arguments.items() if value for text in (name, str(value))]
        flags = {None: [], True: ["--header"], False: ["--no-header"]}[self.header]
        return [*pairs, *flags]


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of file.

    name: in a few words, as in the manual.  make: its bytes.  names, rows: of the table as read by
    itself.  taken: what some columns are taken as.  topics: of the questions that stay open.
    note: a part of what is said of it.  refusal: a part of the sentence that refuses it.
    encoding: it is read in.  stated: options that settle its questions; after: names and rows then,
    where they differ.
    child: whether the file is looked at in another process.
    """

    name: str
    filename: str
    make: Callable[[np.random.Generator], bytes]
    names: tuple[str, ...] = ()
    rows: int = 0
    taken: Mapping[str, Taken] = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    note: str = ""
    refusal: str = ""
    encoding: str = ""
    stated: StatedOptions = StatedOptions()
    after: tuple[tuple[str, ...], int] | None = None
    child: bool = False

    def content(self, seed: int = 1) -> bytes:
        return _content(self, seed)


@cache
def _content(kind: Kind, seed: int) -> bytes:
    return kind.make(np.random.default_rng([seed, zlib.crc32(kind.name.encode())]))


def text(
    columns: Columns, sep: str = ",", end: str = "\n", *, header: bool = True, after: str = ""
) -> str:
    """Columns as lines; after: what every line ends with."""
    rows = list(zip(*columns.values(), strict=True))
    lines = [list(columns)] * header + [list(map(str, row)) for row in rows]
    return "".join(sep.join(line) + after + end for line in lines)


def people(generator: np.random.Generator, rows: int = 200) -> dict[str, list[str]]:
    """Five columns as most tables have them: words, whole numbers and others."""
    sex = generator.integers(0, 2, rows)
    age = generator.integers(18, 90, rows)
    weight = 55 + 15 * sex + generator.normal(0, 9, rows)
    return {
        "sex": ["f" if s else "m" for s in sex],
        "age": [str(a) for a in age],
        "weight": [f"{w:.1f}" for w in weight],
        "ward": list(generator.choice(["north", "south", "west"], rows)),
        "ill": [str(int(i)) for i in generator.random(rows) < age / 120],
    }


PEOPLE = ("sex", "age", "weight", "ward", "ill")
USUAL = {
    "sex": Taken("levels", levels=("f", "m")),
    "age": Taken("intervals"),
    "weight": Taken("intervals"),
    "ward": Taken("levels", levels=("north", "south", "west")),
    "ill": Taken("levels in order", levels=("0", "1")),
}


def between_columns(
    generator: np.random.Generator, cells: Sequence[object], name: str = "x"
) -> Columns:
    """A column of cells between two others."""
    whom = people(generator, len(cells))
    return {"sex": whom["sex"], name: cells, "age": whom["age"]}


BETWEEN_COLUMNS = ("sex", "x", "age")


def mixed(
    generator: np.random.Generator, cells: Sequence[object], others: Sequence[object], share: float
) -> list[object]:
    """The cells, a part of them replaced by others, in turn."""
    places = generator.choice(len(cells), max(2, round(share * len(cells))), replace=False)
    changed = list(cells)
    for at, place in enumerate(places):
        changed[place] = others[at % len(others)]
    return changed
