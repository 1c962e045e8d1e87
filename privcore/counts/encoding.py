"""Rows merged to their unique configurations, in the order in which these are first seen.

That order is part of the result: sub-samples are drawn over it, so a seed gives the same one
whichever way the rows were merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from threading import local
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.arrays import Integers
from privcore.kernels import compiled

Codes = NDArray[np.integer[Any]]

_KEY_LIMIT = 1 << 62
# Up to so many cells a table with a cell for every configuration is smaller than the rows' keys.
_DENSE_CELLS = 1 << 18
_HEAD = 4096
# Room that each thread keeps, since clean memory costs as much as counting.
_scratch = local()


def unique_rows(columns: Sequence[Codes], levels: Sequence[int]) -> tuple[Integers, Integers]:
    """Index of the first row of each unique configuration, and its multiplicity; both (u,).

    columns: per column, codes 0..levels-1 of each row, shape (n,).
    """
    key, size = joint_key(columns, levels)
    if size <= min(_DENSE_CELLS, 4 * key.size):
        return _unique_of_small(key, size)
    return _unique_of_large(key, np.ones(key.size, dtype=np.int64))


def merged_rows(
    columns: Sequence[Codes], levels: Sequence[int], multiplicities: Integers
) -> tuple[list[Codes], Integers]:
    """Unique configurations of rows that stand for several records each, in any order.

    Per column the codes of each unique configuration, shape (u,), and its multiplicity, (u,).
    """
    # As the kernels take them.
    multiplicities = np.require(multiplicities, np.int64, ("C", "W"))
    key, size = joint_key(columns, levels)
    # The codes can be read off a key only if it was never hashed.
    if size > min(_DENSE_CELLS, 16 * key.size) or prod(levels) >= _KEY_LIMIT:
        first, counts = _unique_of_large(key, multiplicities)
        return [column[first] for column in columns], counts
    kernels = compiled.ready()
    if kernels:
        if not hasattr(_scratch, "cells"):
            _scratch.cells = np.zeros(_DENSE_CELLS, dtype=np.int64)
        key = _below(key.astype(np.int32, copy=False), size)
        rest, counts = kernels.merge_keys(key, multiplicities, _scratch.cells)
    else:
        compiled.note(4 * key.size)
        # Below 2^53 the float64 sums that np.bincount makes of integers are exact.
        sums = np.bincount(key, weights=multiplicities, minlength=size)
        rest = np.flatnonzero(sums)
        counts = sums[rest].astype(np.int64)
    codes: list[Codes] = []
    for column, count in zip(reversed(columns), reversed(levels), strict=True):
        rest, code = np.divmod(rest, count)
        codes.append(code.astype(column.dtype, copy=False))
    return codes[::-1], counts


def combine(columns: Sequence[Codes], levels: Sequence[int]) -> tuple[Integers, int]:
    """A number from 0 for each row's joint configuration, and how many occur."""
    codes, uniques = pd.factorize(joint_key(columns, levels)[0])
    return codes.astype(np.int64, copy=False), len(uniques)


def joint_key(columns: Sequence[Codes], levels: Sequence[int]) -> tuple[Codes, int]:
    """One integer per row that identifies the joint configuration, and a bound above them all.

    The mixed radix of the codes, in the smallest type that holds it.
    """
    kind = _type_for(levels)
    key: Codes = columns[0].astype(kind)
    size = levels[0]
    for column, count in zip(columns[1:], levels[1:], strict=True):
        if size * count >= _KEY_LIMIT:
            # Hashing keeps only the configurations that occur, so the product stays small.
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
        # The number of levels itself must fit too, as a factor.
        if size < largest:
            return kind
    return np.int64


def _unique_of_large(key: Codes, multiplicities: Integers) -> tuple[Integers, Integers]:
    """As `unique_rows`, by hashing the keys of rows that stand for several records each."""
    kernels = compiled.ready()
    if kernels:
        unique: tuple[Integers, Integers] = kernels.unique_keys(
            key.astype(np.int64, copy=False), multiplicities
        )
        return unique
    compiled.note(8 * key.size)
    codes, uniques = pd.factorize(key)
    first = np.empty(len(uniques), dtype=np.int64)
    # Assigned backwards, so that the first row of each configuration wins.
    first[codes[::-1]] = np.arange(codes.size - 1, -1, -1)
    return first, np.bincount(codes, weights=multiplicities).astype(np.int64)


def _unique_of_small(key: Codes, size: int) -> tuple[Integers, Integers]:
    """As `unique_rows`, for keys below `size`."""
    kernels = compiled.ready()
    if kernels:
        key = _below(key, size)
        if key.dtype == np.int64:
            key = key.astype(np.int32)
        unique: tuple[Integers, Integers] = kernels.unique_small_keys(key, size)
        return unique
    counts = np.bincount(key, minlength=size)
    first = np.full(size, -1, dtype=np.int64)
    head = key[:_HEAD]
    first[head[::-1]] = np.arange(head.size - 1, -1, -1)
    if key.size > _HEAD:
        # Few configurations are new after the first rows, so that only these are looked at again.
        missing = first < 0
        late = np.flatnonzero(missing[key[_HEAD:]]) + _HEAD
        first[key[late[::-1]]] = late[::-1]
    occurring = np.flatnonzero(counts)
    order = np.argsort(first[occurring])
    occurring = occurring[order]
    return first[occurring], counts[occurring].astype(np.int64, copy=False)


def _below(key: Codes, size: int) -> Codes:
    """The keys, checked: compiled code would write where they point.  Raises ValueError."""
    if key.size and not (int(key.min()) >= 0 and int(key.max()) < size):
        raise ValueError("a code is outside the levels")
    return key
