"""Rows of numbers, and rows in which some columns have levels and others hold numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from privcore import fixed_point
from privcore.arrays import Matrix, Vector
from privcore.counts.projections import merged_rows
from privcore.counts.source import (
    Cache,
    CountSource,
    Holds,
    NumberSource,
    Source,
    drawn_rows,
    public_rows,
)
from privcore.counts.tables import InMemoryCounts, available_cases, gaps_of
from privcore.data import Dataset, discretise
from privcore.data.model import Column
from privcore.errors import DataError
from privcore.privacy.mechanisms.noise import NoiseSource
from privcore.text import short
from privcore.unit import RECORD, Unit


class NumericRows(NumberSource):
    """Rows of continuous columns, scaled to [−1, 1] by their bounds.

    bounds: per column, the lowest and highest value that may occur.
    own_levels: number of levels per column, coded −1 … 1 in equal steps; 0 for a column of numbers.
        By default all columns hold numbers.
    """

    resizable = True

    def __init__(
        self,
        names: tuple[str, ...],
        bounds: tuple[tuple[float, float], ...],
        scaled: Matrix,
        caveats: tuple[str, ...] = (),
        own_levels: tuple[int, ...] = (),
        unit: Unit = RECORD,
        ordered: tuple[int, ...] = (),
    ) -> None:
        super().__init__(names, len(scaled), caveats, unit)
        self.own_levels = own_levels or (0,) * len(names)
        self.ordered = ordered
        self.bounds = bounds
        self._scaled = scaled

    @classmethod
    def from_dataset(cls, dataset: Dataset, *, coded: bool = False) -> NumericRows:
        """Scales the columns of a data set to [−1, 1].

        coded: whether columns with levels are accepted; their levels are then coded −1 … 1 in
        equal steps.  Raises DataError for a column with levels unless `coded` is set.
        """
        bounds = []
        own_levels = tuple(len(c.levels) if c.is_categorical else 0 for c in dataset.columns)
        scaled = np.empty((dataset.n, dataset.p))
        for position, (column, values) in enumerate(
            zip(dataset.columns, dataset.values, strict=True)
        ):
            ends = (0.0, len(column.levels) - 1.0) if column.is_categorical else column.bounds
            if ends is None or (column.is_categorical and not coded):
                raise DataError("column-has-levels", name=short(column.name))
            low, high = ends
            bounds.append(ends)
            scaled[:, position] = np.clip((2.0 * values - (low + high)) / (high - low), -1, 1)
        return cls(
            dataset.names,
            tuple(bounds),
            scaled,
            dataset.caveats,
            own_levels,
            dataset.unit,
            dataset.ordered,
        )

    def moments(self, radius: float | None = None) -> Matrix:
        return self._moments.get(radius, lambda: self._moments_within(radius))

    def _moments_within(self, radius: float | None) -> Matrix:
        x = self._scaled
        if radius is not None:
            x = fixed_point.within(x, radius, fixed_point.step_of(self.n))
        return np.asarray(fixed_point.moment_sums(x) / self.n)

    def moments_about(self, centre: Vector, scale: Vector, longest: float) -> Matrix:
        # In fixed point, like moments with a radius.
        units = (self._scaled - centre) / (scale * longest)
        units = fixed_point.within(units, 1.0, fixed_point.step_of(self.n))
        return np.asarray(fixed_point.moment_sums(units) / self.n)

    def rows(self) -> tuple[Matrix, Vector]:
        """The rows scaled to [−1, 1], shape (n, p), and their multiplicities, all 1, shape (n,)."""
        return self._scaled, np.ones(self.n)

    def halved(self, noise: NoiseSource) -> tuple[NumericRows, NumericRows]:
        order = noise.permutation(self.n)
        one, other = np.sort(order[: self.n // 2]), np.sort(order[self.n // 2 :])
        return self._with(self._scaled[one]), self._with(self._scaled[other])

    def resized(self, size: int, noise: NoiseSource) -> NumericRows:
        missing = size - self.n
        if missing < 0:
            return self._with(self._scaled[drawn_rows(self.n, size, noise)])
        more = 2 * public_rows(missing, len(self.names)) - 1
        return self._with(np.vstack([self._scaled, more]))

    def _with(self, scaled: Matrix) -> NumericRows:
        return NumericRows(
            self.names, self.bounds, scaled, self.caveats, self.own_levels, self.unit, self.ordered
        )


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
        self.unit, self.ordered = dataset.unit, dataset.ordered
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


def cut_numbers(source: NumberSource, cuts: Sequence[Vector]) -> InMemoryCounts:
    """Counts over the columns of a source of numbers, each column cut at its own points.

    cuts: for each column, increasing cut points on its scale in `NumberSource.moments`, where its
    bounds are −1 and 1.  A column with k points has k + 1 levels, even if some levels have no rows.
    """
    rows, multiplicities = source.rows()
    levels = tuple(len(points) + 1 for points in cuts)
    codes = [
        np.searchsorted(points, column, side="right").astype(np.uint16)
        for points, column in zip(cuts, rows.T, strict=True)
    ]
    merged, counts = merged_rows(codes, levels, multiplicities.astype(np.int64))
    return InMemoryCounts(source.names, levels, tuple(merged), counts, source.caveats)
