"""Rows in shards on any number of machines, counted by map and reduce.

Contingency tables, unique rows and moments of all rows are sums of those of the shards.  A `Shards`
only has to apply a function to the codes of every shard and hand back the results in the order of
the shards; it may apply it twice where a machine is lost, as the functions change nothing.  With
Dask see `dask_frame`; with Spark it is one line, over an RDD of blocks of codes:

    def map(self, function):
        return self.blocks.map(function).toLocalIterator()

A warehouse that runs SQL but no Python (through Ibis, say) is not a `Shards` but an `ExternalRows`
of its own: `distinct` is its GROUP BY with count(*), and what it cannot do raises DataError.
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
    """Codes in pieces.

    names, levels, caveats, ordered: as of a `CountSource`.  sizes: number of rows of each shard.
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    caveats: tuple[str, ...]
    ordered: tuple[int, ...]
    sizes: tuple[int, ...]

    def map(self, function: Callable[[int, Codes], Found]) -> Iterable[Found]:
        """`function` of the number and the codes of each shard that has rows, in their order."""
        ...


class ShardedRows:
    """`ExternalRows` of shards.  What travels are unique rows with multiplicities, not rows."""

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
        assert sample is not None  # No more unique rows than rows.
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
