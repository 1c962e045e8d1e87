"""Checks whether a run can add to an earlier release of the same rows."""

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

    Raises ParameterError if the algorithm or the protection does not allow an addition, and
    DataError if the earlier release was made from a different table.
    """
    before, only = earlier
    if before is None:
        if only:
            raise ParameterError(
                "Single pairs can be measured only in addition to an earlier release; give such a "
                "release, or do not choose pairs."
            )
        return
    if only and before.form != "sums":
        raise ParameterError(
            "The earlier release measured all columns together, so an addition must measure all "
            "columns too; do not choose pairs."
        )
    if chosen.again is not None and before.n == source.n and not before.fits(_own_levels(source)):
        raise DataError(
            "The earlier release has other columns or levels than this table; give the table that "
            "the release was made from."
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
            "A release that hides the number of rows uses a random choice of rows, so an earlier "
            "release cannot be added to; make a new release."
        )
    if not before.topped:
        raise ParameterError(
            "A combination of several releases cannot be added to; add to a single release."
        )
    if before.n != source.n:
        raise DataError(
            f"The earlier release was made from {before.n:,} rows, but this table has "
            f"{source.n:,}; give the table that the release was made from."
        )


def _own_levels(source: MomentSource | PublicColumns) -> tuple[int, ...]:
    """Number of levels of each column, 0 for numeric columns."""
    if isinstance(source, PublicColumns):
        return source.own_levels
    if has_levels(source):
        return tuple(source.levels)
    return tuple(source.own_levels) if has_numbers(source) else ()
