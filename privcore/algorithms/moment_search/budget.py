"""Plans that split a total (ε, δ) over the releases, from public facts alone.

There is a plan for each kind of release: counts of all combinations of levels at once; counts of
pairs of columns, then of larger tables in rounds; and second moments of rows (of numbers, or of
levels coded by a few numbers each).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from privcore.algorithms.moment_search.features import sensitivity
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.released import counts_levels
from privcore.algorithms.moment_search.statistic import cell_information
from privcore.data.discretise import usual_intervals
from privcore.independence.linear_scores import coordinates
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.privacy.mechanisms.moments import (
    CENTRED_SHARE,
    columns_sensitivity,
    weighted_sensitivity,
)
from privcore.rounding import down, up

# Share of μ² for each release that only determines how the next releases are made.
_FIRST = 0.1
# With fewer intervals no shape can be detected.
_LEAST_INTERVALS = 3
# Maximum norms of numeric rows, divided by √p, in standard deviations of the columns; each with the
# noise on a correlation up to which this norm is used: scaling rows down biases their moments a
# little. docs/experiments/numbers.md.
_RADII = ((3.0, 0.0005), (2.0, 0.002), (1.5, 0.006), (1.25, 0.012), (1.0, math.inf))
# Maximum norm of rows of coded levels, divided by the root of the number of coordinates.
_RADIUS = 0.9
# A table with fewer cells would add nothing to the pairs.
LEAST_CELLS = 16
_MOST_CELLS = 1_000_000
# Rounds of tables, with equal shares.
_ROUNDS = 3


@dataclass(frozen=True)
class WholePlan:
    """The plan to count all combinations of levels.

    n: number of rows. levels: number of levels of each column.
    """

    n: int
    levels: tuple[int, ...]
    epsilon: float

    @property
    def scale(self) -> float:
        """Scale of the noise on each count: replacing a row changes two counts by 1."""
        return up(2 / self.epsilon)

    @property
    def weight(self) -> float:
        """The share of the information in a count that remains despite the noise.

        The columns are assumed to be balanced and independent.
        """
        expected = self.n / math.prod(self.levels)
        return expected * float(cell_information(np.array(expected), self.scale))

    @property
    def events(self) -> tuple[Event, ...]:
        return (Event("discrete laplace", self.epsilon / 2, 2),)


@dataclass(frozen=True, kw_only=True)
class GaussianPlan:
    """A plan of releases with Gaussian noise.

    n: number of rows. levels: number of levels of each column, 0 for numeric columns. mus:
    Gaussian-DP parameter of each release, in order; 0 for a release that is not made.
    """

    n: int
    levels: tuple[int, ...]
    mus: tuple[float, ...]

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of μ² for each release that is made."""
        squares = [mu * mu for mu in self.mus if mu]
        return tuple(square / math.fsum(squares) for square in squares)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(Event("gaussian", 1 / mu) for mu in self.mus if mu)


@dataclass(frozen=True, kw_only=True)
class MomentPlan(GaussianPlan):
    """The plan to count pairs of columns, then tables in rounds.

    mus: Gaussian-DP parameters of the counts of pairs, and of all tables together. cells: maximum
    number of cells per table; 0 if no tables are counted.
    """

    cells: int = 0

    @property
    def pairs_sigma(self) -> float:
        """Standard deviation of the noise on the sum of each feature over all rows."""
        return planned_sigma(sensitivity(self.levels, self.n), self.mus[0])

    @property
    def noise(self) -> float:
        """Ratio of noise variance to sampling variance for a pair of balanced columns."""
        return sensitivity(self.levels, self.n) ** 2 / (self.n * self.mus[0] ** 2)

    @property
    def rounds(self) -> int:
        return _ROUNDS if self.cells else 0

    @property
    def mu_round(self) -> float:
        """μ of each round of tables; there must be at least one round."""
        return down(self.mus[1] / math.sqrt(self.rounds))

    def tables_sigma(self, tables: int) -> float:
        """Standard deviation of the noise on each cell; tables: number of tables in the round.

        Replacing a record changes a table by at most √2 in L2 norm.
        """
        return planned_sigma(math.sqrt(2 * tables), self.mu_round)

    @property
    def events(self) -> tuple[Event, ...]:
        mus = (self.mus[0], *(self.mu_round for _ in range(self.rounds)))
        return tuple(Event("gaussian", 1 / mu) for mu in mus)


@dataclass(frozen=True, kw_only=True)
class RowsPlan(GaussianPlan):
    """The plan for second moments of rows of numbers, or of levels coded by a few numbers each.

    mus: Gaussian-DP parameters of three releases. The first release sets the units: the middle and
    spread of each numeric column, or the counts of each column with levels. The second release
    counts pairs, to determine whether numeric columns depend on each other linearly; its μ is 0 if
    linearity is assumed or if levels are counted anyway. The third release consists of the second
    moments, or of counts in their place. columns: number of coordinates of a row. radius: maximum
    norm of a row, in standard deviations of the coordinates, divided by √columns. intervals: number
    of intervals per numeric column if levels are counted; 0 if all columns have levels. ordered:
    see `CountSource`. mean_share: weight of the means relative to the products.
    """

    columns: int
    radius: float
    intervals: int = 0
    ordered: tuple[int, ...] = ()
    mean_share: float = CENTRED_SHARE

    @property
    def cut(self) -> tuple[int, ...]:
        """Number of levels of each column after numeric columns are cut into intervals."""
        return tuple(r or self.intervals for r in self.levels)

    @property
    def scaled(self) -> tuple[int, ...]:
        """Columns whose middle and spread are released.

        These are numeric columns, and yes/no columns unless levels are counted.
        """
        counted = counts_levels(self.levels)
        return tuple(c for c, r in enumerate(self.levels) if not (r and counted))

    @property
    def longest(self) -> float:
        """Maximum norm of a row of standardised numbers."""
        return self.radius * math.sqrt(self.columns)

    @property
    def units_sigma(self) -> float:
        """Standard deviation of the noise on the release that sets the units.

        Replacing a row changes the mean and the mean square of a numeric column in [−1, 1] by at
        most 2/n in L2 norm. In a column with levels, one count falls by 1 and another rises by 1.
        """
        if self.intervals:
            return planned_sigma(columns_sensitivity(len(self.scaled), self.n), self.mus[0])
        return planned_sigma(math.sqrt(2 * len(self.levels)), self.mus[0])

    @property
    def shapes_sigma(self) -> float:
        """Standard deviation of the noise on the sums of features; the plan must release pairs."""
        return planned_sigma(sensitivity(self.cut, self.n), self.mus[1])

    @property
    def moments_sigma(self) -> float:
        """Standard deviation of the noise on products and means, for rows in the unit ball."""
        return planned_sigma(weighted_sensitivity(1.0, self.n, self.mean_share), self.mus[2])

    @property
    def correlation_noise(self) -> float:
        """Standard deviation of the noise on a correlation, if the released units are exact."""
        return self.moments_sigma * self.radius**2 * self.columns


Plan = WholePlan | MomentPlan | RowsPlan


def plan_whole(n: int, levels: Sequence[int], epsilon: float, *, cells: int) -> WholePlan | None:
    """The plan for all combinations of levels.

    None if there are more than `cells` combinations, or fewer than two columns.
    """
    if len(levels) < 2 or math.prod(levels) > cells:
        return None
    return WholePlan(n, tuple(levels), epsilon)


def plan_moments(
    n: int, levels: Sequence[int], mu: float, parameters: MomentSearchParameters
) -> MomentPlan:
    """The plan for pairs and tables; mu: Gaussian-DP parameter of all releases together.

    In a test on a table with c cells, the ratio of noise variance to sampling variance is about
    c σ²/n. With one table for each of the p columns, σ² = 2p/μ². So the largest allowed ratio,
    `table_noise_ratio`, limits the number of cells.
    """
    share, most = parameters.table_share, parameters.table_noise_ratio
    cells = min(most * n * (share * mu * mu) / (2 * len(levels)), _MOST_CELLS)
    if cells < LEAST_CELLS or len(levels) < 3:
        return MomentPlan(n=n, levels=tuple(levels), mus=(mu, 0.0))
    mus = mu * math.sqrt(1 - share), mu * math.sqrt(share)
    return MomentPlan(n=n, levels=tuple(levels), mus=mus, cells=int(cells))


def plan_numbers(n: int, own_levels: Sequence[int], parameters: MomentSearchParameters) -> RowsPlan:
    """The plan for numeric columns; own_levels: see `NumberSource`.

    The maximum norm of a row follows from the parameter `longest_row`. If this parameter is None,
    the noise determines the maximum norm.
    """
    columns, epsilon = len(own_levels), parameters.epsilon
    intervals = usual_intervals(n, columns, epsilon)
    looked = intervals >= _LEAST_INTERVALS and columns > 1 and not counts_levels(own_levels)
    shapes = _FIRST if looked else 0.0
    mu = planned_mu(epsilon, parameters.delta)
    plan = RowsPlan(
        n=n,
        levels=tuple(own_levels),
        mus=tuple(down(mu * math.sqrt(s)) for s in (_FIRST, shapes, 1 - _FIRST - shapes)),
        columns=columns,
        radius=parameters.longest_row or 0.0,
        intervals=intervals,
    )
    if plan.radius:
        return plan
    tried = ((replace(plan, radius=radius), most) for radius, most in _RADII)
    return next(plan for plan, most in tried if plan.correlation_noise <= most)


def plan_lines(
    n: int,
    levels: Sequence[int],
    ordered: Sequence[int],
    mu: float,
    parameters: MomentSearchParameters,
) -> RowsPlan:
    """The plan for levels coded by a few numbers each; mu: μ of both releases together."""
    in_order = tuple(ordered) or (0,) * len(levels)
    return RowsPlan(
        n=n,
        levels=tuple(levels),
        mus=(down(mu * math.sqrt(_FIRST)), 0.0, down(mu * math.sqrt(1 - _FIRST))),
        columns=sum(map(coordinates, levels, in_order)),
        radius=parameters.longest_row or _RADIUS,
        ordered=in_order,
    )
