"""A table in Parquet files that is never loaded whole: what is known of it, and how to count it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privcore.data import refusals
from privcore.data.building import Missing, notes_on_missing, used_columns
from privcore.data.coding import UNKNOWN
from privcore.data.duck import asking, connect, scan
from privcore.data.model import Column, Described, check_names, too_few_rows
from privcore.data.parquet_column import Cells, CodedColumn, coded
from privcore.data.reading import MEMORY, is_unfit
from privcore.data.schema import ColumnSchema
from privcore.errors import DataError
from privcore.text import short

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
    found = []
    for name, wanted in used:
        at = names.index(name)
        cells = Cells(connection, table, f"c{at}", types[at], about[at])
        found.append(coded(cells, name, wanted, gaps=missing == "level"))
    missed = {c.column.name: c.missing for c in found if c.missing}
    if missed and missing == "refuse":
        raise DataError(refusals.gaps(missed))
    where = " AND ".join(c.present for c in found if c.missing) if missing == "drop" else ""
    rows = _checked_rows(connection, table, where, found)
    return ParquetTable(
        name=Path(path).name,
        columns=tuple(c.column for c in found),
        files=files,
        width=len(names),
        codes=tuple(c.code for c in found),
        rows=rows,
        where=where,
        notes=notes_on_missing([c.column for c in found], missing),
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
        rows, *found = connection.sql(f"SELECT count(*), {ends} FROM {inner}").fetchall()[0]
    if rows < 2:
        raise DataError(refusals.too_few_left(rows) if where else too_few_rows(rows))
    for i, (column, low, high) in enumerate(zip(columns, found[::2], found[1::2], strict=True)):
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
