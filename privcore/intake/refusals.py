"""Error messages for tables that are refused; each is one sentence and quotes no cell."""

from __future__ import annotations

from collections.abc import Mapping

from privcore.data.model import MAX_LEVELS
from privcore.text import counted, short


def outside(name: str, rows: int) -> str:
    """The error message for a column with `rows` values that are not among its levels."""
    return (
        f"Column {short(name)!r} has {counted(rows, 'row')} with a value outside its levels; add "
        "the level, or correct the data."
    )


def not_finite(name: str, rows: int) -> str:
    """The error message for a numeric column with `rows` values that are not finite numbers."""
    return (
        f"Column {short(name)!r} has {counted(rows, 'row')} without a finite number; make the "
        "column nominal, or correct the data."
    )


def too_many_levels(name: str) -> str:
    """The error message for a column with too many levels."""
    return (
        f"Column {short(name)!r} has more than {MAX_LEVELS:,} levels; leave it out, or cut it "
        "into intervals if it is numeric."
    )


def constant(name: str) -> str:
    """The error message for a column that has the same value in every row."""
    return f"Column {short(name)!r} has the same value in every row; leave it out."


def too_few_left(rows: int) -> str:
    """The error message for a table with only `rows` complete rows."""
    return (
        f"Dropping rows with missing values leaves too few rows ({rows}); leave out the columns "
        "with the most missing values instead."
    )


def gaps(gaps: Mapping[str, int]) -> str:
    """The error message for columns with missing values; gaps: number of such values by column."""
    worst = sorted(gaps.items(), key=lambda item: -item[1])
    named = ", ".join(f"{short(name, 30)} ({count:,})" for name, count in worst[:5])
    more = f" and {len(worst) - 5} more columns" if len(worst) > 5 else ""
    return (
        f"Values are missing in {named}{more}; drop the rows with missing values, make missing "
        "values a level of their own, or leave these columns out."
    )
