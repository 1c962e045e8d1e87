"""Which sets of columns a round of the search counts, from what was released before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from privcore.algorithms.moment_search.dags.dag_search import Parents

# Cells of a table of more than four columns.  The noise on every count that is read from a table
# grows with the cells of the whole: a test on few of many columns has the noise of all.
_MANY_CELLS = 4000
_FEW_COLUMNS = 4


def choose_tables(
    adjacent: Mapping[int, set[int]],
    dag: Parents,
    strength: Callable[[int, int], float],
    levels: Sequence[int],
    cells: float,
) -> list[tuple[int, ...]]:
    """Sets of columns to count: each column with its neighbours, the strongest first.

    cells: of a table, at most; sets of many columns have fewer.  What does not fit goes into
    further tables of the same column.  Beside these, each column with its causes in the best DAG
    so far, where that fits.  Sets within others are left out.
    """
    families = (frozenset({column, *causes}) for column, causes in enumerate(dag) if causes)
    chosen = {family for family in families if prod(levels[c] for c in family) <= cells}
    for column, neighbours in adjacent.items():
        left = sorted(neighbours, key=lambda other: (-strength(column, other), other))
        while left:
            table, size, rest = [column], levels[column], []
            for other in left:
                most = cells if len(table) < _FEW_COLUMNS else min(cells, _MANY_CELLS)
                if size * levels[other] <= most:
                    table.append(other)
                    size *= levels[other]
                else:
                    rest.append(other)
            if len(table) == 1:
                break
            chosen.add(frozenset(table))
            left = rest
    return sorted(tuple(sorted(t)) for t in chosen if not any(t < other for other in chosen))
