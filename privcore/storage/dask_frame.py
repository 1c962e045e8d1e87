"""Counts the rows of a Dask data frame, on a cluster of any number of machines.

CausalVeil must be installed on the workers. If a worker is lost, the cluster recomputes its
partitions; each partition is still counted once. See docs/how-to/cluster.md for an example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.counts.source import CountSource
from privcore.counts.tables import available_cases, gaps_of
from privcore.data.model import Column, Described
from privcore.errors import DataError
from privcore.intake.cells import MEMORY
from privcore.intake.coding import Coded, Coding, Codings, Missing, Piece, looked_at, settled
from privcore.intake.schema import ColumnSchema
from privcore.storage.external import Codes, Found, ShardedRows, count_external


def count_frame(
    frame: Any,
    schema: Sequence[ColumnSchema],
    *,
    missing: Missing = "refuse",
    memory: int = MEMORY,
) -> CountSource:
    """Counts over the rows of a `dask.dataframe.DataFrame`, with Dask's default scheduler.

    schema: the columns to use, each with levels, or with numbers cut into levels.  missing: as for
    `build_dataset`.
    memory: limit, in bytes, on the unique rows held in this process.  Partitions are coded once and
    stay on the workers.  Rows are in the order of the partitions.  Raises the same errors as
    `build_dataset`.
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
    """The non-empty partitions of a data frame, as `Shards`; see `count_frame`."""

    def __init__(self, frame: Any, schema: Sequence[ColumnSchema], missing: Missing) -> None:
        self._dask = _dask()
        parts = frame.to_delayed()

        def look(codings: Sequence[Coding], drop: bool) -> Sequence[Piece]:
            piece = self._dask.delayed(_looked_at)
            pieces: Sequence[Piece]
            pieces = self._dask.compute(*(piece(part, codings, drop=drop) for part in parts))
            return pieces

        codings = settled(schema, [str(name) for name in frame.columns], missing, look)
        self.sizes = tuple(rows for rows in codings.rows if rows)
        described = _Frame(
            "frame",
            codings.columns,
            sum(self.sizes),
            codings.notes,
            available=missing == "available",
        )
        self.gaps = gaps_of(described)
        self.names, self.levels = described.names, described.levels
        self.caveats, self.ordered = described.caveats, described.ordered
        coded = self._dask.delayed(_coded)
        kept = (part for part, rows in zip(parts, codings.rows, strict=True) if rows)
        self._parts = self._dask.persist(*(coded(part, codings) for part in kept))

    def map(self, function: Callable[[int, Codes], Found]) -> Iterable[Found]:
        apply = self._dask.delayed(function, pure=False)
        results: tuple[Found, ...]
        results = self._dask.compute(*(apply(i, part) for i, part in enumerate(self._parts)))
        return results


def _looked_at(frame: pd.DataFrame, codings: Sequence[Coding], *, drop: bool) -> Piece:
    return looked_at(_cells(frame, codings), codings, drop=drop)


def _coded(frame: pd.DataFrame, codings: Codings) -> Coded:
    return codings.used(_cells(frame, codings.of))


def _cells(frame: pd.DataFrame, codings: Sequence[Coding]) -> list[NDArray[np.int64]]:
    return [coding.of_cells(frame[coding.wanted.name]) for coding in codings]


def _dask() -> Any:
    """Imports the package dask; raises DataError if the package is missing.

    The type is Any because most of the package is untyped.
    """
    try:
        return import_module("dask")
    except ImportError:
        raise DataError("counting-dask-data-frame-needs-package") from None
