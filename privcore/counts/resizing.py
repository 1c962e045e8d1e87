"""Gives a table a public number of rows, so that its own number of rows stays private.

If the table has too many rows, rows are left out at random.  If it has too few, public rows are
added.
Two tables that differ by k added rows become tables of the same size that differ by at most k
replaced rows; proof: docs/proofs/units.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore.counts.available import AvailableCases
from privcore.counts.memory import InMemoryCounts
from privcore.counts.mixed import MixedRows
from privcore.counts.numeric import NumericRows
from privcore.counts.source import MomentSource
from privcore.data.model import Column
from privcore.errors import DataError
from privcore.privacy.mechanisms.noise import NoiseSource


def check_resizable(source: MomentSource | MixedRows) -> None:
    """Raises DataError unless the rows are in memory, so that rows can be drawn and added."""
    within = source.own_level if isinstance(source, AvailableCases) else source
    if not isinstance(within, InMemoryCounts | NumericRows | MixedRows):
        raise DataError(
            "Hiding the number of rows needs the rows in memory; read the table from a CSV file, "
            "or protect only the values of the rows."
        )


def resized(
    source: MomentSource | MixedRows, size: int, noise: NoiseSource
) -> MomentSource | MixedRows:
    """Resizes a source to exactly `size` rows; raises the same error as `check_resizable`."""
    check_resizable(source)
    missing = size - source.n
    if isinstance(source, AvailableCases):
        return AvailableCases(_counts(source.own_level, size, noise), source.gaps)
    if isinstance(source, InMemoryCounts):
        return _counts(source, size, noise)
    if isinstance(source, MixedRows):
        return _mixed(source, size, noise)
    assert isinstance(source, NumericRows)
    scaled = source.rows()[0]
    if missing > 0:
        scaled = np.vstack([scaled, 2 * public_rows(missing, scaled.shape[1]) - 1])
    elif missing < 0:
        scaled = scaled[_drawn(source.n, size, noise)]
    return NumericRows(
        source.names, source.bounds, scaled, source.caveats, source.own_levels, source.unit
    )


def public_rows(count: int, columns: int) -> NDArray[np.float64]:
    """Public rows, spread evenly in [0, 1)ᵖ (a Kronecker sequence), shape (count, p)."""
    steps = np.exp(1 / np.arange(1, columns + 1)) % 1
    return np.asarray(np.outer(np.arange(1, count + 1), steps) % 1)


def _counts(source: Any, size: int, noise: NoiseSource) -> InMemoryCounts:
    if not isinstance(source, InMemoryCounts):
        raise TypeError("the counts must be in memory")
    missing = size - source.n
    if missing < 0:
        return source.subsample(size, noise)
    if missing == 0:
        return source
    codes, times = source.unique()
    more = (public_rows(missing, len(codes)) * np.array(source.levels)).astype(np.uint16)
    return source.with_rows(
        tuple(np.concatenate([own, more[:, k]]) for k, own in enumerate(codes)),
        np.concatenate([times, np.ones(missing, dtype=np.int64)]),
    )


def _mixed(source: MixedRows, size: int, noise: NoiseSource) -> MixedRows:
    rows, missing = source.rows_as_read, size - source.n
    if missing < 0:
        kept = _drawn(source.n, size, noise)
        return MixedRows(replace(rows, values=tuple(v[kept] for v in rows.values)))
    more = public_rows(missing, rows.p)
    filled = tuple(
        np.concatenate([values, _within(column, more[:, k]).astype(values.dtype)])
        for k, (column, values) in enumerate(zip(rows.columns, rows.values, strict=True))
    )
    return MixedRows(replace(rows, values=filled))


def _within(column: Column, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    if column.bounds is None:
        return shares * len(column.levels)
    low, high = column.bounds
    return np.clip(low + shares * (high - low), low, high)


def _drawn(rows: int, size: int, noise: NoiseSource) -> NDArray[np.bool_]:
    return np.asarray(noise.subsample(np.ones(rows, dtype=np.int64), size).astype(np.bool_))
