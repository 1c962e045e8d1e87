"""A table in Parquet files that is never loaded whole: what is known of it, and how to count it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from privcore.data import refusals
from privcore.data.building import (
    GAPS_AS_LEVEL,
    Missing,
    column_of,
    cuts_of,
    notes_on_missing,
    used_columns,
)
from privcore.data.coding import MISSING, UNKNOWN
from privcore.data.dates import DateReading
from privcore.data.duck import asking, connect, literal, scan
from privcore.data.model import MAX_LEVELS, Column, Described, check_names, too_few_rows
from privcore.data.reading import MEMORY, MISSING_TEXTS, cell_text, is_unfit
from privcore.data.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema
from privcore.data.triage import Proposal, choose, proposals_of, propose_counted
from privcore.errors import DataError
from privcore.text import short

# One column of Parquet files as codes: the same codes as reading the table would give.
#
# DuckDB lists the distinct cells of a column; what each of them means is decided here, in the
# words of `reading` and `building`, and written back as one SQL expression.


if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# A level may be written in several ways, with spaces around it, and missing as NA and as NULL.
_MAX_DISTINCT = 4 * MAX_LEVELS
_WHOLE = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "HUGEINT",
    "UHUGEINT",
)
_NUMBERS = (*_WHOLE, "FLOAT", "DOUBLE", "DECIMAL")
# Rows that proposals are made from, of columns with more distinct cells than can be listed.
_SAMPLE = 100_000
# Dates as text that ISO 8601 stands for: an expression of the whole cell, and how it is read.
_DAY_AND_TIME = (
    r"\d{4}[-/ ]\d{1,2}[-/ ]\d{1,2}"
    r"([T ]([01]\d|2[0-3]):\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?"
)
_OTHER_DAYS = {r"\d{8}": "%Y%m%d", r"\d{4}\.\d{2}\.\d{2}": "%Y.%m.%d", r"\d{4}-\d{2}": "%Y-%m"}
# As SQL: the white space of ASCII, which is taken off a cell.
_SPACES = "chr(32) || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)"
_PARTS = {
    "month": "monthname({0})",
    "weekday": "dayname({0})",
    "quarter": "year({0}) || ' Q' || quarter({0})",
    "year": "CAST(year({0}) AS VARCHAR)",
}


@dataclass(frozen=True)
class CodedColumn:
    """A column and how its codes are computed.

    code: an SQL expression that is 0..levels-1, `MISSING`, or `UNKNOWN`: outside the levels, or
    not a finite number.  missing: number of rows without a value, where that is no level.  was_cut:
    whether the levels are intervals of numbers.
    """

    column: Column
    code: str
    missing: int
    was_cut: bool = False

    @property
    def present(self) -> str:
        """An SQL condition: the row has a value, if only an unknown one."""
        return f"({self.code}) <> {MISSING}"


@dataclass(frozen=True)
class Cells:
    """Where the cells of a column are: `name` of a FROM clause, with its SQL type.

    about: how many distinct ones there are, roughly.
    """

    connection: DuckDBPyConnection
    table: str
    name: str
    sql_type: str
    about: int

    @property
    def number(self) -> str | None:
        """The cells as floating-point numbers, None if they are stored as something else.

        Text that is no number is NULL.
        """
        if self.sql_type == "VARCHAR":
            return f"TRY_CAST({self.text} AS DOUBLE)"
        return f"CAST({self.name} AS DOUBLE)" if self.sql_type.startswith(_NUMBERS) else None

    @property
    def text(self) -> str:
        """Cells of text without spaces around them."""
        return f"trim({self.name}, {_SPACES})"

    @property
    def gap(self) -> str:
        """An SQL condition: a cell of text or of numbers is missing."""
        if self.sql_type == "VARCHAR":
            texts = ", ".join(map(literal, sorted(MISSING_TEXTS)))
            return f"({self.name} IS NULL OR lower({self.text}) IN ({texts}))"
        # Not a number is what a missing number is written as.
        return f"({self.number} IS NULL OR isnan({self.number}))"

    def parts(self, date: DateReading) -> Cells:
        """A part of each date as text, NULL where there is none; dates are in UTC."""
        if self.sql_type.startswith(("DATE", "TIMESTAMP")):
            day = f"make_timestamp(epoch_us({self.name}))"
        elif self.sql_type != "VARCHAR":
            day = "CAST(NULL AS TIMESTAMP)"
        elif date.format == "ISO8601":
            others = " ".join(
                f"WHEN regexp_full_match({self.text}, {literal(shape)}) "
                f"THEN try_strptime({self.text}, {literal(form)})"
                for shape, form in _OTHER_DAYS.items()
            )
            day = (
                f"CASE WHEN regexp_full_match({self.text}, {literal(_DAY_AND_TIME)}) THEN "
                f"make_timestamp(epoch_us(TRY_CAST({self.text} AS TIMESTAMPTZ))) {others} END"
            )
        else:
            # The database takes 24 for a year of four digits.
            day = (
                f"CASE WHEN regexp_matches({self.text}, '[0-9]{{4}}') "
                f"THEN try_strptime({self.text}, {literal(date.format)}) END"
            )
        return replace(self, name=f"({_PARTS[date.part].format(day)})", sql_type="VARCHAR", about=0)

    @property
    def written(self) -> str:
        """The cells as literals can be compared with."""
        plain = self.sql_type in (*_WHOLE, "VARCHAR", "BOOLEAN")
        return self.name if plain else f"CAST({self.name} AS VARCHAR)"

    def asked(self, expressions: str, where: str = "") -> tuple[Any, ...]:
        """One row of aggregates."""
        with asking():
            query = f"SELECT {expressions} FROM {self.table}{where}"
            row: tuple[Any, ...] = self.connection.sql(query).fetchall()[0]
        return row

    def distinct(self) -> list[_Distinct] | None:
        """All distinct cells, None if there are more than can be levels."""
        if self.about > 2 * _MAX_DISTINCT:
            # Listing all values of an identifier would take more memory than counting does.
            return None
        listed = self._listed(f"LIMIT {_MAX_DISTINCT + 1}")
        return None if len(listed) > _MAX_DISTINCT else listed

    def proposed(self, column: str, rows: int, intervals: int) -> Proposal:
        """What `triage` proposes, from the distinct cells of all `rows`, or else from a sample.

        Which rows are in the sample hangs on their numbers alone.
        """
        every, listed = 1, self.distinct()
        if listed is None:
            every = -(-rows // _SAMPLE)
            listed = self._listed(where=f"WHERE hash(r) % {every} = 0" if every > 1 else "")
        counts: dict[str, int] = {}
        for cell in listed:
            if cell.text is not None:
                counts[cell.text] = counts.get(cell.text, 0) + cell.rows
        of_text = pd.Series(list(counts.values()), index=pd.Index(list(counts), dtype=object))
        return propose_counted(
            column, of_text.astype("int64"), sum(cell.rows for cell in listed), intervals, every
        )

    def _listed(self, limit: str = "", *, where: str = "") -> list[_Distinct]:
        query = (
            f"SELECT {self.written}, any_value({self.name}), count(*) FROM {self.table} {where} "
            f"GROUP BY 1 {limit}"
        )
        with asking():
            rows = self.connection.sql(query).fetchall()
        return [
            _Distinct(None if written is None else literal(written), cell_text(value), times)
            for written, value, times in rows
        ]


class _Distinct(NamedTuple):
    """A cell as SQL, None for NULL; its text, None if it is missing; and its number of rows."""

    sql: str | None
    text: str | None
    rows: int


def coded(cells: Cells, wanted: ColumnSchema, *, gaps: bool) -> CodedColumn:
    """A column that is to be read as `wanted`.

    gaps: whether missing values are a level, also of columns whose schema has none for them.
    Raises DataError for a column that cannot be read in this way.
    """
    if wanted.date is not None:
        cells = cells.parts(wanted.date)
    elif wanted.kind == "continuous":
        return _numeric(cells, wanted, gaps)
    distinct = cells.distinct()
    if distinct is None:
        raise DataError(refusals.too_many_levels(wanted.name))
    return _categorical(cells, distinct, wanted, gaps)


def _categorical(
    cells: Cells, distinct: list[_Distinct], wanted: ColumnSchema, gaps: bool
) -> CodedColumn:
    missing = sum(cell.rows for cell in distinct if cell.text is None)
    column = column_of(wanted, gaps=bool(missing and gaps))
    position = {level: code for code, level in enumerate(column.levels)}
    absent, other = position.get(MISSING_LEVEL, MISSING), position.get(OTHER_LEVEL, UNKNOWN)
    branches = " ".join(
        f"WHEN {cell.sql} THEN {absent if cell.text is None else position.get(cell.text, other)}"
        for cell in distinct
        if cell.sql is not None
    )
    present = f"CASE {cells.written} {branches} ELSE {other} END" if branches else str(absent)
    code = f"CASE WHEN {cells.name} IS NULL THEN {absent} ELSE {present} END"
    return CodedColumn(column, code, 0 if absent != MISSING else missing)


def _numeric(cells: Cells, wanted: ColumnSchema, gaps: bool) -> CodedColumn:
    name, number = short(wanted.name), cells.number
    if number is None:
        raise DataError(
            f"Column {name!r} is not stored as numbers; write it as numbers, or list its levels."
        )
    cuts = cuts_of(wanted)
    if not cuts:
        raise DataError(
            f"Column {name!r} is continuous, and only levels are counted in files; cut it by bins "
            "or cut points."
        )
    strange = f"({number} IS NULL OR NOT isfinite({number}))"
    gap = strange if wanted.has_missing_level else cells.gap
    missing = int(cells.asked(f"count(*) FILTER ({gap})")[0])
    column = column_of(wanted, gaps=bool(missing and gaps))
    absent = len(cuts) + 1 if len(column.levels) > len(cuts) + 1 else MISSING
    below = " ".join(f"WHEN {number} < {literal(c)} THEN {code}" for code, c in enumerate(cuts))
    code = (
        f"CASE WHEN {gap} THEN {absent} WHEN {strange} THEN {UNKNOWN} {below} ELSE {len(cuts)} END"
    )
    return CodedColumn(column, code, 0 if absent != MISSING else missing, was_cut=True)


@dataclass(frozen=True, eq=False)
class ParquetTable(Described):
    """Rows of categorical columns in Parquet files, which must not change while they are used.

    files: their paths, in the order of the rows.  width: number of columns in them.
    codes: per column, an SQL expression over `duck.scan` that gives 0..levels-1.
    where: a condition on the rows, empty for all.  memory: bytes that counting may take.
    The other fields are those of `Dataset`.
    """

    name: str
    columns: tuple[Column, ...]
    files: tuple[str, ...]
    width: int
    codes: tuple[str, ...]
    rows: int
    where: str = ""
    true_edges: tuple[tuple[str, str], ...] | None = None
    notes: tuple[str, ...] = ()
    memory: int = MEMORY
    available: bool = False

    @property
    def n(self) -> int:
        return self.rows


def open_parquet(
    path: str | Path,
    schema: Sequence[ColumnSchema] | None = None,
    *,
    missing: Missing = "refuse",
    memory: int = MEMORY,
) -> ParquetTable:
    """A Parquet file, or all of a folder in the order of their names.

    schema: how columns are read; those that it does not list are left out.  None is what
    `triage_parquet` proposes from the rows, which no guarantee covers.
    missing: as for `build_dataset`, whose codes these are, row by row.

    The columns are looked at once, one after the other.  Raises DataError for files that are not
    there, not Parquet, or not of the same columns, for columns of numbers that are not cut, and
    for whatever `build_dataset` refuses; ParameterError for another `missing`.
    """
    opened = _Opened.at(Path(path), memory)
    if schema is None:
        schema = [proposal.schema for proposal in choose(opened.proposals())]
    columns = [
        coded(opened.cells(wanted.name), wanted, gaps=missing in GAPS_AS_LEVEL)
        for wanted in used_columns(schema, opened.names, missing)
    ]
    missed = {c.column.name: c.missing for c in columns if c.missing}
    if missed and missing == "refuse":
        raise DataError(refusals.gaps(missed))
    where = " AND ".join(c.present for c in columns if c.missing) if missing == "drop" else ""
    rows = _checked_rows(opened.connection, scan(opened.files, len(opened.names)), where, columns)
    return ParquetTable(
        name=Path(path).name,
        columns=tuple(c.column for c in columns),
        files=opened.files,
        width=len(opened.names),
        codes=tuple(c.code for c in columns),
        rows=rows,
        where=where,
        notes=notes_on_missing([c.column for c in columns], missing),
        memory=memory,
        available=missing == "available",
    )


def triage_parquet(
    path: str | Path, intervals: int | None = None, *, memory: int = MEMORY
) -> list[Proposal]:
    """What `triage` proposes for the columns of Parquet files, which are not loaded.

    Of columns with more than a few thousand distinct cells about 100,000 rows are looked at.
    Raises DataError for files that are not there, not Parquet, or not of the same columns.
    """
    return _Opened.at(Path(path), memory).proposals(intervals)


@dataclass(frozen=True)
class _Opened:
    """Files of the same columns, with the SQL type and rough number of distinct cells of each."""

    connection: DuckDBPyConnection
    files: tuple[str, ...]
    names: list[str]
    types: list[str]
    about: list[int]
    rows: int

    @classmethod
    def at(cls, path: Path, memory: int) -> _Opened:
        files = _files(path)
        names = _names(files)
        connection = connect(memory // 2)
        table = scan(files, len(names))
        with asking():
            types = [str(kind) for kind in connection.sql(f"SELECT * FROM {table} LIMIT 0").types]
            counts = ", ".join(f"approx_count_distinct(c{i})" for i in range(len(names)))
            rows, *about = connection.sql(f"SELECT count(*), {counts} FROM {table}").fetchall()[0]
        return cls(connection, files, names, types, about, rows)

    def cells(self, name: str) -> Cells:
        at = self.names.index(name)
        cell, sql_type = f"c{at}", self.types[at]
        if sql_type == "TIMESTAMP WITH TIME ZONE":
            cell, sql_type = f"make_timestamp(epoch_us({cell}))", "TIMESTAMP"
        table = scan(self.files, len(self.names), numbered=True)
        return Cells(self.connection, table, cell, sql_type, self.about[at])

    def proposals(self, intervals: int | None = None) -> list[Proposal]:
        if self.rows < 2:
            raise DataError(too_few_rows(self.rows))
        return proposals_of(
            self.names,
            self.rows,
            lambda name, parts: self.cells(name).proposed(name, self.rows, parts),
            intervals,
        )


def _files(path: Path) -> tuple[str, ...]:
    if path.is_dir():
        inside = (p for p in path.rglob("*") if p.suffix.lower() in (".parquet", ".pq"))
        files = tuple(str(p) for p in sorted(inside) if p.is_file())
        if not files:
            raise DataError(f"The folder {short(path)!r} holds no Parquet files; check its name.")
        return files
    if not path.is_file():
        raise DataError(f"The file {short(path)!r} cannot be read; check its name.")
    return (str(path),)


def _names(files: tuple[str, ...]) -> list[str]:
    """The columns of the files; raises DataError unless they are the same in all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schemas: list[Any] = []
    for file in files:
        try:
            schemas.append(pq.read_schema(file))
        except (pa.ArrowException, OSError, ValueError):
            raise DataError(
                f"{short(Path(file).name)!r} is not a readable Parquet file; convert the table to "
                "Parquet, or give a smaller one as --csv."
            ) from None
    first = schemas[0]
    for file, other in zip(files, schemas, strict=True):
        if other.names != first.names or other.types != first.types:
            raise DataError(
                f"{short(Path(file).name)!r} has other columns, or other types, than "
                f"{short(Path(files[0]).name)!r}; give files of the same columns."
            )
    names = [str(name) for name in first.names]
    check_names(names)
    for field in first:
        if is_unfit(field.type):
            raise DataError(
                f"Column {short(field.name)!r} holds lists or bytes; keep one value in each cell."
            )
    return names


def _checked_rows(
    connection: DuckDBPyConnection, table: str, where: str, columns: Sequence[CodedColumn]
) -> int:
    """How many rows there are; raises DataError for those that cannot be used."""
    inside = ", ".join(f"{column.code} AS k{i}" for i, column in enumerate(columns))
    inner = f"(SELECT {inside} FROM {table}" + (f" WHERE {where})" if where else ")")
    ends = ", ".join(f"min(k{i}), max(k{i})" for i in range(len(columns)))
    with asking():
        rows, *limits = connection.sql(f"SELECT count(*), {ends} FROM {inner}").fetchall()[0]
    if rows < 2:
        raise DataError(refusals.too_few_left(rows) if where else too_few_rows(rows))
    ranges = zip(columns, limits[::2], limits[1::2], strict=True)
    for i, (column, low, high) in enumerate(ranges):
        if low == UNKNOWN:
            with asking():
                bad = connection.sql(f"SELECT count(*) FROM {inner} WHERE k{i} = {UNKNOWN}")
                unknown = bad.fetchall()[0][0]
            refuse = refusals.not_finite if column.was_cut else refusals.outside
            raise DataError(refuse(column.column.name, unknown))
        constant = not column.column.declared and low == high
        if constant or len(column.column.levels) == 1:
            raise DataError(refusals.constant(column.column.name))
    return int(rows)
