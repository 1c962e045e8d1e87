"""Tables in which some columns have levels and others hold numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from privcore.arrays import Vector
from privcore.counts.available import available_cases, gaps_of
from privcore.counts.cache import Cache
from privcore.counts.memory import InMemoryCounts
from privcore.counts.numeric import NumericRows
from privcore.counts.source import CountSource, Holds, Source, drawn_rows, public_rows
from privcore.data import Dataset, discretise
from privcore.data.model import Column
from privcore.privacy.mechanisms.noise import NoiseSource
from privcore.text import short

# Numbers of levels for which cut rows and counts are cached; each may take hundreds of megabytes.
_KEPT = 4


class MixedRows(Source):
    """A table with columns of numbers, which an algorithm can cut into levels or use as numbers.

    cut_names: names of the columns of numbers.
    """

    holds: Holds = "both"
    resizable = True

    def __init__(self, dataset: Dataset) -> None:
        self.names, self.n, self.caveats = dataset.names, dataset.n, dataset.caveats
        self.cut_names = tuple(c.name for c in dataset.columns if not c.is_categorical)
        self.own_levels = tuple(len(c.levels) if c.is_categorical else 0 for c in dataset.columns)
        self.gaps = gaps_of(dataset)
        self.unit = dataset.unit
        self._dataset = dataset
        self._cut: Cache[Dataset] = Cache(_KEPT, size=lambda _: 1)
        self._counted: Cache[InMemoryCounts] = Cache(_KEPT, size=lambda _: 1)
        self._numbers: Cache[NumericRows] = Cache(1, size=lambda _: 1)

    @property
    def rows_as_read(self) -> Dataset:
        """The data set before any column is cut."""
        return self._dataset

    @property
    def cut_words(self) -> str:
        """The names of the columns that hold numbers, as part of a sentence."""
        named = ", ".join(short(name, 20) for name in self.cut_names[:3])
        more = len(self.cut_names) - 3
        return f"{named} and {more} more" if more > 0 else named

    def dataset(self, levels: int) -> Dataset:
        """The data set with each column of numbers cut into `levels` intervals of equal width.

        The cut points follow from the columns' bounds alone, so they are as public as the bounds.
        """
        return self._cut.get(
            levels, lambda: discretise(self._dataset, dict.fromkeys(self.cut_names, levels))
        )

    def counts(self, levels: int) -> InMemoryCounts:
        """Counts over the rows of `dataset(levels)`, cached for the last few values of `levels`."""
        return self._counted.get(levels, lambda: InMemoryCounts.from_dataset(self.dataset(levels)))

    def cut(self, levels: int) -> CountSource:
        return available_cases(self.counts(levels), self.gaps)

    def resized(self, size: int, noise: NoiseSource) -> MixedRows:
        rows, missing = self._dataset, size - self.n
        if missing < 0:
            kept = drawn_rows(self.n, size, noise)
            return MixedRows(replace(rows, values=tuple(v[kept] for v in rows.values)))
        filled = tuple(
            np.append(values, _within(column, more).astype(values.dtype))
            for column, values, more in zip(
                rows.columns, rows.values, public_rows(missing, rows.p).T, strict=True
            )
        )
        return MixedRows(replace(rows, values=filled))

    def numbers(self) -> NumericRows:
        """The rows as numbers; levels are coded −1 … 1 in equal steps."""
        return self._numbers.get("", lambda: NumericRows.from_dataset(self._dataset, coded=True))


def _within(column: Column, shares: Vector) -> Vector:
    if column.bounds is None:
        return shares * len(column.levels)
    low, high = column.bounds
    return np.clip(low + shares * (high - low), low, high)
