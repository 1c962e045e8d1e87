"""How many tests of one order of a search read the same columns, to tell which merges pay.

A test of x and y given S takes S from the neighbours of x or from those of y, so that all its
columns lie within one column and its neighbours.  The numbers are upper bounds: sets within the
neighbours of both count twice, and a pair that has been separated is not tested further.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import comb

import numpy as np

from privcore.arrays import Integers

Asked = dict[tuple[int, ...], int]


def asked_of_groups(
    starts: Sequence[int], adjacent: Sequence[Collection[int]], order: int, least: int
) -> Asked:
    """Tests that touch exactly `order` + 2 groups, by the groups' numbers; at least `least`.

    Columns are cut into groups in turn.  starts: the first column of each.  adjacent: neighbours
    of each column.  order: 0 or 1.
    """
    around = np.zeros((len(adjacent), len(adjacent)), dtype=np.int64)
    for column, neighbours in enumerate(adjacent):
        around[column, list(neighbours)] = 1
    # How many neighbours of each column each group has, (p, groups).
    of_column: Integers = np.add.reduceat(around, starts, axis=1)
    if order == 0:
        return _pairs(np.add.reduceat(of_column, starts, axis=0), 0, least)
    found: Asked = {}
    for g, (start, end) in enumerate(zip(starts, [*starts[1:], len(adjacent)], strict=True)):
        # The column that the other two are neighbours of is in group g, or in one of the others.
        within = of_column[start:end].T @ of_column[start:end]
        beyond = np.add.reduceat(of_column[:, g, None] * of_column, starts, axis=0)
        tests = 2 * (within + beyond + beyond.T)
        later = _pairs(tests[g + 1 :, g + 1 :], g + 1, least)
        found |= {(g, *others): count for others, count in later.items()}
    return found


def asked_of_families(adjacent: Sequence[Collection[int]], order: int, least: int) -> Asked:
    """Tests of a column and a neighbour given `order` others of its neighbours, by these columns.

    Columns are sorted; families with fewer than `least` tests are left out.
    """
    found: Asked = {}
    for column, neighbours in enumerate(adjacent):
        family = tuple(sorted((column, *neighbours)))
        tests = len(neighbours) * comb(max(len(neighbours) - 1, 0), order)
        found[family] = found.get(family, 0) + tests
    return {family: tests for family, tests in found.items() if tests >= least}


def _pairs(tests: Integers, first: int, least: int) -> Asked:
    """The entries above the diagonal, of rows and columns numbered from `first`."""
    rows, columns = np.nonzero(np.triu(tests >= least, 1))
    pairs = zip((rows + first).tolist(), (columns + first).tolist(), strict=True)
    return dict(zip(pairs, tests[rows, columns].tolist(), strict=True))
