"""Unique rows with multiplicities, counted in pieces and merged.

Unique rows from different processes, machines or files are merged, and their multiplicities are
added. However the rows are divided, configurations are in the order of their first occurrence, so
every source draws the same sub-sample from the same seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.counts.projections import combine, unique_rows
from privcore.counts.source import Bases, Table, coded_sums
from privcore.counts.tables import InMemoryCounts

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
