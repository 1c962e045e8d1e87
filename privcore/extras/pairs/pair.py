"""Pairs of variables, and what an inference says of their direction.

Two numeric variables, scaled to [−1, 1] by public bounds.

The result of an inference of a direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Vector
from privcore.data import Column, Dataset, constant_columns
from privcore.errors import DataError
from privcore.privacy.accounting import Guarantee
from privcore.privacy.mechanisms.noise import NoiseKind
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


Interval = tuple[float, float]

# Kinds of noise on a score: on the score itself, on each of its logarithms, in the selection of
# its quartiles, on its interquartile ranges, or only in the decision to release it.
Mechanism = Literal["laplace", "propose-test-release", "quantiles", "laplace-range", "stability"]


@dataclass(frozen=True, eq=False)
class Split:
    """A split into training and test records, drawn independently of the data.

    train, test: positions of the records, shapes (n,) and (m,).
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Curves:
    """Both regressions on a public grid of 201 points in [−1, 1].

    forward: predictions of y from x. backward: predictions of x from y. Both have shape (201,).
    private: whether the regressions were fitted with noise that protects the training records.
        Regressions without such noise must not be released.
    """

    grid: Vector
    forward: Vector
    backward: Vector
    private: bool


@dataclass(frozen=True, eq=False)
class Tested:
    """The test records and their residuals under the regressions in use; *not private*.

    x, y: shape (m,).  rest_y = y − f(x), rest_x = x − g(y), shape (m,), within [−2, 2].
    """

    x: Vector
    y: Vector
    rest_y: Vector
    rest_x: Vector


@dataclass(frozen=True)
class LogRanges:
    """The logarithms of the four interquartile ranges in the IQR scores, exact and released.

    The order is: test values of x, test values of y, residuals of y, residuals of x.
    """

    exact: tuple[float, float, float, float]
    released: tuple[float | None, float | None, float | None, float | None]


@dataclass(frozen=True)
class ScoreRelease:
    """One score for both directions, x → y first; the direction with the smaller score wins.

    The guarantee covers all fields except exact, before_noise, probability, exact_decision and
    parts.exact, which must never be released.

    exact: the scores under the non-private regressions.
    before_noise: the scores before noise was added, equal to exact unless the regressions are
        private as well.
    probability: the probability that the noise keeps the order of before_noise; NaN if no closed
        form is known.
    released: the released scores, None for a score that the mechanism refused to release.
    refused: the reason for a refusal.
    scale: scale of the Laplace noise on each score or, with propose-test-release, on each
        logarithm; NaN if no noise is added to a released number.
    intervals: for each score, an interval that contains the score before noise with probability
        95 %; None if the score is not released or no such interval is known.
    """

    score: str
    mechanism: Mechanism
    exact: tuple[float, float]
    before_noise: tuple[float, float]
    released: tuple[float | None, float | None]
    scale: float
    intervals: tuple[Interval | None, Interval | None]
    decision: Direction | None
    exact_decision: Direction | None
    probability: float
    parts: LogRanges | None = None
    refused: str = ""

    @property
    def overlapping(self) -> bool:
        """Whether the noise intervals of the two scores overlap; the guarantee covers the answer.

        If they overlap, the noise alone may have decided which score is smaller.
        """
        first, second = self.intervals
        if first is None or second is None:
            return False
        return first[0] <= second[1] and second[0] <= first[1]


@dataclass(frozen=True)
class Inference:
    """The result of one run of `infer`.

    parameters: all parameters, including values that the engine chose.
    fits: the regressions in use, which may be released only if `fits.private`.
    bins: number of bins of the private regressions, 0 if the regressions are exact.
    seconds: engine time, without the time to load the data.
    The fields exact_fits, tested and seconds are *not private*; for releases, see `ScoreRelease`.
    """

    names: tuple[str, str]
    parameters: Mapping[str, Any]
    guarantee: Guarantee
    noise: NoiseKind
    n_train: int
    n_test: int
    bins: int
    seconds: float
    releases: tuple[ScoreRelease, ...]
    fits: Curves = field(repr=False)
    exact_fits: Curves = field(repr=False)
    tested: Tested = field(repr=False)

    @property
    def decision(self) -> Direction | None:
        """The direction on which all scores that decide agree; None if they differ or are open."""
        decisions = {release.decision for release in self.releases if release.decision}
        return decisions.pop() if len(decisions) == 1 else None


def smaller(first: float | None, second: float | None) -> Direction | None:
    """The direction with the smaller score; None if a score is missing or the scores are equal."""
    if first is None or second is None or first == second:
        return None
    return "x->y" if first < second else "y->x"
