"""One column of Parquet files as codes: the same codes as reading the table would give.

DuckDB lists the distinct cells of a column; what each of them means is decided here, in the words
of `reading` and `building`, and written back as one SQL expression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from privcore.data import refusals
from privcore.data.building import column_of, cuts_of
from privcore.data.coding import MISSING, UNKNOWN
from privcore.data.duck import asking, literal
from privcore.data.model import MAX_LEVELS, Column
from privcore.data.reading import cell_text
from privcore.data.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema, infer_column
from privcore.errors import DataError
from privcore.text import short

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
