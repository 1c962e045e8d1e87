"""The data set that all analyses start from: immutable, with public levels and bounds.

Questions that only a file's owner can answer, and must answer before a release.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privcore.errors import DataError
from privcore.text import counted, short
from privcore.unit import RECORD, Unit

Topic = Literal["header", "persons"]


@dataclass(frozen=True)
class ReadingOptions:
    """The owner's options for reading a file; None lets the program choose.

    encoding: encoding of a text file, such as "gb18030".  header: whether the first row holds
    names.
    sheet: name of a workbook's sheet.  leave_last: number of rows left out at the end.
    """

    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    leave_last: int = 0

    def set_options(self) -> dict[str, str | bool | int]:
        """The options that are set, by name."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in values.items() if value or value is False}

    def options(self) -> list[str]:
        """The options that are set, as command-line arguments.

        >>> ReadingOptions(header=False, sheet="Visits", leave_last=1).options()
        ['--no-header', '--sheet', 'Visits', '--leave-last', '1']
        """
        words: list[str] = []
        for name, value in self.set_options().items():
            option = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{option}" if value else f"--no-{option}")
            else:
                words += [f"--{option}", str(value)]
        return words


@dataclass(frozen=True)
class OpenQuestion:
    """A question that a file leaves open.

    sentence: what is not known, and what is assumed for now.  answer: how to answer, on the command
    line and in Python.  column: the column in question, if there is one.
    """

    topic: Topic
    sentence: str
    answer: str
    column: str = ""


Kind = Literal["nominal", "ordinal", "continuous"]

# The source of a data set made from the user's own table, from a sample that is part of the
# package, and with a bought domain.
UPLOADED, SAMPLE, BOUGHT = "uploaded", "sample", "bought"
# The level of missing values, and the level that takes every value that is none of the others.
MISSING_LEVEL, OTHER_LEVEL = "(missing)", "(other)"
MAX_LEVELS = 1_000
# A column in which one level has more than this share of the rows shows little.
ONE_LEVEL = 0.95
MAX_NAME = 200
MAX_COLUMNS = 10_000


@dataclass(frozen=True)
class Column:
    """What is known about a column without looking at the rows.

    levels: levels of a nominal or ordinal column, in the order of their codes (and ranks).
    bounds: lowest and highest value of a continuous column.
    cut_points: increasing points at which a column of numbers was cut into levels.
    declared: whether levels or bounds are public; otherwise they were read from the data, and no
        guarantee covers them.
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    cut_points: tuple[float, ...] = ()
    declared: bool = False

    @property
    def is_categorical(self) -> bool:
        return self.kind != "continuous"


class Described(ABC):
    """What is known about a table without its rows: its columns, its number of rows, and its notes.

    The fields are described in `Dataset`, which also holds the rows in memory.
    """

    name: str
    columns: tuple[Column, ...]
    true_edges: tuple[tuple[str, str], ...] | None
    notes: tuple[str, ...]
    # Whether "(missing)" stands for values missing at random rather than for a level.
    available: bool = False
    unit: Unit = RECORD
    # Facts that only the owner knows, and has to state before a release.
    questions: tuple[OpenQuestion, ...] = ()

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @property
    def p(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def seen_edges(self) -> tuple[tuple[str, str], ...]:
        """True edges between columns of the table; the other true edges involve hidden columns."""
        names = set(self.names)
        return tuple(edge for edge in self.true_edges or () if names.issuperset(edge))

    @property
    def levels(self) -> tuple[int, ...]:
        """Number of levels of each column; raises DataError if a column is continuous."""
        for column in self.columns:
            if not column.is_categorical:
                raise DataError("column-continuous", name=short(column.name))
        return tuple(len(column.levels) for column in self.columns)

    @property
    def ordered(self) -> tuple[int, ...]:
        """Per column, how many of its first levels are ordered; 0 if its levels have no order."""
        return tuple(map(levels_in_order, self.columns))

    @property
    def caveats(self) -> tuple[str, ...]:
        """Sentences on what the guarantee does not cover, such as levels read from the rows."""
        undeclared = self.undeclared
        if not undeclared:
            return self.notes
        named = ", ".join(short(name, 20) for name in undeclared[:3])
        more = f" and {len(undeclared) - 3} more" if len(undeclared) > 3 else ""
        return (
            f"{self.public_noun} were read from the data and are not covered by the guarantee "
            f"({named}{more})",
            *self.notes,
        )

    @property
    def public_noun(self) -> str:
        """What a declaration makes public about the columns: "levels", "bounds", or both."""
        kinds = {column.is_categorical for column in self.columns}
        if len(kinds) == 2:
            return "levels and bounds"
        return "levels" if kinds == {True} else "bounds"

    @property
    def basis(self) -> str:
        """Why levels and bounds count as public, if they are declared."""
        return "stated by the owner of the data as known without looking at the rows"

    @property
    def undeclared(self) -> tuple[str, ...]:
        """Names of the columns whose levels or bounds were read from the data."""
        return tuple(column.name for column in self.columns if not column.declared)


@dataclass(frozen=True, eq=False)
class Dataset(Described):
    """A table of n rows and p columns.

    values: per column an array of shape (n,): integer codes 0..levels-1, or float64 within the
        bounds.  The arrays are made read-only.
    true_edges: the true DAG as (cause, effect) names, if it is known.
    hidden: columns of the true DAG that are not in the table (`hiding`).
    notes: sentences that limit what a guarantee about these rows covers.
    recipe: how to make a structural example again: its name under "example", its parameters by
        name, and "intervals" if its columns were cut.
    available: whether values in the level "(missing)" are taken as missing at random.
    unit: the unit whose rows are protected together; rows beyond the bound per unit were left out
        (`units`).
    questions: facts that only the owner of the file knows and must state before a release.
    reading_options: the owner's options for reading the file.

    Raises DataError if there are fewer than 2 columns or rows, names are blank, too long or
    repeated, a true edge is not between two columns, or bounds or levels are impossible.
    """

    name: str
    columns: tuple[Column, ...]
    values: tuple[NDArray[Any], ...]
    true_edges: tuple[tuple[str, str], ...] | None = None
    source: str = ""
    notes: tuple[str, ...] = ()
    recipe: Mapping[str, Any] | None = None
    available: bool = False
    unit: Unit = RECORD
    questions: tuple[OpenQuestion, ...] = ()
    reading_options: ReadingOptions = ReadingOptions()
    hidden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_names([column.name for column in self.columns])
        for position, column in enumerate(self.columns, start=1):
            if len(column.name) > MAX_NAME:
                raise DataError(
                    "column-name-too-long",
                    position=position,
                    number=len(column.name),
                    max_name=MAX_NAME,
                )
        if len(self.columns) != len(self.values):
            raise ValueError("values must contain one array for each column")
        if len({len(values) for values in self.values}) != 1:
            raise ValueError("all columns must have the same number of rows")
        if self.n < 2:
            raise DataError("too-few-rows-in-data", rows=counted(self.n, "row"))
        for name in (name for edge in self.true_edges or () for name in edge):
            if name not in (*self.names, *self.hidden):
                raise DataError("true-graph-names-no-column", name=short(name))
        for column, values in zip(self.columns, self.values, strict=True):
            _check_values(column, values)
            values.flags.writeable = False

    @property
    def n(self) -> int:
        return len(self.values[0])

    def hiding(self, names: Collection[str]) -> Dataset:
        """The data set without these columns; the true graph still contains them.

        Raises DataError for a name that is not a column.

        Example: smoking is hidden; lung cancer still depends on it.

            >>> from privcore import load_network
            >>> data = load_network("asia").sample(1_000, seed=1).hiding(["smoke"])
            >>> len(data.names), data.hidden, ("smoke", "lung") in data.true_edges
            (7, ('smoke',), True)
        """
        for name in names:
            if name not in self.names:
                raise DataError(
                    "no-such-column-to-hide",
                    name=short(name),
                    choices=", ".join(short(known) for known in self.names[:20]),
                )
        seen = [k for k, name in enumerate(self.names) if name not in names]
        return replace(
            self,
            columns=tuple(self.columns[k] for k in seen),
            values=tuple(self.values[k] for k in seen),
            hidden=(*self.hidden, *(name for name in self.names if name in names)),
        )

    @property
    def basis(self) -> str:
        if self.source == BOUGHT:
            return "released from the rows with noise, except where stated by the owner of the data"
        built_in = self.source not in ("", UPLOADED, SAMPLE)
        return "part of the model that the rows were sampled from" if built_in else super().basis


def levels_in_order(column: Column) -> int:
    """How many of the first levels are ordered: all but the last ones that have no place."""
    unplaced = (MISSING_LEVEL, OTHER_LEVEL)
    own = len(column.levels)
    while own and column.levels[own - 1] in unplaced:
        own -= 1
    placed = column.kind == "ordinal" and own > 1 and not set(unplaced) & set(column.levels[:own])
    return own if placed else 0


def check_names(names: list[str]) -> None:
    """Raises DataError unless there are 2 to 10,000 distinct names, none blank."""
    if len(names) < 2:
        raise DataError("too-few-columns", columns=counted(len(names), "column"))
    if len(names) > MAX_COLUMNS:
        raise DataError("columns-above-limit", number=len(names), max_columns=MAX_COLUMNS)
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError("column-no-name", position=position)
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError("column-twice", twice=short(twice[0]))


def _check_values(column: Column, values: NDArray[Any]) -> None:
    name = short(column.name)
    if column.is_categorical:
        if not column.levels:
            raise DataError("column-no-levels", name=name)
        if len(column.levels) > MAX_LEVELS:
            raise DataError(
                "too-many-levels-of-column",
                name=name,
                number=len(column.levels),
                max_levels=MAX_LEVELS,
            )
        if len(set(column.levels)) != len(column.levels):
            raise DataError("level-twice", name=name)
        if values.dtype.kind not in "iu":
            raise ValueError("categorical values must be integer codes")
        if int(values.min(initial=0)) < 0 or int(values.max(initial=0)) >= len(column.levels):
            raise ValueError("every code must be between 0 and the number of levels minus 1")
        return
    if column.bounds is None or not column.bounds[0] < column.bounds[1]:
        raise DataError("bounds-crossed", name=name)
    if not np.isfinite(values).all():
        raise DataError("column-not-finite", name=name)
    if (
        values.min(initial=np.inf) < column.bounds[0]
        or values.max(initial=-np.inf) > column.bounds[1]
    ):
        raise ValueError("every value must lie within the bounds of its column")


def constant_columns(dataset: Dataset) -> tuple[str, ...]:
    """Names of the columns that are known to be constant.

    A column is known to be constant if it has only one level, or if its levels or bounds were read
    from the rows and it has only one value.  A column with several public levels (or public bounds)
    is accepted even if all rows agree, because this agreement is private.
    """
    return tuple(
        column.name
        for column, values in zip(dataset.columns, dataset.values, strict=True)
        if is_constant(column, values)
    )


def is_constant(column: Column, values: NDArray[Any]) -> bool:
    """Whether a column is known to be constant; see `constant_columns`."""
    if column.is_categorical and len(column.levels) == 1:
        return True
    return not column.declared and bool(values.min() == values.max())


def code_type(levels: int) -> type[np.unsignedinteger[Any]]:
    """The smallest integer type that holds the codes of this number of levels."""
    return np.uint8 if levels <= 256 else np.uint16
