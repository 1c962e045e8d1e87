"""A table in Parquet files that is never loaded whole: what is known of it, and how to count it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from privcore.data import refusals
from privcore.data.building import Missing, column_of, cuts_of, notes_on_missing, used_columns
from privcore.data.coding import MISSING, UNKNOWN
from privcore.data.duck import asking, connect, literal, scan
from privcore.data.model import MAX_LEVELS, Column, Described, check_names, too_few_rows
from privcore.data.reading import MEMORY, cell_text, is_unfit
from privcore.data.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema, infer_column
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
        """The cells as floating-point numbers, None if they are stored as something else."""
        return f"CAST({self.name} AS DOUBLE)" if self.sql_type.startswith(_NUMBERS) else None

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
        query = (
            f"SELECT {self.written}, any_value({self.name}), count(*) FROM {self.table} "
            f"GROUP BY 1 LIMIT {_MAX_DISTINCT + 1}"
        )
        with asking():
            rows = self.connection.sql(query).fetchall()
        if len(rows) > _MAX_DISTINCT:
            return None
        return [
            _Distinct(None if written is None else literal(written), cell_text(value), times)
            for written, value, times in rows
        ]


class _Distinct(NamedTuple):
    """A cell as SQL, None for NULL; its text, None if it is missing; and its number of rows."""

    sql: str | None
    text: str | None
    rows: int


def coded(cells: Cells, name: str, wanted: ColumnSchema | None, *, gaps: bool) -> CodedColumn:
    """The column called `name`.

    wanted: how it is to be read; None for a first guess from the data, which is not public.
    gaps: whether missing values are a level, also of columns whose schema has none for them.
    Raises DataError for a column that cannot be read in this way.
    """
    if wanted is not None and wanted.date is not None:
        raise DataError(
            f"Column {short(name)!r} is read as a part of a date, which --table does not do; put "
            "that part in a column of its own, or leave the column out."
        )
    if wanted is not None and wanted.kind == "continuous":
        return _numeric(cells, wanted, gaps)
    distinct = cells.distinct()
    if wanted is None:
        wanted = _guessed(cells, distinct, name)
        if wanted.kind == "continuous":
            return _numeric(cells, wanted, gaps)
    if distinct is None:
        raise DataError(refusals.too_many_levels(name))
    return _categorical(cells, distinct, wanted, gaps)


def _guessed(cells: Cells, distinct: list[_Distinct] | None, name: str) -> ColumnSchema:
    """As `infer_schema`, of a number with more values than can be levels by its bounds alone."""
    if distinct is not None:
        return infer_column(name, pd.Series([cell.text for cell in distinct], dtype=object))
    if cells.number is None:
        raise DataError(refusals.too_many_levels(name))
    low, high = cells.asked(
        f"min({cells.number}), max({cells.number})", f" WHERE isfinite({cells.number})"
    )
    return ColumnSchema(name, "continuous", bounds=(low, high), bins=4)


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
    # Not a number is what a missing number is written as.
    gap = f"({number} IS NULL OR isnan({number}))"
    missing = int(cells.asked(f"count(*) FILTER ({gap})")[0])
    column = column_of(wanted, gaps=bool(missing and gaps))
    absent = len(cuts) + 1 if len(column.levels) > len(cuts) + 1 else MISSING
    below = " ".join(f"WHEN {number} < {literal(c)} THEN {code}" for code, c in enumerate(cuts))
    code = (
        f"CASE WHEN {gap} THEN {absent} WHEN isinf({number}) THEN {UNKNOWN} "
        f"{below} ELSE {len(cuts)} END"
    )
    return CodedColumn(column, code, 0 if absent != MISSING else missing, was_cut=True)


if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


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

    schema: how columns are read; those that it does not list are left out.  None reads levels and
    bounds from the data by the rules of `infer_schema`, and no guarantee covers them.
    missing: as for `build_dataset`, whose codes these are, row by row.

    The columns are looked at once, one after the other.  Raises DataError for files that are not
    there, not Parquet, or not of the same columns, for columns of numbers that are not cut, and
    for whatever `build_dataset` refuses; ParameterError for another `missing`.
    """
    files = _files(Path(path))
    names = _names(files)
    if schema is None:
        used: list[tuple[str, ColumnSchema | None]] = [(name, None) for name in names]
    else:
        used = [(column.name, column) for column in used_columns(schema, names, missing)]
    connection = connect(memory // 2)
    table = scan(files, len(names))
    with asking():
        types = [str(kind) for kind in connection.sql(f"SELECT * FROM {table} LIMIT 0").types]
        counts = ", ".join(f"approx_count_distinct(c{i})" for i in range(len(names)))
        about = connection.sql(f"SELECT {counts} FROM {table}").fetchall()[0]
    columns = []
    for name, wanted in used:
        at = names.index(name)
        cells = Cells(connection, table, f"c{at}", types[at], about[at])
        columns.append(coded(cells, name, wanted, gaps=missing == "level"))
    missed = {c.column.name: c.missing for c in columns if c.missing}
    if missed and missing == "refuse":
        raise DataError(refusals.gaps(missed))
    where = " AND ".join(c.present for c in columns if c.missing) if missing == "drop" else ""
    rows = _checked_rows(connection, table, where, columns)
    return ParquetTable(
        name=Path(path).name,
        columns=tuple(c.column for c in columns),
        files=files,
        width=len(names),
        codes=tuple(c.code for c in columns),
        rows=rows,
        where=where,
        notes=notes_on_missing([c.column for c in columns], missing),
        memory=memory,
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
