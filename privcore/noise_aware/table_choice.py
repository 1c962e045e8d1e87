"""Which sets of columns a round of the search counts, from what was released before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence


def choose_tables(
    adjacent: Mapping[int, set[int]],
    strength: Callable[[int, int], float],
    levels: Sequence[int],
    cells: float,
) -> list[tuple[int, ...]]:
    """Sets of columns to count: each column with its neighbours, the strongest first.

    What does not fit into `cells` goes into further tables of the same column.  Sets within
    others are left out.
    """
    chosen: set[frozenset[int]] = set()
    for column, neighbours in adjacent.items():
        left = sorted(neighbours, key=lambda other: (-strength(column, other), other))
        while left:
            table, size, rest = [column], levels[column], []
            for other in left:
                if size * levels[other] <= cells:
                    table.append(other)
                    size *= levels[other]
                else:
                    rest.append(other)
            if len(table) == 1:
                break
            chosen.add(frozenset(table))
            left = rest
    return sorted(tuple(sorted(t)) for t in chosen if not any(t < other for other in chosen))
