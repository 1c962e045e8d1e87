"""Projections: rows merged over some columns, to count tables over these columns faster.

A table over few columns does not need all unique rows: a test uses three or four of, say, 20
columns. Columns are divided into groups; a table whose columns lie in at most three groups is
counted from the rows merged over these groups. For other tables, the skeleton search announces to
`prepare` the neighbourhoods (families) of the next tests, and all tests within a family use the
rows merged over the family. With many columns, most groups and families are used too rarely for
merging to save time, so `for_order` first counts the tests of a whole order.

Merged rows are in the order of their first occurrence where it matters: sub-samples are drawn in
this order, so a seed gives the same sub-sample however the rows were merged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.arrays import Integers
from privcore.kernels.arguments import Packed

Codes = NDArray[np.integer[Any]]

_KEY_LIMIT = 1 << 62
# Up to this many cells, a table with a cell per configuration is smaller than the rows' keys.
_DENSE_CELLS = 1 << 18


def unique_rows(columns: Sequence[Codes], levels: Sequence[int]) -> tuple[Integers, Integers]:
    """For each unique configuration, the index of its first row and the number of its rows.

    columns: one array per column with the codes 0..levels-1 of all rows, shape (n,).  Both results
    have shape (u,).
    """
    key, size = joint_key(columns, levels)
    if size > min(_DENSE_CELLS, 4 * key.size):
        return _unique(key)
    counts = np.bincount(key, minlength=size)
    first = np.empty(size, dtype=np.int64)
    # Assigned backwards, so that the first row of each configuration wins.
    first[key[::-1]] = np.arange(key.size - 1, -1, -1)
    occurring = np.flatnonzero(counts > 0)
    occurring = occurring[np.argsort(first[occurring])]
    return first[occurring], counts[occurring].astype(np.int64, copy=False)


def merged_rows(
    columns: Sequence[Codes], levels: Sequence[int], multiplicities: Integers
) -> tuple[list[Codes], Integers]:
    """Merges equal rows and adds up their multiplicities; the result is in no particular order.

    Returns the codes of the unique configurations, one array of shape (u,) per column, and their
    multiplicities, shape (u,).
    """
    key, size = joint_key(columns, levels)
    # The codes can be read off a key only if it was never hashed.
    if size > min(_DENSE_CELLS, 16 * key.size) or prod(levels) >= _KEY_LIMIT:
        first, counts = _unique(key, multiplicities)
        return [column[first] for column in columns], counts
    # Below 2^53 the float64 sums that np.bincount makes of integers are exact.
    sums = np.bincount(key, weights=multiplicities, minlength=size)
    # A mask is searched many times as fast as the sums.
    rest = np.flatnonzero(sums > 0)
    counts = sums[rest].astype(np.int64)
    codes: list[Codes] = []
    for column, count in zip(reversed(columns), reversed(levels), strict=True):
        rest, code = np.divmod(rest, count)
        codes.append(code.astype(column.dtype, copy=False))
    return codes[::-1], counts


def combine(columns: Sequence[Codes], levels: Sequence[int]) -> tuple[Integers, int]:
    """Numbers the joint configurations from 0.

    Returns the number of each row's configuration, shape (rows,), and how many configurations
    occur.
    """
    codes, uniques = pd.factorize(joint_key(columns, levels)[0])
    return codes.astype(np.int64, copy=False), len(uniques)


def joint_key(columns: Sequence[Codes], levels: Sequence[int]) -> tuple[Codes, int]:
    """An integer key for each row's joint configuration, and an exclusive upper bound on the keys.

    A key is a row's codes read as a mixed-radix number, in the smallest type that holds all keys.
    """
    kind = _type_for(levels)
    key: Codes = columns[0].astype(kind)
    size = levels[0]
    for column, count in zip(columns[1:], levels[1:], strict=True):
        if size * count >= _KEY_LIMIT:
            # Hashing numbers only the configurations that occur, so the product stays small.
            key, seen = pd.factorize(key)
            size = len(seen)
        key *= kind(count)
        key += column.astype(kind, copy=False)
        size *= count
    return key, size


def _type_for(levels: Sequence[int]) -> type[np.integer[Any]]:
    size = 1
    for count in levels:
        size *= count
    for kind, largest in ((np.uint8, 1 << 8), (np.uint16, 1 << 16), (np.int32, 1 << 31)):
        # The number of levels, as a factor, must fit as well.
        if size < largest:
            return kind
    return np.int64


def _unique(key: Codes, multiplicities: Integers | None = None) -> tuple[Integers, Integers]:
    """Like `unique_rows`, but for rows with multiplicities, and by hashing their keys."""
    codes, uniques = pd.factorize(key)
    first = np.empty(len(uniques), dtype=np.int64)
    first[codes[::-1]] = np.arange(codes.size - 1, -1, -1)
    return first, np.bincount(codes, weights=multiplicities).astype(np.int64, copy=False)


# Number of tests of one order that read the same columns, to decide which merges pay.
#
# A test of x and y given S takes S from the neighbours of x or of y, so that all its
# columns lie within one column and its neighbours. The numbers are upper bounds: sets among the
# common neighbours of x and y count twice, and a separated pair is not tested further.


Demand = dict[tuple[int, ...], int]


def demand_of_groups(
    starts: Sequence[int], adjacent: Sequence[Collection[int]], order: int, least: int
) -> Demand:
    """Number of tests whose columns lie in each set of `order` + 2 groups.

    Only sets with at least `least` tests are listed. A group is a run of consecutive columns.
    starts: the first column of each group. adjacent: the neighbours of each column. order: the
    number of columns that a test conditions on, 0 or 1.
    """
    around = np.zeros((len(adjacent), len(adjacent)), dtype=np.int64)
    for column, neighbours in enumerate(adjacent):
        around[column, list(neighbours)] = 1
    # Number of neighbours of each column in each group, (p, groups).
    of_column: Integers = np.add.reduceat(around, starts, axis=1)
    if order == 0:
        return _pairs(np.add.reduceat(of_column, starts, axis=0), 0, least)
    demand: Demand = {}
    for g, (start, end) in enumerate(zip(starts, [*starts[1:], len(adjacent)], strict=True)):
        # The column that is adjacent to the other two is in group g, or in another group.
        within = of_column[start:end].T @ of_column[start:end]
        beyond = np.add.reduceat(of_column[:, g, None] * of_column, starts, axis=0)
        tests = 2 * (within + beyond + beyond.T)
        later = _pairs(tests[g + 1 :, g + 1 :], g + 1, least)
        demand |= {(g, *others): count for others, count in later.items()}
    return demand


def demand_of_families(adjacent: Sequence[Collection[int]], order: int, least: int) -> Demand:
    """Number of tests in each family with at least `least` tests.

    A family is a column with its neighbours, as a sorted tuple. Each of its tests is of the column
    and one neighbour, given `order` of the other neighbours.
    """
    demand: Demand = {}
    for column, neighbours in enumerate(adjacent):
        family = tuple(sorted((column, *neighbours)))
        tests = len(neighbours) * comb(max(len(neighbours) - 1, 0), order)
        demand[family] = demand.get(family, 0) + tests
    return {family: tests for family, tests in demand.items() if tests >= least}


def _pairs(tests: Integers, first: int, least: int) -> Demand:
    """The entries above the diagonal that are at least `least`, by row and column.

    Rows and columns are numbered from `first`.
    """
    rows, columns = np.nonzero(np.triu(tests >= least, 1))
    pairs = zip((rows + first).tolist(), (columns + first).tolist(), strict=True)
    return dict(zip(pairs, tests[rows, columns].tolist(), strict=True))


Key = TypeVar("Key", tuple[int, ...], frozenset[int])

# Below this number of rows merging costs more than it saves.
_FEW_ROWS = 1024
# Levels of a group multiply to at most this, so that three groups have at most 2¹⁸ cells.
_GROUP_CELLS = 64
_GROUPS_AT_ONCE = 3
_BUDGET = 64 << 20
# Least tests of one order on the same columns: merging costs as much as some tests on all rows.
_TESTS_THAT_PAY = 8
# Up to this number, all groups are merged: deciding which pay would take longer.
_FEW_GROUPS = 4


@dataclass(frozen=True, eq=False)
class Projection:
    """Unique rows over some columns: the codes by column, and the multiplicity of each row.

    weights: the multiplicities as float64, exact below 2⁵³.
    """

    columns: frozenset[int]
    codes: Mapping[int, Codes]
    multiplicities: NDArray[np.int64]
    weights: NDArray[np.float64]

    @property
    def rows(self) -> int:
        return int(self.multiplicities.size)

    @property
    def nbytes(self) -> int:
        return self.rows * (16 + sum(c.itemsize for c in self.codes.values()))


class Projections:
    """The projections of one set of rows, made when first needed and cached in at most 64 MB."""

    def __init__(
        self,
        configurations: Sequence[Codes],
        multiplicities: NDArray[np.int64],
        levels: tuple[int, ...],
    ) -> None:
        self._levels = levels
        self.whole = Projection(
            frozenset(range(len(levels))),
            dict(enumerate(configurations)),
            multiplicities,
            multiplicities.astype(np.float64),
        )
        self._groups: list[_Group] = []
        self._families: list[frozenset[int]] = []
        # Keys: the numbers of the groups, or the columns of the family.
        self._of_groups: dict[tuple[int, ...], Projection] = {}
        self._of_family: dict[frozenset[int], Projection] = {}
        self._used = 0
        self._lock = Lock()

    @property
    def few(self) -> bool:
        """Whether there are too few rows for merging to save time."""
        return self.whole.rows <= _FEW_ROWS

    def smallest(self, columns: Sequence[int]) -> Projection:
        """A small projection that contains the columns."""
        if self.few:
            return self.whole
        numbers = tuple(
            number
            for number, group in enumerate(self._grouped())
            if not group.columns.isdisjoint(columns)
        )
        if len(numbers) <= _GROUPS_AT_ONCE:
            return self._on_groups(numbers)
        families = [family for family in self._families if family.issuperset(columns)]
        made = [self._on_family(family) for family in families]
        return min(made, key=lambda projection: projection.rows, default=self.whole)

    def prepare(self, families: Iterable[Sequence[int]]) -> None:
        """Set the families of columns within which tables will be counted next.

        The rows of a family are merged when the first of its tables is counted.
        """
        self._families = [frozenset(family) for family in families]

    def for_order(self, order: int, adjacent: Sequence[Collection[int]]) -> list[Projection]:
        """The projections for tests that condition on `order` columns, fewest rows first.

        adjacent: neighbours of each column, from which conditioning sets will be taken.

        The last projection has all columns. The others are over pairs of groups at order 0, over
        sets of three groups at order 1, and over columns with their neighbours at higher orders.
        Only sets used by enough tests are merged, the most used first, up to about 64 MB. If there
        are few groups, all pairs or sets of three groups are merged.
        """
        if self.few:
            return [self.whole]
        at_once = order + 2
        of_groups = at_once <= _GROUPS_AT_ONCE
        if not of_groups:
            demand = demand_of_families(adjacent, order, _TESTS_THAT_PAY)
        elif len(self._grouped()) <= _FEW_GROUPS:
            demand = dict.fromkeys(combinations(range(len(self._grouped())), at_once), 1)
        else:
            starts = [min(group.columns) for group in self._grouped()]
            demand = demand_of_groups(starts, adjacent, order, _TESTS_THAT_PAY)
        made: dict[int, Projection] = {}
        used = 0
        for key in sorted(demand, key=demand.__getitem__, reverse=True):
            projection = self._on_groups(key) if of_groups else self._on_family(frozenset(key))
            if projection is not self.whole and id(projection) not in made:
                made[id(projection)] = projection
                used += projection.nbytes
            if used > _BUDGET:
                break
        return [*sorted(made.values(), key=lambda projection: projection.rows), self.whole]

    def _grouped(self) -> list[_Group]:
        if not self._groups:
            self._groups = _cut(self.whole.codes, self._levels)
        return self._groups

    def _on_groups(self, numbers: tuple[int, ...]) -> Projection:
        """The rows merged over some groups, using one code for each group."""
        if numbers in self._of_groups:
            return self._of_groups[numbers]
        groups = [self._groups[number] for number in numbers]
        merged, counts = merged_rows(
            [group.codes for group in groups],
            [group.cells for group in groups],
            self.whole.multiplicities,
        )
        codes = {}
        for group, code in zip(groups, merged, strict=True):
            for column, of_code in group.decoded.items():
                codes[column] = of_code[code]
        return self._kept(self._of_groups, numbers, self.whole, codes, counts)

    def _on_family(self, family: frozenset[int]) -> Projection:
        """The rows merged over a family, from the smallest projection that contains it."""
        if family in self._of_family:
            return self._of_family[family]
        known = [*self._of_groups.copy().values(), *self._of_family.copy().values(), self.whole]
        larger = min((p for p in known if p.columns >= family), key=lambda p: p.rows)
        columns = sorted(family)
        merged, counts = merged_rows(
            [larger.codes[c] for c in columns],
            [self._levels[c] for c in columns],
            larger.multiplicities,
        )
        codes = dict(zip(columns, merged, strict=True))
        return self._kept(self._of_family, family, larger, codes, counts)

    def _kept(
        self,
        where: dict[Key, Projection],
        key: Key,
        larger: Projection,
        codes: Mapping[int, Codes],
        counts: NDArray[np.int64],
    ) -> Projection:
        """Caches a projection with these codes if it has at most half the rows of `larger`.

        Otherwise caches `larger` under this key. Returns the cached projection.
        """
        made = larger
        if 2 * counts.size <= larger.rows:
            made = Projection(frozenset(codes), codes, counts, counts.astype(np.float64))
        with self._lock:
            if made is not larger:
                self._used += made.nbytes
            if self._used > _BUDGET:
                # All at once: the next order makes again only what it needs.
                self._of_groups.clear()
                self._of_family.clear()
                self._used = made.nbytes if made is not larger else 0
            where[key] = made
        return made


@dataclass(frozen=True, eq=False)
class _Group:
    """A group of columns merged into a single column.

    codes: the code of each unique row, below `cells`, shape (u,).  decoded: for each column, its
    code for each code of the group, shape (cells,).
    """

    columns: frozenset[int]
    codes: Codes
    cells: int
    decoded: dict[int, NDArray[np.uint16]]


def _cut(codes: Mapping[int, Codes], levels: tuple[int, ...]) -> list[_Group]:
    """Groups of consecutive columns whose numbers of levels multiply to at most 64."""
    parts: list[list[int]] = [[0]]
    for column in range(1, len(levels)):
        if prod(levels[c] for c in parts[-1]) * levels[column] > _GROUP_CELLS:
            parts.append([])
        parts[-1].append(column)
    groups = []
    for part in parts:
        shape = [levels[c] for c in part]
        key, cells = joint_key([codes[c] for c in part], shape)
        decoded = np.unravel_index(np.arange(cells), shape)
        of_code = {c: d.astype(np.uint16) for c, d in zip(part, decoded, strict=True)}
        groups.append(_Group(frozenset(part), key, cells, of_code))
    return groups


# Codes are packed in two bytes each.
_MAX_LEVELS = 1 << 16


def packable(levels: Sequence[int]) -> bool:
    """Whether every column has few enough levels for codes of two bytes."""
    return max(levels) <= _MAX_LEVELS


def pack(projections: Sequence[Projection], levels: Sequence[int]) -> Packed:
    """Packs projections of `packable` columns end to end.

    Raises ValueError for a code outside a column's levels, because compiled code would then write
    outside its arrays.
    """
    for column, codes in projections[-1].codes.items():
        if codes.size and not (int(codes.min()) >= 0 and int(codes.max()) < levels[column]):
            raise ValueError("every code must be between 0 and the number of levels minus 1")
    parts: list[NDArray[np.uint16]] = []
    places = np.full((len(projections), len(levels)), -1, dtype=np.int64)
    sizes = np.array([projection.rows for projection in projections], dtype=np.int64)
    for position, projection in enumerate(projections):
        for place, (column, codes) in enumerate(projection.codes.items()):
            places[position, column] = place
            parts.append(codes.astype(np.uint16, copy=False))
    held = np.array([len(projection.codes) for projection in projections], dtype=np.int64)
    return Packed(
        np.concatenate(parts),
        np.concatenate(([0], np.cumsum(sizes * held)[:-1])),
        sizes,
        np.concatenate([projection.multiplicities for projection in projections]),
        np.concatenate(([0], np.cumsum(sizes)[:-1])),
        places,
        np.array(levels, dtype=np.int64),
    )
