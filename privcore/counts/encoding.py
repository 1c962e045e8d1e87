"""Merges rows into their unique configurations, in the order of their first occurrence.

The order is part of the result: sub-samples are drawn in this order, so a seed gives the same
sub-sample however the rows were merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.arrays import Integers

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
