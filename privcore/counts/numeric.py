"""Rows of numbers; algorithms use only their first and second moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore import fixed_point
from privcore.arrays import Matrix, Vector
from privcore.counts.source import Bases, NumberSource, drawn_rows, public_rows
from privcore.data import Dataset
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
    ) -> None:
        super().__init__(names, len(scaled), caveats, unit)
        self.own_levels = own_levels or (0,) * len(names)
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
                raise DataError(
                    f"Column {short(column.name)!r} has levels; cut the continuous columns into "
                    "levels as well, or leave this column out."
                )
            low, high = ends
            bounds.append(ends)
            scaled[:, position] = np.clip((2.0 * values - (low + high)) / (high - low), -1, 1)
        return cls(dataset.names, tuple(bounds), scaled, dataset.caveats, own_levels, dataset.unit)

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
            self.names, self.bounds, scaled, self.caveats, self.own_levels, self.unit
        )


def even_steps(levels: Sequence[int]) -> Bases:
    """For each column, its levels coded −1 … 1 in equal steps, shape (levels, 1)."""
    return tuple((2 * np.arange(k) / max(k - 1, 1) - 1)[:, None] for k in levels)


def coded_rows(configurations: tuple[NDArray[np.integer[Any]], ...], bases: Bases) -> Matrix:
    """Rows in the coordinates of `CountSource.coded`, shape (rows, coordinates)."""
    return np.concatenate(
        [basis[codes] for codes, basis in zip(configurations, bases, strict=True)], axis=1
    )


def coded_sums(
    configurations: tuple[NDArray[np.integer[Any]], ...],
    multiplicities: NDArray[np.int64],
    bases: Bases,
    radius: float | None,
    n: int,
) -> Matrix:
    """Sum of (1, u)(1, u)ᵀ over some of the n rows, with u as in `CountSource.coded`.

    Shape (d + 1, d + 1), where d is the number of coordinates in `bases`.
    """
    coded = coded_rows(configurations, bases)
    if radius is not None:
        coded = fixed_point.within(coded, radius, fixed_point.step_of(n))
    return fixed_point.moment_sums(coded, multiplicities.astype(np.float64))
