"""A raw table and a schema give a data set of codes.

Error messages for tables that are refused; each is one sentence and quotes no cell.

Encodes the cells of a table under a known schema, whether in memory, in files or on a cluster.

A table is scanned piece by piece: a table in memory is one piece, a file has one piece per batch,
and a cluster has one per partition.  Whether the table is refused is decided after the scan.

Applies a schema to a raw table: missing values, public levels, cuts and bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.data.discretise import check_cuts, cut, equal_width, finite_bounds, interval_labels
from privcore.data.model import (
    MAX_LEVELS,
    Column,
    Dataset,
    Kind,
    check_names,
    code_type,
    is_constant,
)
from privcore.errors import DataError, ParameterError
from privcore.intake.cells import cell_text
from privcore.intake.reading import RawTable
from privcore.intake.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema, parse_numbers
from privcore.text import counted, short
from privcore.unit import RECORD, Unit


def refused_gaps(gaps: Mapping[str, int]) -> DataError:
    """The error for columns with missing values; gaps: number of such values by column."""
    worst = sorted(gaps.items(), key=lambda item: -item[1])
    named = ", ".join(f"{short(name, 30)} ({count:,})" for name, count in worst[:5])
    more = f" and {len(worst) - 5} more columns" if len(worst) > 5 else ""
    return DataError("values-missing", columns=named + more)


# Codes of a missing value where missing is no level, and of a value outside the levels.
MISSING = -1
UNKNOWN = -2

Missing = Literal["refuse", "drop", "level", "available"]
# Settings that make missing values a level where the schema does not.
GAPS_AS_LEVEL = ("level", "available")
DROPPED = (
    "rows with missing values are left out, but the guarantee does not cover which rows are "
    "complete"
)

# Of every row, before it is decided which rows are used.
Codes = NDArray[np.int64]
Coded = tuple[NDArray[np.unsignedinteger[Any]], ...]


@dataclass(frozen=True)
class Coding:
    """How one column is encoded.

    wanted: the schema of the column.  absent: the code of a missing value, which is `MISSING` if
    the column has no level for missing values.  Numbers that are not cut have the code 0.
    """

    column: Column
    wanted: ColumnSchema
    absent: int

    @classmethod
    def of(cls, wanted: ColumnSchema, *, gaps: bool = False) -> Coding:
        column = column_of(wanted, gaps=gaps)
        has_level = MISSING_LEVEL in column.levels
        return cls(column, wanted, column.levels.index(MISSING_LEVEL) if has_level else MISSING)

    @property
    def refuses_gaps(self) -> bool:
        """Whether the schema has no level for missing values."""
        return not self.wanted.has_missing_level

    def of_cells(self, cells: pd.Series[Any]) -> Codes:
        """Codes of cells of any type; each distinct cell is read once."""
        # 1, 1.0 and True are equal, but not the same texts; 0 and -0 are not even the same bits.
        if cells.dtype == object:
            cells = cells.map(cell_text, na_action="ignore")
        elif pd.api.types.is_float_dtype(cells.dtype):
            cells = cells + 0.0
        owner, distinct = pd.factorize(cells)
        # The last entry is for missing cells, whose position is -1.
        return np.append(self.of_distinct(distinct), self.absent)[owner]

    def of_distinct(self, cells: Iterable[object]) -> Codes:
        texts = pd.Series([cell_text(cell) for cell in cells], dtype=object)
        known = self.wanted.read(texts)
        present = known.notna().to_numpy()
        codes = np.full(len(known), self.absent, dtype=np.int64)
        if self.wanted.kind == "continuous":
            codes[present] = self._cut(parse_numbers(known[present]))
        else:
            position = {level: code for code, level in enumerate(self.column.levels)}
            other = position.get(OTHER_LEVEL, UNKNOWN)
            codes[present] = [position.get(text, other) for text in known[present]]
        return codes

    def of_numbers(self, numbers: NDArray[np.float64]) -> Codes:
        """Codes of numbers; NaN is a missing value."""
        codes = self._cut(numbers)
        missing = np.isnan(numbers) if self.refuses_gaps else codes == UNKNOWN
        codes[missing] = self.absent
        return codes

    def _cut(self, numbers: NDArray[np.float64]) -> Codes:
        codes = np.full(len(numbers), UNKNOWN, dtype=np.int64)
        finite, points = np.isfinite(numbers), self.column.cut_points
        codes[finite] = cut(numbers[finite], points, self.wanted.name) if points else 0
        return codes


class Piece(NamedTuple):
    """Counts for one piece of a table; rows, missing and unknown add up over pieces.

    rows: number of rows used.  Per column, shape (p,): missing: number of rows without a value,
    used or not; unknown: number of used rows with a value outside the levels or without a finite
    number; low and high: smallest and largest code used.
    """

    rows: int
    missing: Codes
    unknown: Codes
    low: Codes
    high: Codes


@dataclass(frozen=True)
class Codings:
    """How all columns of a table are read, decided after a scan of its rows.

    drop: whether incomplete rows are left out.  gaps: per column, whether values are missing.
    rows: number of rows used per piece.  notes: as for a `Dataset`.
    """

    of: tuple[Coding, ...]
    drop: bool
    gaps: tuple[bool, ...]
    rows: tuple[int, ...]
    notes: tuple[str, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(coding.column for coding in self.of)

    def kept(
        self, codes: Sequence[Codes], columns: Sequence[int] | None = None
    ) -> NDArray[np.bool_] | slice:
        """Which rows of a piece are used: all rows, or the complete rows if `drop` is set.

        codes: per column, the codes of the piece.  columns: positions of these columns; None for
        all columns.
        """
        return _complete(codes, self._among(columns)) if self.drop else slice(None)

    def used(self, codes: Sequence[Codes], columns: Sequence[int] | None = None) -> Coded:
        """Codes of the used rows of a piece, in the smallest integer type that holds them."""
        kept = self.kept(codes, columns)
        return tuple(
            np.where(code == MISSING, coding.absent, code)[kept].astype(
                code_type(len(coding.column.levels))
            )
            for code, coding in zip(codes, self._among(columns), strict=True)
        )

    def _among(self, columns: Sequence[int] | None) -> Sequence[Coding]:
        return self.of if columns is None else [self.of[c] for c in columns]


def looked_at(codes: Sequence[Codes], codings: Sequence[Coding], *, drop: bool) -> Piece:
    """Counts the rows of a piece; drop: whether incomplete rows are left out."""
    used = _complete(codes, codings) if drop else np.ones(len(codes[0]), dtype=np.bool_)
    inside = [c[used] for c in codes]
    values = [c[c >= 0] for c in inside]
    return Piece(
        int(used.sum()),
        np.array([np.count_nonzero(c == MISSING) for c in codes], dtype=np.int64),
        np.array([np.count_nonzero(c == UNKNOWN) for c in inside], dtype=np.int64),
        np.array([v.min(initial=np.iinfo(np.int64).max) for v in values], dtype=np.int64),
        np.array([v.max(initial=MISSING) for v in values], dtype=np.int64),
    )


def settled(
    schema: Sequence[ColumnSchema],
    names: Sequence[str],
    missing: Missing,
    look: Callable[[Sequence[Coding], bool], Sequence[Piece]],
    *,
    unit: Unit = RECORD,
    levels_only: bool = True,
) -> Codings:
    """Decides how the rows of a table with columns `names` are encoded, after a scan of the rows.

    missing: as for `build_dataset`.  look: applies `looked_at` to all pieces in order, given the
    codings and the value of `drop`.  levels_only: whether continuous columns have to be cut.
    Raises the same errors as `build_dataset`.
    """
    wanted = used_columns(schema, names, missing, unit)
    codings = [Coding.of(column) for column in wanted]
    for column in (coding.column for coding in codings if levels_only):
        if not column.is_categorical:
            raise DataError("only-levels-counted", name=short(column.name))
    drop = missing == "drop"
    pieces = look(codings, drop)
    missed = [int(k) for k in np.sum([piece.missing for piece in pieces], axis=0)]
    if missing == "refuse":
        pairs = zip(codings, missed, strict=True)
        gaps = {c.wanted.name: k for c, k in pairs if k and c.refuses_gaps}
        if gaps:
            raise refused_gaps(gaps)
    if missing in GAPS_AS_LEVEL:
        codings = [Coding.of(c, gaps=bool(k)) for c, k in zip(wanted, missed, strict=True)]
    _check(pieces, codings, missed, drop=drop)
    return Codings(
        tuple(codings),
        drop,
        tuple(map(bool, missed)),
        tuple(piece.rows for piece in pieces),
        notes_on_missing([coding.column for coding in codings], missing),
    )


def _check(
    pieces: Sequence[Piece], codings: Sequence[Coding], missed: Sequence[int], *, drop: bool
) -> None:
    """Raises DataError for rows that cannot be used.

    missed: per column, the number of rows without a value.
    """
    rows = sum(piece.rows for piece in pieces)
    if rows < 2:
        dropped = drop and any(missed)
        left = rows if dropped else counted(rows, "row")
        raise DataError("all-rows-dropped" if dropped else "too-few-rows-in-data", rows=left)
    unknown = np.sum([piece.unknown for piece in pieces], axis=0)
    low = np.min([piece.low for piece in pieces], axis=0)
    high = np.max([piece.high for piece in pieces], axis=0)
    for coding, bad, first, last, gaps in zip(codings, unknown, low, high, missed, strict=True):
        column = coding.column
        if bad:
            numeric = coding.wanted.kind == "continuous"
            raise DataError(
                "column-rows-not-finite" if numeric else "column-rows-outside-levels",
                name=short(column.name),
                rows=f"{bad:,}",
                row="row" if bad == 1 else "rows",
            )
        # A level for gaps is one value more.
        alike = last < first if gaps and coding.absent != MISSING else last <= first
        if column.is_categorical and (len(column.levels) == 1 or (not column.declared and alike)):
            raise DataError("column-constant", constant=short(column.name))


def _complete(codes: Sequence[Codes], codings: Sequence[Coding]) -> NDArray[np.bool_]:
    known = [c != MISSING for c, coding in zip(codes, codings, strict=True) if coding.refuses_gaps]
    return np.logical_and.reduce(known) if known else np.ones(len(codes[0]), dtype=np.bool_)


def notes_on_missing(columns: Sequence[Column], missing: str) -> tuple[str, ...]:
    """The note that incomplete rows are left out, if `missing` is "drop"; otherwise no note.

    The note depends on the setting alone, because whether any row is incomplete is private.
    """
    strict = any(MISSING_LEVEL not in column.levels for column in columns)
    return (DROPPED,) if missing == "drop" and strict else ()


def used_columns(
    schema: Sequence[ColumnSchema], names: Sequence[str], missing: str, unit: Unit = RECORD
) -> list[ColumnSchema]:
    """The columns of a schema that are used; checks that the table has each of them.

    unit: the protected unit, whose column identifies people and is therefore not used.
    Raises ParameterError for an unknown `missing`, and DataError for a column not in the table.
    """
    if missing not in get_args(Missing):
        raise ParameterError(
            "missing-out-of-range", missing=short(missing), choices=", ".join(get_args(Missing))
        )
    used = [column for column in schema if column.include]
    check_names([column.name for column in used])
    absent = [column.name for column in used if column.name not in names]
    if unit.column and unit.column in absent:
        raise DataError("column-says-whose", column=short(unit.column), unit=unit.noun)
    if absent:
        raise DataError("table-no-column", absent=short(absent[0]))
    return used


def column_of(wanted: ColumnSchema, *, gaps: bool = False) -> Column:
    """The column that a schema defines, before any row is read.

    gaps: whether missing values need a level; if the schema lists no such level, the column counts
    as not declared.
    Raises DataError for impossible levels, bounds or cuts.
    """
    cuts = cuts_of(wanted) if wanted.kind == "continuous" else ()
    if wanted.kind == "continuous" and not cuts:
        bounds = finite_bounds(wanted.bounds, wanted.name)
        return Column(wanted.name, "continuous", bounds=bounds, declared=wanted.declared)
    levels, declared = wanted.levels, wanted.declared
    if cuts:
        check_cuts(cuts, wanted.name)
        levels = interval_labels(cuts, wanted.writing.unit)
    if (wanted.missing or gaps) and MISSING_LEVEL not in levels:
        levels, declared = (*levels, MISSING_LEVEL), declared and wanted.missing
    if len(levels) > MAX_LEVELS:
        raise DataError("levels-beyond-limit", name=short(wanted.name), most=MAX_LEVELS)
    kind: Kind = "ordinal" if cuts else wanted.kind
    return Column(wanted.name, kind, levels, cut_points=cuts, declared=declared)


def cuts_of(wanted: ColumnSchema) -> tuple[float, ...]:
    """Cut points of a continuous column; empty if the column is not cut."""
    if wanted.cut_points or wanted.bins is None:
        return wanted.cut_points
    return equal_width(wanted.bounds, wanted.bins, wanted.name)


def build_dataset(
    raw: RawTable,
    schema: Sequence[ColumnSchema],
    *,
    name: str,
    missing: Missing = "refuse",
    true_edges: tuple[tuple[str, str], ...] | None = None,
) -> Dataset:
    """Apply a schema to a raw table; columns with include=False are left out.

    missing: "refuse" raises DataError with the number of missing values per column.  "drop" leaves
    out rows with a missing value.  "level" gives columns with levels or cuts an additional level,
    "(missing)".  "available" also adds this level, but values are taken as missing at random: each
    test uses only the rows that have a value in all of its columns.
    If the schema lists a level for missing values, missing values always become that level.
    Whether a column has missing values is itself read from the data, so with "level" the column's
    levels count as declared only if the schema lists a level for missing values.
    Numbers outside public bounds are moved to the nearer bound.  Values outside the levels become
    "(other)" if that level is listed.
    Raises DataError for other values outside the levels, for text where numbers are declared, and
    for whatever `Dataset` refuses; ParameterError for an unknown `missing`.
    """
    codes: list[Codes] = []

    def look(codings: Sequence[Coding], drop: bool) -> list[Piece]:
        codes.extend(coding.of_cells(raw.cells(coding.wanted)) for coding in codings)
        return [looked_at(codes, codings, drop=drop)]

    codings = settled(schema, raw.names, missing, look, unit=raw.unit, levels_only=False)
    kept = codings.kept(codes)
    values = [
        code if coding.column.is_categorical else _numbers(coding, raw, kept)
        for coding, code in zip(codings.of, codings.used(codes), strict=True)
    ]
    return Dataset(
        name,
        codings.columns,
        tuple(values),
        true_edges,
        raw.source,
        codings.notes,
        available=missing == "available",
        unit=raw.unit,
        questions=raw.questions,
        reading_options=raw.reading_options,
    )


def _numbers(coding: Coding, raw: RawTable, kept: NDArray[np.bool_] | slice) -> NDArray[np.float64]:
    """A continuous column, clipped to its bounds."""
    column = coding.column
    assert column.bounds is not None
    owner, distinct = pd.factorize(raw.cells(coding.wanted)[kept])
    known = coding.wanted.read(pd.Series(distinct, dtype=object))
    # A missing cell has position -1, so it gets the last entry.
    numbers = np.append(parse_numbers(known), np.nan)[owner]
    if np.isnan(numbers).any():
        raise DataError("continuous-with-missing", name=short(column.name))
    numbers = np.asarray(np.clip(numbers, *column.bounds))
    if is_constant(column, numbers):
        raise DataError("column-constant", constant=short(column.name))
    return numbers
