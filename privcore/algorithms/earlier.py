"""What a run adds to: a release before it, of the same rows."""

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
    """Whether a run can add to what an earlier one has released.

    Raises ParameterError for an algorithm or a protection that cannot, and DataError for another
    table.
    """
    before, only = earlier
    if before is None:
        if only:
            raise ParameterError("Single pairs are measured only to add to an earlier release.")
        return
    if only and before.form != "sums":
        raise ParameterError(
            "This release is measured as a whole, and so is what adds to it; leave the pairs out."
        )
    if chosen.again is not None and before.n == source.n and not before.fits(_own_levels(source)):
        raise DataError(
            "The earlier release is of other columns or levels; give the table that was released."
        )
    if not all(0 <= a < b < len(source.names) for a, b in only):
        raise ParameterError("A pair that is to be measured is not one of two columns.")
    if chosen.again is None:
        raise ParameterError(
            f"{chosen.name} keeps nothing that a further release could add to; choose "
            "moment-search."
        )
    if protection.relation == ADDED:
        raise ParameterError(
            "A release that hides the number of rows has its own rows drawn, and cannot be added "
            "to; release anew."
        )
    if not before.topped:
        raise ParameterError(
            "What was put together from several releases cannot be added to; add to one of them."
        )
    if before.n != source.n:
        raise DataError(
            f"The earlier release is of {before.n:,} rows, and this table has {source.n:,}; give "
            "the table that was released."
        )


def _own_levels(source: MomentSource | PublicColumns) -> tuple[int, ...]:
    """Levels of each column, 0 of numbers."""
    if isinstance(source, PublicColumns):
        return source.own_levels
    if has_levels(source):
        return tuple(source.levels)
    return tuple(source.own_levels) if has_numbers(source) else ()
