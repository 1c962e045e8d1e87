"""DuckDB, an analytical database inside this process, set up to keep to itself.

It reads Parquet files where they are.  Nothing that it works on is written to disk: spilling is
turned off, so that a query that needs more than its memory fails instead.  It loads no extensions
and reaches no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from privcore.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from duckdb import DuckDBPyConnection

THREADS = 2


class OutOfMemory(DataError):
    """A query needs more memory than it may use, and nobody knows another way."""


def connect(memory: int) -> DuckDBPyConnection:
    """A database of its own with at most `memory` bytes for a query, and `THREADS` threads.

    Raises DataError if the package is not installed.
    """
    try:
        import duckdb
    except ImportError:
        raise DataError(
            "Counting Parquet files where they are needs the package duckdb; install it with "
            "pip install duckdb."
        ) from None
    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{memory // 1024}KiB",
            "threads": THREADS,
            "temp_directory": "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )
    # Otherwise the day of a moment would be that of wherever the machine is.
    connection.execute("SET TimeZone = 'UTC'")
    return connection


@contextmanager
def asking() -> Iterator[None]:
    """Turns what the database raises into OutOfMemory, or another DataError, without its text.

    Its messages may quote cells.
    """
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise OutOfMemory(
            "Reading the Parquet files needs more memory than it may take; allow more memory, or "
            "leave columns out."
        ) from None
    except duckdb.Error:
        raise DataError(
            "A Parquet file cannot be read; it may be damaged, or may have changed meanwhile."
        ) from None


def literal(value: Any) -> str:
    """A number, truth value or text as SQL."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"CAST('{value!r}' AS DOUBLE)"
    return "'" + str(value).replace("'", "''") + "'"


def scan(files: Sequence[str], columns: int, *, numbered: bool = False) -> str:
    """A FROM clause over Parquet files of the same columns, named c0, c1, … by position.

    Names in files are distinct by case, and those in SQL are not.  numbered: with a column `r`,
    the number of the row in its file, from 0.
    """
    listed = ", ".join(literal(file) for file in files)
    named = [f"c{i}" for i in range(columns)] + (["r"] if numbered else [])
    option = ", file_row_number = true" if numbered else ""
    return f"read_parquet([{listed}], hive_partitioning = false{option}) AS t({', '.join(named)})"
