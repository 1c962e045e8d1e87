"""The second moments of the columns of one question: exact, or in one more release with noise.

A row is coded by a few coordinates: a number by itself, a column of r levels by r − 1 contrasts.
The first contrast of the cause is the one between the two levels that are compared, so that its
coefficient in a regression is the effect.  An outcome with levels is the indicator of its level.
Coordinates are centred, scaled to a variance of about 1, and rows are clipped to a maximum norm.
Sensitivity: docs/proofs/effects.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from privcore.algorithms.moment_search.moments import sum_zero_basis
from privcore.algorithms.moment_search.plan import RowMoments, Scales
from privcore.algorithms.moment_search.released import NumberUnits
from privcore.algorithms.search.result import NoisyMoments
from privcore.arrays import Columns, Matrix, Vector
from privcore.counts import NumericRows
from privcore.effects.evidence import Numbers
from privcore.effects.question import IndexedQuestion
from privcore.independence.linear_scores import covariance
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.moments import CENTRED_SHARE, SQUARES, upper_triangle
from privcore.rounding import down

# Share of μ² for centre and spread of the numbers.
_UNITS = 0.1
# Share of the rows of normal columns that are not clipped.
_WHOLE = 0.999
# With so little noise, relative to sampling, the maximum norm is raised instead.
_LITTLE = 0.3


def widths(own_levels: Sequence[int], indexed: IndexedQuestion) -> tuple[int, ...]:
    """The number of coordinates of each column; own_levels: see `Source`."""
    return tuple(1 if c == indexed.outcome else max(r - 1, 1) for c, r in enumerate(own_levels))


def largest_norm(coordinates: int, n: int, mu: float) -> float:
    """The norm to which rows are clipped, in standard deviations, from public facts alone."""
    usual = float(chi2.ppf(_WHOLE, coordinates))
    return math.sqrt(max(usual, _LITTLE * mu * math.sqrt(n)))


def correlation_noise(coordinates: int, numbers: int, n: int, mu: float) -> float:
    """The expected standard deviation of the noise on a correlation after a release.

    numbers: how many coordinates are numbers.  Their standard deviations are assumed to be an
    eighth of their public ranges, a quarter in units of half a range.
    """
    noise = _row_moments(coordinates, n, mu, math.inf).correlation_noise
    if not numbers:
        return noise
    return noise * (1 + 16 * Scales(n=n, mu=_of_units(mu), columns=tuple(range(numbers))).sigma)


def _of_units(mu: float) -> float:
    return down(mu * math.sqrt(_UNITS))


def _row_moments(coordinates: int, n: int, mu: float, most: float) -> RowMoments:
    radius = min(largest_norm(coordinates, n, mu), most) / math.sqrt(coordinates)
    return RowMoments(n=n, mu=down(mu * math.sqrt(1 - _UNITS)), columns=coordinates, radius=radius)


@dataclass(frozen=True)
class Coded:
    """The coded rows of a question.

    rows: shape (n, d).  numbers: which coordinates are numbers, in −1 … 1 by their bounds.
    unit: one unit of each coordinate in the units of the data.  places: see `Numbers`.
    """

    rows: Matrix
    numbers: Columns
    unit: Vector
    places: Mapping[int, Columns]
    indexed: IndexedQuestion

    @classmethod
    def of(cls, source: NumericRows, indexed: IndexedQuestion, columns: Sequence[int]) -> Coded:
        """The rows of a source, coded for a question; columns: cause, outcome, adjustment sets."""
        scaled, _ = source.rows()
        blocks: list[Matrix] = []
        numbers: list[int] = []
        unit: list[float] = []
        places: dict[int, Columns] = {}
        for column in columns:
            values, levels, at = scaled[:, column], source.own_levels[column], len(unit)
            if not levels:
                low, high = source.bounds[column]
                block, units = values[:, None], [(high - low) / 2]
                numbers.append(at)
            else:
                codes = np.rint((values + 1) / 2 * (levels - 1)).astype(np.intp)
                block, units = _contrasts(codes, levels, column, indexed)
            places[column] = tuple(range(at, at + len(units)))
            blocks.append(block)
            unit += units
        rows = np.concatenate(blocks, axis=1)
        return cls(rows, tuple(numbers), np.array(unit), places, indexed)

    def exact(self) -> Numbers:
        """The moments of the rows themselves.  Not private."""
        n = len(self.rows)
        moments = np.column_stack((np.ones(n), self.rows))
        moments = moments.T @ moments / n
        means = moments[0, 1:]
        exact = NoisyMoments(means, covariance(moments), 0.0, 1.0, self.unit)
        return Numbers(exact, n, self.places, self.indexed.change)

    def release(self, mu: float, noise: NoiseSource) -> Numbers:
        """The moments with Gaussian noise, under μ-Gaussian DP for one replaced row."""
        n, d = self.rows.shape
        centre, spread = np.zeros(d), np.ones(d)
        at = np.array(self.numbers, dtype=np.intp)
        if len(at):
            scales = Scales(n=n, mu=_of_units(mu), columns=tuple(range(len(at))))
            made = scales.measure(_source(self.rows[:, at]), noise)
            means, squares = np.clip(made.values[0], -1, 1), made.values[1]
            deviation = math.sqrt(made.variance)
            # Rather too wide than too narrow, where rows would be clipped.
            variance = squares - means * means + deviation
            centre[at], spread[at] = means, np.sqrt(np.clip(variance, min(deviation, 1.0), 1.0))
        plan = _row_moments(d, n, mu, self._farthest(centre, spread))
        half = np.ones(d)
        released = plan.measure(
            _source(self.rows), noise, NumberUnits(centre, spread, plan.radius, half, CENTRED_SHARE)
        )
        rows, columns = upper_triangle(d, centred=True)
        moments = np.zeros((d + 1, d + 1))
        moments[rows, columns] = moments[columns, rows] = released.values
        moments[0] /= CENTRED_SHARE
        sigma = math.sqrt(released.variance[0])
        noisy = NoisyMoments(
            moments[0, 1:],
            covariance(moments),
            sigma,
            CENTRED_SHARE,
            spread * plan.longest * self.unit,
            SQUARES,
        )
        return Numbers(noisy, n, self.places, self.indexed.change)

    def _farthest(self, centre: Vector, spread: Vector) -> float:
        """The largest norm that the bounds and the levels allow, in these units."""
        at = np.array(self.numbers, dtype=np.intp)
        numbers = float((((1 + np.abs(centre[at])) / spread[at]) ** 2).sum())
        # A column of r levels has r − 1 coordinates, whose squares sum to r − 1.
        return math.sqrt(numbers + len(centre) - len(at))


def _contrasts(
    codes: NDArray[np.intp], levels: int, column: int, indexed: IndexedQuestion
) -> tuple[Matrix, list[float]]:
    """Coordinates of a column with levels, and one unit of each in the units of the question."""
    if column == indexed.outcome:
        return np.where(codes == indexed.level, 1.0, -1.0)[:, None], [0.5]
    order = np.arange(levels)
    if column == indexed.cause:
        both = [indexed.to, indexed.compared]
        order = np.array([*both, *(k for k in order if k not in both)])
    basis = np.empty((levels, levels - 1))
    # The first contrast is between the first two levels of the order.
    basis[order] = sum_zero_basis(levels) * math.sqrt(levels)
    return basis[codes], [1 / math.sqrt(2 * levels)] * (levels - 1)


def _source(rows: Matrix) -> NumericRows:
    names = tuple(map(str, range(rows.shape[1])))
    return NumericRows(names, ((-1.0, 1.0),) * len(names), rows)
