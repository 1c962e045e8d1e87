"""Counts rows in shards on any number of machines, by map and reduce.

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
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.counts.distinct import (
    Codes,
    Distinct,
    coded_means,
    distinct_rows,
    merged,
    taken_rows,
)
from privcore.counts.source import Bases

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
