"""How a total (ε, δ) is split over the releases, from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from privcore.algorithms.moment_search.likelihood.cell_likelihood import cell_information
from privcore.algorithms.moment_search.release.features import (
    chosen_pairs_sensitivity,
    pair_features_sensitivity,
    rounding_of_features,
)
from privcore.data.discretise import usual_intervals
from privcore.privacy.mechanisms.column_release import columns_sensitivity
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.privacy.mechanisms.moment_release import CENTRED_SHARE, weighted_sensitivity
from privcore.privacy.mechanisms.noise import discrete_laplace_variance
from privcore.rounding import down, up


@dataclass(frozen=True)
class WholePlan:
    """n: rows.  cells: of the table.  scale: of the discrete Laplace noise on each."""

    n: int
    cells: int
    scale: float

    @property
    def variance(self) -> float:
        """Variance of the noise on a cell."""
        return discrete_laplace_variance(self.scale)

    @property
    def noise(self) -> float:
        """Its variance on a pair, as a part of what n balanced rows vary by chance."""
        return self.cells * self.variance / self.n

    @property
    def weight(self) -> float:
        """What is left of the information on balanced and independent columns."""
        expected = self.n / self.cells
        information = cell_information(np.array(expected), self.scale)
        return expected * float(information)


def plan_whole(n: int, levels: Sequence[int], epsilon: float, *, cells: int) -> WholePlan | None:
    """None where the columns have more combinations of levels than `cells`, or there is but one.

    A replaced record leaves one cell and enters another, so that scale 2/ε gives ε.
    """
    size = math.prod(levels)
    if len(levels) < 2 or size > cells:
        return None
    return WholePlan(n, size, up(2 / epsilon))


# Of μ², for the middle and spread of the columns, and for what shows whether they depend on each
# other in lines.
_SCALES_SHARE = 0.1
_SHAPES_SHARE = 0.1
# A column of so many levels is a number as well: yes/no as −1 and 1.
_MOST_AS_NUMBER = 2
# With fewer intervals no shape can be seen.
_LEAST_INTERVALS = 3
# Lengths of rows, in standard deviations, each with the noise on a correlation up to which it is
# worth it: shortening rows bends their moments a little.  docs/experiments/numbers.md.
_RADII = ((3.0, 0.0005), (2.0, 0.002), (1.5, 0.006), (1.25, 0.012))
_SHORTEST = 1.0


@dataclass(frozen=True)
class NumbersPlan:
    """Gaussian-DP parameters of the releases, and what else is fixed.

    mu_scales: of the columns' middle and spread.  mu_shapes: of the pairs that show whether numbers
    depend on each other in lines; 0 where that is taken for granted, or levels are counted anyway.
    mu_rest: of the second moments, whose noise on every mean is moments_sigma, or of all that is
    counted in their place.
    own_levels: per column, how many levels it has beside the numbers; 0 for numbers.
    radius: how long rows may be, in standard deviations of their columns, over √p.
    intervals: into which numbers are cut where levels are counted.
    mean_share: weight of the means beside the second moments.
    """

    n: int
    own_levels: tuple[int, ...]
    mu_scales: float
    mu_shapes: float
    mu_rest: float
    radius: float
    intervals: int
    mean_share: float

    @property
    def shares(self) -> tuple[float, ...]:
        """Parts of μ² of the releases that are made."""
        squares = [mu * mu for mu in (self.mu_scales, self.mu_shapes, self.mu_rest) if mu]
        return tuple(square / math.fsum(squares) for square in squares)

    @property
    def columns(self) -> int:
        return len(self.own_levels)

    @property
    def levels(self) -> tuple[int, ...]:
        """Numbers of levels of the columns, where numbers are cut."""
        return tuple(r or self.intervals for r in self.own_levels)

    @property
    def counted(self) -> bool:
        """Whether levels are counted in any case."""
        return counts_levels(self.own_levels)

    @property
    def scaled(self) -> tuple[int, ...]:
        """Columns whose middle and spread are released: of levels that are counted, none is."""
        return tuple(c for c, r in enumerate(self.own_levels) if not (r and self.counted))

    @property
    def scales_sigma(self) -> float:
        """A mean and a mean square of a number in [−1, 1] move together by 2/n at most."""
        return planned_sigma(columns_sensitivity(len(self.scaled), self.n), self.mu_scales)

    @property
    def shapes_sigma(self) -> float:
        """Noise on the sums of each pair's features; there must be such a release."""
        return planned_sigma(_pairs_sensitivity(self.levels, self.n), self.mu_shapes)

    @property
    def moments_sigma(self) -> float:
        """Rows in the unit ball."""
        return planned_sigma(weighted_sensitivity(1.0, self.n, self.mean_share), self.mu_rest)

    @property
    def correlation_noise(self) -> float:
        """Standard deviation of the noise on a correlation, where the units fit."""
        return self.moments_sigma * self.radius**2 * self.columns


def counts_levels(own_levels: Sequence[int]) -> bool:
    """Whether levels are counted in any case: more than two of a column are no number."""
    return max(own_levels) > _MOST_AS_NUMBER


def plan_numbers(
    n: int,
    own_levels: Sequence[int],
    epsilon: float,
    delta: float,
    *,
    radius: float | None,
) -> NumbersPlan:
    """own_levels: as of `NumberSource`.  radius: None for one that fits the noise."""
    mu, own_levels = planned_mu(epsilon, delta), tuple(own_levels)
    columns = len(own_levels)
    intervals = usual_intervals(n, columns, epsilon)
    looked = intervals >= _LEAST_INTERVALS and columns > 1 and not counts_levels(own_levels)
    shapes = _SHAPES_SHARE if looked else 0.0
    scales_mu, shapes_mu = (down(mu * math.sqrt(share)) for share in (_SCALES_SHARE, shapes))
    rest_mu = down(mu * math.sqrt(1 - _SCALES_SHARE - shapes))

    def planned(tried: float) -> NumbersPlan:
        mu = scales_mu, shapes_mu, rest_mu
        return NumbersPlan(n, own_levels, *mu, tried, intervals, CENTRED_SHARE)

    if radius is not None:
        return planned(radius)
    for tried, most in _RADII:
        if planned(tried).correlation_noise <= most:
            return planned(tried)
    return planned(_SHORTEST)


# Below this many cells no table would hold more than what the pairs say already.
LEAST_CELLS = 16
MOST_CELLS = 1_000_000
# Rounds of tables, with equal shares.
_ROUNDS = 3


@dataclass(frozen=True)
class MomentPlan:
    """levels: of each column.  mu_pairs, mu_tables: Gaussian-DP parameters of the pairs and of all
    tables; mu_tables is 0 where these are left out.  sensitivity: of the pairs' features.  cells:
    of a table, at most.  noise: variance of that on a pair, as a part of what n balanced rows vary
    by chance.
    """

    levels: tuple[int, ...]
    mu_pairs: float
    mu_tables: float
    sensitivity: float
    cells: int
    noise: float

    @property
    def pairs_sigma(self) -> float:
        """Noise on each feature's sum, in counts."""
        return planned_sigma(self.sensitivity, self.mu_pairs)

    @property
    def rounds(self) -> int:
        """How many rounds of tables there are."""
        return _ROUNDS if self.cells else 0

    @property
    def mu_round(self) -> float:
        """μ of each round; there must be at least one."""
        return down(self.mu_tables / math.sqrt(self.rounds))

    def tables_sigma(self, tables: int) -> float:
        """Noise on each cell of a round's tables: a replaced record moves each by √2 at most."""
        return planned_sigma(math.sqrt(2 * tables), self.mu_round)

    @property
    def pairs_share(self) -> float:
        """Part of μ² that the pairs take."""
        return self.mu_pairs**2 / (self.mu_pairs**2 + self.mu_tables**2)


def plan_moments(
    n: int, levels: Sequence[int], mu: float, *, share: float, tables: float
) -> MomentPlan:
    """mu: of all releases together.  share: of μ² that the tables get.

    tables: how much larger than the sampling variance the noise's part may be in a test on a full
    contingency table, which limits the number of cells.

    A test on a table of c cells has a noise variance of about c σ²/n of its sampling variance;
    with a table for each column σ² = 2p/μ².
    """
    second = share * mu * mu
    cells = min(tables * n * second / (2 * len(levels)), MOST_CELLS)
    sensitivity = _pairs_sensitivity(levels, n)
    if cells < LEAST_CELLS or len(levels) < 3:
        return MomentPlan(tuple(levels), mu, 0.0, sensitivity, 0, sensitivity**2 / (n * mu**2))
    first = mu * math.sqrt(1 - share)
    noise = sensitivity**2 / (n * first**2)
    return MomentPlan(tuple(levels), first, mu * math.sqrt(share), sensitivity, int(cells), noise)


def plan_chosen(
    n: int, levels: Sequence[int], mu: float, pairs: Collection[tuple[int, int]]
) -> MomentPlan:
    """All of μ for these pairs alone, without tables."""
    sensitivity = chosen_pairs_sensitivity(levels, pairs) + rounding_of_features(levels, n)
    return MomentPlan(tuple(levels), mu, 0.0, sensitivity, 0, sensitivity**2 / (n * mu**2))


def _pairs_sensitivity(levels: Sequence[int], n: int) -> float:
    return pair_features_sensitivity(levels) + rounding_of_features(levels, n)
