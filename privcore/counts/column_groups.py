"""Which columns to count together where a pass over the rows costs far more than a table.

Searches ask for thousands of small tables of two to five columns.  Columns are put into groups of
neighbours, and a table is cut out of the joint table of all groups that it touches: few passes
then serve many tables.  Groups depend on the levels alone, which are public.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

# Cells of a joint table; at most so many unique rows are kept of it.
CELLS = 1 << 18


def joint_columns(levels: tuple[int, ...], columns: Sequence[int]) -> tuple[int, ...]:
    """The columns to count for a table over `columns`, in increasing order, those among them."""
    wanted = tuple(sorted(set(columns)))
    groups = _groups(levels, len(wanted))
    touched = sorted({column for w in wanted for column in groups[w]})
    return tuple(touched) if prod(levels[c] for c in touched) <= CELLS else wanted


@lru_cache(maxsize=256)
def _groups(levels: tuple[int, ...], parts: int) -> list[range]:
    """Per column, its group, such that the joint table of `parts` groups has at most `CELLS`."""
    share = CELLS ** (1 / parts)
    groups: list[range] = []
    start, size = 0, 1
    for column, count in enumerate((*levels, 0)):
        if column == len(levels) or (column > start and size * count > share):
            groups += [range(start, column)] * (column - start)
            start, size = column, 1
        size *= count
    return groups
