"""Runs that add to an earlier release of the same rows."""

from __future__ import annotations

from privcore.algorithms.protecting import Protection
from privcore.algorithms.search.model import Algorithm
from privcore.algorithms.search.result import Earlier
from privcore.counts import MomentSource, PublicColumns, has_levels, has_numbers
from privcore.errors import DataError, ParameterError
from privcore.unit import ADDED


def check_before(
    chosen: Algorithm,
    source: MomentSource | PublicColumns,
    protection: Protection,
    earlier: Earlier,
) -> None:
    """Check that a run can add to an earlier release.

    Raises ParameterError if the algorithm or the protection does not allow it, and DataError if the
    table is not the one that was released.
    """
    before, only = earlier
    if before is None:
        if only:
            raise ParameterError(
                "Single pairs can be measured only in addition to an earlier release."
            )
        return
    if only and before.form != "sums":
        raise ParameterError(
            "The earlier release measured all columns together, and an addition must do the same; "
            "do not choose pairs."
        )
    if chosen.again is not None and before.n == source.n and not before.fits(_own_levels(source)):
        raise DataError(
            "The earlier release has other columns or levels; give the table that was released."
        )
    if not all(0 <= a < b < len(source.names) for a, b in only):
        raise ParameterError(
            "A pair to be measured must consist of two different columns of the table."
        )
    if chosen.again is None:
        raise ParameterError(
            f"{chosen.name} keeps no released numbers that a further release could add to; choose "
            "moment-search."
        )
    if protection.relation == ADDED:
        raise ParameterError(
            "A release that hides the number of rows draws its own rows, so it cannot be added to; "
            "make a new release."
        )
    if not before.topped:
        raise ParameterError(
            "A combination of several releases cannot be added to; add to one of them."
        )
    if before.n != source.n:
        raise DataError(
            f"The earlier release was made from {before.n:,} rows, but this table has "
            f"{source.n:,}; give the table that was released."
        )


def _own_levels(source: MomentSource | PublicColumns) -> tuple[int, ...]:
    """Number of levels of each column, 0 for numeric columns."""
    if isinstance(source, PublicColumns):
        return source.own_levels
    if has_levels(source):
        return tuple(source.levels)
    return tuple(source.own_levels) if has_numbers(source) else ()
