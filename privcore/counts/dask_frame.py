"""Rows in a Dask data frame, on a cluster of any number of machines.

This package must be installed on the workers.  Where a worker is lost, the cluster makes its
partitions again, and each counts once.  docs/how-to/cluster.md shows a use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from privcore.counts.available import available_cases, gaps_of
from privcore.counts.distinct import Codes
from privcore.counts.external import count_external
from privcore.counts.sharded import Found, ShardedRows
from privcore.counts.source import CountSource
from privcore.data import refusals
from privcore.data.building import GAPS_AS_LEVEL, Missing, notes_on_missing, used_columns
from privcore.data.coding import Coding, Piece, coded_piece, coding_of, looked_at
from privcore.data.model import Column, Described, too_few_rows
from privcore.data.reading import MEMORY
from privcore.data.schema import ColumnSchema
from privcore.errors import DataError


def count_frame(
    frame: Any,
    schema: Sequence[ColumnSchema],
    *,
    missing: Missing = "refuse",
    memory: int = MEMORY,
) -> CountSource:
    """Counts of a `dask.dataframe.DataFrame`, by whatever scheduler Dask uses by default.

    schema: levels, or numbers with cuts, of each column to use.  missing: as for `build_dataset`.
    memory: bytes of this process that unique rows may take.
    Partitions are coded once and kept by the workers.  The order of the rows is that of the
    partitions.  Raises what `build_dataset` raises.
    """
    parts = FramePartitions(frame, schema, missing)
    return available_cases(count_external(ShardedRows(parts), memory), parts.gaps)


@dataclass(frozen=True, eq=False)
class _Frame(Described):
    name: str
    columns: tuple[Column, ...]
    rows: int
    notes: tuple[str, ...]
    true_edges: tuple[tuple[str, str], ...] | None = None
    available: bool = False

    @property
    def n(self) -> int:
        return self.rows


class FramePartitions:
    """The partitions of a data frame that have rows, as `Shards`; see `count_frame`."""

    def __init__(self, frame: Any, schema: Sequence[ColumnSchema], missing: Missing) -> None:
        self._dask = _dask()
        used = used_columns(schema, [str(name) for name in frame.columns], missing)
        parts = frame.to_delayed()
        drop = missing == "drop"
        codings = [coding_of(column, missing_level=False) for column in used]
        pieces = self._looked(parts, codings, drop)
        gaps = np.sum([piece.missing for piece in pieces], axis=0)
        if missing in GAPS_AS_LEVEL and gaps.any():
            pairs = zip(used, gaps, strict=True)
            codings = [coding_of(column, missing_level=bool(count)) for column, count in pairs]
            pieces = self._looked(parts, codings, drop)
        elif missing == "refuse" and gaps.any():
            named = zip(used, gaps, strict=True)
            raise DataError(refusals.gaps({c.name: int(count) for c, count in named if count}))
        _check(pieces, codings, drop=drop and bool(gaps.any()))
        self.sizes = tuple(piece.rows for piece in pieces if piece.rows)
        described = _Frame(
            "frame",
            tuple(coding.column for coding in codings),
            sum(self.sizes),
            notes_on_missing([coding.column for coding in codings], missing),
            available=missing == "available",
        )
        self.gaps = gaps_of(described)
        self.names, self.levels = described.names, described.levels
        self.caveats = described.caveats
        coded = self._dask.delayed(coded_piece)
        kept = (p for p, piece in zip(parts, pieces, strict=True) if piece.rows)
        self._parts = self._dask.persist(*(coded(p, codings, drop=drop) for p in kept))

    def map(self, function: Callable[[int, Codes], Found]) -> Iterable[Found]:
        apply = self._dask.delayed(function, pure=False)
        results: tuple[Found, ...]
        results = self._dask.compute(*(apply(i, part) for i, part in enumerate(self._parts)))
        return results

    def _looked(self, parts: Sequence[Any], codings: list[Coding], drop: bool) -> list[Piece]:
        look = self._dask.delayed(looked_at)
        return list(self._dask.compute(*(look(part, codings, drop=drop) for part in parts)))


def _dask() -> Any:
    """The package, as Any, for most of it has no types; raises DataError if it is not there."""
    try:
        return import_module("dask")
    except ImportError:
        raise DataError(
            "Counting a Dask data frame needs the package dask; install it with "
            "pip install distributed."
        ) from None


def _check(pieces: Sequence[Piece], codings: Sequence[Coding], *, drop: bool) -> None:
    rows = sum(piece.rows for piece in pieces)
    if rows < 2:
        raise DataError(refusals.too_few_left(rows) if drop else too_few_rows(rows))
    unknown = np.sum([piece.unknown for piece in pieces], axis=0)
    low = np.min([piece.low for piece in pieces], axis=0)
    high = np.max([piece.high for piece in pieces], axis=0)
    for coding, bad, first, last in zip(codings, unknown, low, high, strict=True):
        name = coding.column.name
        if bad:
            numeric = coding.wanted.kind == "continuous"
            raise DataError((refusals.not_finite if numeric else refusals.outside)(name, int(bad)))
        if len(coding.column.levels) == 1 or (not coding.column.declared and first == last):
            raise DataError(refusals.constant(name))
