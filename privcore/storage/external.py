"""Counts over rows that stay in files, or with several holders.

Unique rows with multiplicities, counted in pieces and merged.

Unique rows from different processes, machines or files are merged, and their multiplicities are
added. However the rows are divided, configurations are in the order of their first occurrence, so
every source draws the same sub-sample from the same seed.

Counts over rows that stay in files, or with several holders.

Counts over rows that stay in files or on other machines.

A pass over such rows takes seconds.  If their unique configurations fit into the memory allowed for
counting, one pass loads them into `InMemoryCounts`.  Otherwise `ExternalCounts` makes one pass for
each joint table and caches the result.

Counts rows in shards on any number of machines, by map and reduce.

Contingency tables, unique rows and moments of the shards are added up. A `Shards` only has to apply
a function to the codes of every shard and return the results in the order of the shards. If a
machine is lost, a function may be applied to a shard twice: the functions have no side effects. For
Dask see `dask_frame`. For Spark, one line over an RDD of blocks of codes is enough:

    def map(self, function):
        return self.blocks.map(function).toLocalIterator()

For a warehouse that runs SQL but not Python (for example through Ibis), write an `ExternalRows`
instead: `distinct` is a GROUP BY with count(*), and unsupported calls raise DataError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.counts.projections import combine, unique_rows
from privcore.counts.source import Bases, Cache, CountSource, Table, coded_sums, even_steps
from privcore.counts.tables import InMemoryCounts
from privcore.errors import DataError
from privcore.privacy.mechanisms.noise import NoiseSource, check_size

Integers = NDArray[np.integer[Any]]
# Two bytes hold any number of levels that a column may have.
Codes = tuple[NDArray[np.uint16], ...]


class Distinct(NamedTuple):
    """Unique rows and their multiplicities.

    configurations: one array of codes per column, each of shape (u,).  multiplicities: shape (u,).
    """

    configurations: Codes
    multiplicities: Table

    @property
    def rows(self) -> int:
        """Number of unique rows."""
        return self.multiplicities.size

    @property
    def nbytes(self) -> int:
        return self.rows * (2 * len(self.configurations) + 8)


def distinct_rows(
    codes: Sequence[Integers], levels: Sequence[int], weights: Table | None = None
) -> Distinct:
    """The unique rows among `codes`, in order of first occurrence.

    weights: how often each row counts, shape (rows,); None counts each row once.
    """
    if weights is None:
        first, counts = unique_rows(codes, levels)
    else:
        owner, seen = combine(codes, levels)
        counts = np.bincount(owner, weights=weights, minlength=seen).astype(np.int64)
        # All rows of a configuration have the same codes; `owner` numbers first occurrences.
        first = np.empty(seen, dtype=np.int64)
        first[owner] = np.arange(owner.size)
    return Distinct(tuple(column[first].astype(np.uint16) for column in codes), counts)


def taken_rows(codes: Sequence[Integers], start: int, rows: NDArray[np.int64]) -> Codes:
    """Codes of the sampled rows that lie in one block of the table.

    codes: per column, the codes of the block.  start: row number of the block's first row.  rows:
    numbers of the sampled rows, increasing.
    """
    first, last = np.searchsorted(rows, [start, start + len(codes[0])])
    inside = rows[first:last] - start
    return tuple(column[inside].astype(np.uint16) for column in codes)


def merged(parts: Iterable[Distinct], levels: Sequence[int], limit: int) -> Distinct | None:
    """Merges the unique rows of all parts, in order.

    Returns None as soon as more than `limit` unique rows are found.  New parts are collected until
    together they have as many rows as the parts merged before, so each row is merged only a few
    times, whatever the number of parts.
    """
    waiting: list[Distinct] = []
    held = 0
    for part in parts:
        waiting.append(part)
        if sum(part.rows for part in waiting) >= 2 * held:
            waiting = [_joined(waiting, levels)]
            held = waiting[0].rows
            if held > limit:
                return None
    whole = _joined(waiting, levels)
    return None if whole.rows > limit else whole


def _joined(parts: Sequence[Distinct], levels: Sequence[int]) -> Distinct:
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(part.configurations for part in parts), strict=True)
    weights = np.concatenate([part.multiplicities for part in parts])
    return distinct_rows([np.concatenate(column) for column in columns], levels, weights)


def coded_means(parts: Iterable[Distinct], bases: Bases, radius: float | None, n: int) -> Matrix:
    """Computes `CountSource.coded` over the n rows of all parts."""
    sums = (coded_sums(p.configurations, p.multiplicities, bases, radius, n) for p in parts)
    return np.asarray(sum(sums) / n)


def in_memory(
    distinct: Distinct,
    names: tuple[str, ...],
    levels: tuple[int, ...],
    caveats: tuple[str, ...],
    ordered: tuple[int, ...] = (),
) -> InMemoryCounts:
    """An in-memory `CountSource` over unique rows."""
    return InMemoryCounts(
        names, levels, distinct.configurations, distinct.multiplicities, caveats, ordered=ordered
    )


# Columns that are counted together, because a pass over the rows costs far more than a table.
#
# Searches require thousands of small tables of two to five columns. Columns are divided into
# groups of neighbours, and a table is cut out of the joint table of all groups that it touches,
# so a few passes serve many tables. Groups depend on the levels alone, which are public.


# Most cells of a joint table, and most unique rows cached for it.
CELLS = 1 << 18


def joint_columns(levels: tuple[int, ...], columns: Sequence[int]) -> tuple[int, ...]:
    """The columns whose joint table is counted to obtain a table over `columns`.

    They are a superset of `columns`, in increasing order.
    """
    wanted = tuple(sorted(set(columns)))
    groups = _groups(levels, len(wanted))
    touched = sorted({column for w in wanted for column in groups[w]})
    return tuple(touched) if prod(levels[c] for c in touched) <= CELLS else wanted


@lru_cache(maxsize=256)
def _groups(levels: tuple[int, ...], parts: int) -> list[range]:
    """The group of each column; the joint table of `parts` groups has at most `CELLS` cells.

    A column that alone has too many levels is a group of its own.
    """
    share = CELLS ** (1 / parts)
    groups: list[range] = []
    start, size = 0, 1
    for column, count in enumerate((*levels, 0)):
        if column == len(levels) or (column > start and size * count > share):
            groups += [range(start, column)] * (column - start)
            start, size = column, 1
        size *= count
    return groups


# Rows are drawn in blocks of this size, so that no array is as long as the table.
_STRETCH = 1 << 20


class ExternalRows(Protocol):
    """Rows stored elsewhere in a fixed order, and the queries that their store must answer.

    names, levels, n, caveats and ordered: as for a `CountSource`.
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    n: int
    caveats: tuple[str, ...]
    ordered: tuple[int, ...]

    def distinct(self, columns: Sequence[int], limit: int) -> Distinct | None:
        """Unique configurations of some columns, in order of their first row.

        Returns None if there are more than `limit` configurations, or too many for the memory.
        """
        ...

    def sampled(self, rows: NDArray[np.int64]) -> Distinct:
        """Unique configurations of the rows with these numbers (from 0, increasing)."""
        ...

    def coded(self, bases: Bases, radius: float | None) -> Matrix:
        """See `CountSource.coded`."""
        ...


def count_external(rows: ExternalRows, memory: int) -> CountSource:
    """Counts of external rows, in memory if their unique configurations fit into `memory` bytes."""
    distinct = rows.distinct(range(len(rows.levels)), _most(memory, len(rows.levels)))
    if distinct is None:
        return ExternalCounts(rows, memory)
    return in_memory(distinct, rows.names, rows.levels, rows.caveats, rows.ordered)


def memory_for_all(n: int, levels: Sequence[int]) -> int:
    """Bytes of memory that suffice for `count_external` to load the unique rows of any n rows."""
    return min(prod(levels), n) * _bytes_of_a_row(len(levels))


def _most(memory: int, columns: int) -> int:
    """Number of unique rows that fit into `memory` bytes."""
    return memory // _bytes_of_a_row(columns)


def _bytes_of_a_row(columns: int) -> int:
    """Bytes per unique row: while loading, codes held twice, row numbers and weights."""
    return 4 * columns + 64


class ExternalCounts(CountSource):
    """A `CountSource` that makes one pass over the rows for every joint table not in the cache.

    Tables equal the tables of `InMemoryCounts` for the same rows, bit for bit.  A sub-sample is
    drawn by row number, uniformly without replacement, and held in memory.
    """

    def __init__(self, rows: ExternalRows, memory: int) -> None:
        super().__init__(rows.names, rows.n, rows.caveats)
        self.levels, self.ordered = rows.levels, rows.ordered
        self._rows = rows
        self._memory = memory
        self._families: list[frozenset[int]] = []
        # None stands for a table with more unique rows than are cached.
        self._joint: Cache[Distinct | None] = Cache(
            budget=memory // 2, size=lambda table: 100 if table is None else table.nbytes
        )
        self._tables: Cache[Table] = Cache(budget=64 << 20, size=lambda t: t.nbytes + 200)
        self._last: tuple[InMemoryCounts, dict[int, int]] | None = None
        self.passes = 0

    def table(self, columns: Sequence[int]) -> Table:
        """Counts over `columns`; raises DataError above 67 million cells."""
        counts, position = self._over(columns)
        return counts.table([position[c] for c in columns])

    def conditional_tables(self, x: int, y: int, conditioning_set: Sequence[int]) -> Table:
        def strata() -> Table:
            counts, position = self._over((x, y, *conditioning_set))
            within = [position[c] for c in conditioning_set]
            return counts.conditional_tables(position[x], position[y], within)

        return self._tables.get((x, y, tuple(conditioning_set)), strata)

    def subsample(self, size: int, noise: NoiseSource) -> CountSource:
        """A uniform sample of `size` rows; raises DataError if the memory may not suffice."""
        check_size(self.n, size)
        if size == self.n:
            return self
        if size > _most(self._memory, len(self.levels)):
            raise DataError("sub-sample-too-large", rows=size)
        drawn = self._rows.sampled(_row_numbers(self.n, size, noise))
        self.passes += 1
        return in_memory(drawn, self.names, self.levels, self.caveats, self.ordered)

    def blocked(self, count: int, noise: NoiseSource) -> CountSource:
        raise DataError("blocks-need-unique-rows")

    def rows(self) -> tuple[Matrix, Matrix]:
        raise DataError("counts-row-by-row")

    def moments(self, radius: float | None = None) -> Matrix:
        return self._moments.get(radius, lambda: self.coded(even_steps(self.levels), radius))

    def coded(self, bases: Bases, radius: float | None = None) -> Matrix:
        self.passes += 1
        return self._rows.coded(bases, radius)

    def prepare(self, families: Sequence[Sequence[int]]) -> None:
        """Announces sets of columns within which tables will be counted."""
        self._families = sorted(map(frozenset, families), key=len)

    def _over(self, columns: Sequence[int]) -> tuple[InMemoryCounts, dict[int, int]]:
        """Counts over a superset of the columns, and each column's position in that superset."""
        wanted, last = frozenset(columns), self._last
        if last is None or not last[1].keys() >= wanted:
            joint, rows = self._found(wanted)
            names, levels = zip(*((self.names[c], self.levels[c]) for c in joint), strict=True)
            place = {column: at for at, column in enumerate(joint)}
            # Only the last counts are kept, because they cache tables; requests come by family.
            last = self._last = in_memory(rows, names, levels, self.caveats), place
        return last

    def _found(self, columns: frozenset[int]) -> tuple[tuple[int, ...], Distinct]:
        """The columns of a joint table that contains `columns`, and its unique rows.

        Tries the prepared families, then the groups of the columns, then the columns alone.
        """
        exact = tuple(sorted(columns))
        families = (tuple(sorted(family)) for family in self._families if family >= columns)
        for joint in dict.fromkeys((*families, joint_columns(self.levels, exact), exact)):
            rows = self._joint.get(joint, partial(self._pass, joint))
            if rows is not None:
                return joint, rows
        raise DataError("counts-too-large", number=len(columns))

    def _pass(self, columns: tuple[int, ...]) -> Distinct | None:
        self.passes += 1
        return self._rows.distinct(columns, _most(self._memory // 8, len(columns)))


def _row_numbers(n: int, size: int, noise: NoiseSource) -> NDArray[np.int64]:
    """Draws `size` of the row numbers 0..n-1 without replacement, every set equally likely.

    The result is increasing.  The numbers of rows drawn per block are multivariate hypergeometric;
    within a block, the draw is uniform.
    """
    starts = np.arange(0, n, _STRETCH)
    sizes = np.minimum(n - starts, _STRETCH)
    chosen = []
    for start, length, wanted in zip(starts, sizes, noise.subsample(sizes, size), strict=True):
        if wanted:
            one_each = np.ones(length, dtype=np.int64)
            chosen.append(start + np.flatnonzero(noise.subsample(one_each, int(wanted))))
    return np.concatenate(chosen).astype(np.int64)


Found = TypeVar("Found")


class Shards(Protocol):
    """Codes of a table, divided into shards.

    names, levels, caveats, ordered: as for a `CountSource`.  sizes: number of rows of each shard.
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    caveats: tuple[str, ...]
    ordered: tuple[int, ...]
    sizes: tuple[int, ...]

    def map(self, function: Callable[[int, Codes], Found]) -> Iterable[Found]:
        """Applies `function` to the number and codes of each shard that has rows.

        Returns the results in the order of the shards.
        """
        ...


class ShardedRows:
    """`ExternalRows` over shards; machines send unique rows with multiplicities, not all rows."""

    def __init__(self, shards: Shards) -> None:
        self.names = shards.names
        self.levels = shards.levels
        self.caveats, self.ordered = shards.caveats, shards.ordered
        self.n = sum(shards.sizes)
        self._shards = shards

    def distinct(self, columns: Sequence[int], limit: int) -> Distinct | None:
        levels = [self.levels[c] for c in columns]
        return merged(self._shards.map(partial(_distinct, tuple(columns), levels)), levels, limit)

    def sampled(self, rows: NDArray[np.int64]) -> Distinct:
        starts = np.cumsum((0, *self._shards.sizes))
        parts = self._shards.map(partial(_sampled, self.levels, starts, rows))
        sample = merged((part for part in parts if part.rows), self.levels, rows.size)
        assert sample is not None  # There are never more unique rows than rows.
        return sample

    def coded(self, bases: Bases, radius: float | None) -> Matrix:
        whole = partial(_distinct, tuple(range(len(self.levels))), self.levels)
        return coded_means(self._shards.map(whole), bases, radius, self.n)


def _distinct(
    columns: tuple[int, ...], levels: Sequence[int], shard: int, codes: Codes
) -> Distinct:
    return distinct_rows([codes[c] for c in columns], levels)


def _sampled(
    levels: Sequence[int],
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    shard: int,
    codes: Codes,
) -> Distinct:
    return distinct_rows(taken_rows(codes, int(starts[shard]), rows), levels)
