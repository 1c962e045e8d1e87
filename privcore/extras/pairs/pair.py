"""Two numeric variables, scaled to [−1, 1] by public bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Vector
from privcore.data import Column, Dataset, constant_columns
from privcore.errors import DataError
from privcore.text import number_of, short

Direction = Literal["x->y", "y->x"]
Bounds = tuple[float, float]

LEAST_ROWS = 20


@dataclass(frozen=True, eq=False)
class Pair:
    """N records of two variables, made by `from_values` or `from_dataset`.

    x, y: values in [−1, 1], shape (N,). The arrays become read-only.
    bounds: (low, high) of each original variable.
    direction: the true direction, None if unknown.
    caveats: sentences that limit what a guarantee about these records covers.
    clipped: number of values moved to a bound; *not private*.
    recipe: the generator's name under "generator", the generator's parameters, "rows" and
        "data_seed"; None if no generator made the pair.
    """

    names: tuple[str, str]
    x: Vector
    y: Vector
    bounds: tuple[Bounds, Bounds]
    direction: Direction | None = None
    source: str = ""
    caveats: tuple[str, ...] = ()
    clipped: int = 0
    recipe: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.x.shape != self.y.shape or self.x.ndim != 1:
            raise ValueError("both variables must have one value per record")
        if self.n < LEAST_ROWS:
            raise DataError("too-few-rows-of-pair", n=self.n, least_rows=LEAST_ROWS)
        for name, values in zip(self.names, (self.x, self.y), strict=True):
            if not (np.abs(values) <= 1).all():
                raise DataError("column-values-not-finite-numbers", name=short(name))
            values.flags.writeable = False

    @property
    def n(self) -> int:
        """Number of records, N; public."""
        return int(self.x.size)

    @classmethod
    def from_values(
        cls,
        names: tuple[str, str],
        values: tuple[Vector, Vector],
        bounds: tuple[Bounds, Bounds],
        **rest: Any,
    ) -> Pair:
        """Make a pair from values, clipped to public `bounds` and scaled to [−1, 1].

        rest: other fields of the pair. Raises DataError for fewer than 20 records, for NaN, and for
        bounds that are not an interval.
        """
        scaled, clipped = [], 0
        for name, column, (low, high) in zip(names, values, bounds, strict=True):
            if not -np.inf < low < high < np.inf:
                raise DataError("bounds-crossed", name=short(name))
            clipped += int(((column < low) | (column > high)).sum())
            # Halves, so that the widest bounds do not overflow.
            position = (np.clip(column, low, high) / 2 - low / 2) / (high / 2 - low / 2)
            scaled.append(np.clip(2 * position - 1, -1.0, 1.0))
        return cls(names, scaled[0], scaled[1], bounds, clipped=clipped, **rest)

    @classmethod
    def from_dataset(cls, dataset: Dataset, x: str, y: str) -> Pair:
        """Make a pair from two columns that are continuous, or ordinal with numeric levels.

        Raises DataError for an unknown column, the same column twice, a nominal column, levels that
        are not numbers, a unit of privacy with several rows, fewer than 20 rows, or a constant
        column. A column with public bounds or levels counts as constant only if these allow a
        single value.
        """
        for name in (x, y):
            if name not in dataset.names:
                raise DataError("no-such-column-of-pair", name=short(name))
        if dataset.unit.rows > 1:
            raise DataError(
                "guarantee-direction-protects-one-row-but",
                noun=dataset.unit.noun,
                rows=dataset.unit.rows,
            )
        if x == y:
            raise DataError("both-variables-one-column", name=short(x))
        at = [dataset.names.index(name) for name in (x, y)]
        taken = Dataset(
            dataset.name,
            tuple(dataset.columns[k] for k in at),
            tuple(dataset.values[k] for k in at),
            source=dataset.source,
            notes=dataset.notes,
        )
        constant = constant_columns(taken)
        if constant:
            raise DataError("variable-of-pair-constant", constant=short(constant[0]))
        read = [
            _numbers(column, codes)
            for column, codes in zip(taken.columns, taken.values, strict=True)
        ]
        edges = dataset.true_edges or ()
        known: Direction | None = "x->y" if (x, y) in edges else None
        return cls.from_values(
            (x, y),
            (read[0][0], read[1][0]),
            (read[0][1], read[1][1]),
            direction="y->x" if (y, x) in edges else known,
            source=taken.source,
            caveats=taken.caveats,
        )


def is_numeric(column: Column) -> bool:
    """Whether the values of a column are numbers or numeric levels."""
    if column.kind != "ordinal":
        return column.kind == "continuous"
    return None not in map(number_of, column.levels)


def _numbers(column: Column, values: NDArray[Any]) -> tuple[Vector, Bounds]:
    """The values of a column as numbers, and their bounds."""
    if column.bounds is not None:
        return np.asarray(values, dtype=np.float64), column.bounds
    name = short(column.name)
    if column.kind == "nominal":
        raise DataError("column-is-nominal", name=name)
    if not is_numeric(column):
        raise DataError("levels-not-numbers", name=name)
    levels = np.array([number_of(level) for level in column.levels], dtype=np.float64)
    return levels[values], (float(levels.min()), float(levels.max()))
