"""Why a table is refused, one sentence each, wherever its rows are; none quotes a cell."""

from __future__ import annotations

from collections.abc import Mapping

from privcore.data.model import MAX_LEVELS
from privcore.text import short


def outside(name: str, rows: int) -> str:
    """That so many rows of a column have a value that is none of its levels."""
    return (
        f"Column {short(name)!r} has {rows:,} rows with a value outside its levels; add the level, "
        "or correct the data."
    )


def not_finite(name: str, rows: int) -> str:
    """That so many rows of a numeric column are no finite numbers."""
    return (
        f"Column {short(name)!r} has {rows:,} rows that are not finite numbers; make it nominal, "
        "or correct the data."
    )


def too_many_levels(name: str) -> str:
    """That a column has more levels than are handled."""
    return (
        f"Column {short(name)!r} has more than {MAX_LEVELS:,} levels; leave it out, or cut it "
        "into intervals if it is numeric."
    )


def constant(name: str) -> str:
    """That a column has nothing to tell."""
    return f"Column {short(name)!r} has the same value in every row; leave it out."


def too_few_left(rows: int) -> str:
    """That dropping rows with missing values leaves next to none."""
    return (
        f"Dropping rows with missing values leaves {rows}; leave out the columns "
        "with the most missing values instead."
    )


def gaps(gaps: Mapping[str, int]) -> str:
    """Which columns have missing values, and what to do; gaps: their number by column."""
    worst = sorted(gaps.items(), key=lambda item: -item[1])
    named = ", ".join(f"{short(name, 30)} ({count:,})" for name, count in worst[:5])
    more = f" and {len(worst) - 5} more columns" if len(worst) > 5 else ""
    return (
        f"Values are missing in {named}{more}; choose to drop those rows, make missing a level of "
        "its own, or leave the columns out."
    )
