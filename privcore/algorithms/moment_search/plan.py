"""The plan of a run: what it measures and with which noise, from public facts alone.

A plan consists of planned releases. Each of them states its privacy events and makes its
measurements, so that cost and noise come from one object. These measurements are the only code of
the search that uses rows and exact counts. Proof: docs/proofs/moment_search.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from privcore.algorithms.moment_search.moments import Basis, Measurement, sum_zero_basis
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.released import (
    LineUnits,
    NumberUnits,
    ReleasedNumbers,
    counts_levels,
)
from privcore.algorithms.moment_search.statistic import cell_information
from privcore.arrays import Columns, Matrix
from privcore.counts import Bases, CountSource, MomentSource, NumberSource, has_levels, has_numbers
from privcore.data.discretise import usual_intervals
from privcore.errors import DataError
from privcore.fixed_point import of_means
from privcore.independence.linear_scores import coordinates
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.privacy.mechanisms.moments import (
    CENTRED_SHARE,
    SQUARES,
    columns_sensitivity,
    upper_triangle,
    weighted_sensitivity,
    with_noise,
)
from privcore.privacy.mechanisms.no_noise import width_of
from privcore.privacy.mechanisms.noise import discrete_laplace_variance
from privcore.rounding import down, up

# Share of μ² for each release that only determines how the next releases are made.
_FIRST = 0.1
# With fewer intervals no shape can be detected.
_LEAST_INTERVALS = 3
# Shares of μ² if distances of pairs choose the tables: for counts of levels, and for distances.
_LEVELS_FIRST, _DISTANCES = 0.3, 0.5
# Maximum norms of rows over √p, in standard deviations, each with its largest correlation noise.
_RADII = ((3.0, 0.0005), (2.0, 0.002), (1.5, 0.006), (1.25, 0.012))
# Maximum norm of rows of coded levels, divided by the root of the number of coordinates.
_RADIUS = 0.9
# Intervals of a numeric column before the products of one column, which more intervals cost little.
_FINE = 6
# Expected number of columns that are measured with one column by chance, and usual number of all.
BY_CHANCE, USUALLY_MEASURED = 2.0, 5
# A table with fewer cells would add nothing to the pairs.
LEAST_CELLS = 16
_MOST_CELLS = 1_000_000
# Rounds of tables, with equal shares.
ROUNDS = 3


def noisy(
    exact: Mapping[Columns, Matrix], basis: Basis, sigma: float, noise: NoiseSource
) -> list[Measurement]:
    """Add normal noise of standard deviation sigma to exact numbers about sets of columns."""
    values = noise.gaussian_array(np.concatenate([part.ravel() for part in exact.values()]), sigma)
    ends, width = np.cumsum([part.size for part in exact.values()]), width_of(noise, sigma)
    return [
        Measurement(columns, part.reshape(exact[columns].shape), width * width, basis)
        for columns, part in zip(exact, np.split(values, ends[:-1]), strict=True)
    ]


def exact_counts(source: CountSource, columns: Columns) -> Matrix:
    return np.asarray(source.table(columns).astype(np.float64))


def exact_pair_sums(source: CountSource) -> dict[Columns, Matrix]:
    """The exact sums of features for each column and each pair of columns; see `moments`."""
    bases = [sum_zero_basis(r) for r in source.levels]
    exact: dict[Columns, Matrix] = {(c,): b.T @ source.table([c]) for c, b in enumerate(bases)}
    for c, d in combinations(range(len(bases)), 2):
        exact[c, d] = bases[c].T @ source.table([c, d]) @ bases[d]
    return exact


@dataclass(frozen=True)
class WholeTable:
    """The planned release of the counts of all combinations of levels.

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

    def measure(self, source: CountSource, noise: NoiseSource) -> Measurement:
        """The counts, each with discrete Laplace noise."""
        columns = tuple(range(len(self.levels)))
        exact = source.table(columns).reshape(-1).astype(np.int64)
        counts = noise.discrete_laplace_array(exact, self.scale).astype(np.float64)
        variance = discrete_laplace_variance(width_of(noise, self.scale))
        return Measurement(columns, counts.reshape(self.levels), variance, "counts")


@dataclass(frozen=True, kw_only=True)
class Planned(ABC):
    """A planned release with normal noise.

    n: number of rows. mu: Gaussian-DP parameter for the replacement of one row.
    """

    n: int
    mu: float

    @property
    @abstractmethod
    def sensitivity(self) -> float:
        """The largest L2 change in the exact numbers if one row is replaced."""

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise on each number."""
        return planned_sigma(self.sensitivity, self.mu)

    @property
    def events(self) -> tuple[Event, ...]:
        return (Event("gaussian", 1 / self.mu),)


@dataclass(frozen=True, kw_only=True)
class PairSums(Planned):
    """The planned release of the sums of features for each column and each pair of columns.

    levels: number of levels of each column. The features of a record are the codes of its levels
    (`moments`), and the products of the codes for the pairs of columns.
    """

    levels: tuple[int, ...]

    @property
    def sensitivity(self) -> float:
        return pair_features_sensitivity(self.levels) + rounding_of_features(self.levels, self.n)

    @property
    def noise_ratio(self) -> float:
        """Ratio of noise variance to sampling variance for a pair of balanced columns."""
        return self.sensitivity**2 / (self.n * self.mu**2)

    def measure(self, source: CountSource, noise: NoiseSource) -> list[Measurement]:
        return noisy(exact_pair_sums(source), "contrasts", self.sigma, noise)


def rounding_of_features(levels: Sequence[int], n: int) -> float:
    """Maximum floating-point error, in L2 norm, of the difference between two feature sums.

    n: number of rows. Proof: docs/proofs/fixed_point.md, statement 2.
    """
    blocks = len(levels) * (len(levels) + 1) / 2
    return (2 * max(levels) + 10) * math.sqrt(blocks) * n * 2.0**-52


def pair_features_sensitivity(levels: Sequence[int]) -> float:
    """The largest Euclidean change in a record's features when the record is replaced.

    The value is exact; see docs/proofs/moment_search.md, statement 1. levels: number of levels of
    each column.
    """
    own = [1 - 1 / r for r in levels]
    total, squares = math.fsum(own), math.fsum(k * k for k in own)
    # With m columns that differ, the inner product is smallest if these have the fewest levels.
    gains = sorted((2 / r - 1 for r in levels), reverse=True)
    same = total + (total * total - squares) / 2
    largest = 0.0
    for differing in range(1, len(levels) + 1):
        squares += gains[differing - 1]
        left = total - differing
        largest = max(largest, 2 * (same - left - (left * left - squares) / 2))
    return math.sqrt(largest)


@dataclass(frozen=True, kw_only=True)
class Tables(Planned):
    """The planned release of the counts over several sets of columns."""

    sets: Sequence[Columns]

    @property
    def sensitivity(self) -> float:
        """In each table, one count falls by 1 and another rises by 1."""
        return math.sqrt(2 * len(self.sets))

    def measure(self, source: CountSource, noise: NoiseSource) -> list[Measurement]:
        return [
            measurement
            for columns in self.sets
            for measurement in noisy(
                {columns: exact_counts(source, columns)}, "counts", self.sigma, noise
            )
        ]


@dataclass(frozen=True)
class TableRounds:
    """Planned rounds of tables, whose sets of columns depend on the earlier releases.

    mu: Gaussian-DP parameter of all rounds together. cells: maximum number of cells per table.
    rounds: number of rounds.
    """

    n: int
    mu: float
    cells: int
    rounds: int = ROUNDS

    def round(self, sets: Sequence[Columns]) -> Tables:
        """The release of one round."""
        return Tables(n=self.n, mu=down(self.mu / math.sqrt(self.rounds)), sets=sets)

    @property
    def events(self) -> tuple[Event, ...]:
        return self.round(()).events * self.rounds


@dataclass(frozen=True, kw_only=True)
class LevelCounts(Planned):
    """The planned release of the counts of each column's levels, which later releases refer to.

    columns: number of columns.
    """

    columns: int

    @property
    def sensitivity(self) -> float:
        """In each column, one count falls by 1 and another rises by 1."""
        return math.sqrt(2 * self.columns)

    def measure(self, source: CountSource, noise: NoiseSource) -> list[Measurement]:
        exact: dict[Columns, Matrix] = {
            (c,): exact_counts(source, (c,)) for c in range(self.columns)
        }
        return noisy(exact, "counts", self.sigma, noise)


@dataclass(frozen=True, kw_only=True)
class Distances(Planned):
    """The planned release of the distance of each pair's counts from fixed counts.

    columns: number of columns.
    """

    columns: int

    @property
    def sensitivity(self) -> float:
        """In each pair, one count falls by 1 and another rises by 1; see `measure` for rounding."""
        return 2 * math.sqrt(math.comb(self.columns, 2))

    def measure(
        self,
        source: CountSource,
        noise: NoiseSource,
        expected: Iterable[tuple[Columns, Matrix]],
    ) -> Measurement:
        """The sums over cells of |count − expected count|.

        expected: a table for each pair, of multiples of 2⁻¹⁰: all differences and sums are exact.
        """
        exact = [np.abs(exact_counts(source, pair) - own).sum() for pair, own in expected]
        every = tuple(range(self.columns))
        (made,) = noisy({every: np.array(exact)}, "distances", self.sigma, noise)
        return made


@dataclass(frozen=True, kw_only=True)
class Scales(Planned):
    """The planned release of means and mean squares of numeric columns, which set units of rows.

    columns: the columns.
    """

    columns: Columns

    @property
    def sensitivity(self) -> float:
        """Means and mean squares of a column in [−1, 1] change by at most 2/n in L2 norm."""
        return columns_sensitivity(len(self.columns), self.n)

    def measure(self, source: NumberSource, noise: NoiseSource) -> Measurement:
        """The noisy means (first row) and mean squares (second row)."""
        columns = np.array(self.columns, dtype=np.intp)
        exact = source.moments(math.sqrt(len(source.names)))
        values = np.array([exact[0, 1 + columns], np.diag(exact)[1 + columns]])
        (measurement,) = noisy({self.columns: values}, "means", self.sigma, noise)
        return measurement


@dataclass(frozen=True, kw_only=True)
class RowMoments(Planned):
    """The planned release of second moments of rows, which are scaled down to a maximum norm.

    columns: number of coordinates of a row. radius: maximum norm of a row, in standard deviations
    of the coordinates, divided by √columns. mean_share: weight of the means relative to the
    products.
    """

    columns: int
    radius: float
    mean_share: float = CENTRED_SHARE

    @property
    def sensitivity(self) -> float:
        """For rows in the unit ball."""
        return weighted_sensitivity(1.0, self.n, self.mean_share)

    @property
    def longest(self) -> float:
        """Maximum norm of a row of standardised numbers."""
        return self.radius * math.sqrt(self.columns)

    @property
    def correlation_noise(self) -> float:
        """Standard deviation of the noise on a correlation, if the released units are exact."""
        return self.sigma * self.radius**2 * self.columns

    def measure(
        self, source: MomentSource, noise: NoiseSource, units: NumberUnits | LineUnits
    ) -> Measurement:
        """The upper triangle of the mean of (a, x)(a, x)ᵀ, without a²; see `moment_release`.

        x: the coordinates of a row, in these units.
        """
        if isinstance(units, NumberUnits):
            assert has_numbers(source)
            exact = source.moments_about(units.centre, units.scale, self.longest)
        else:
            assert has_levels(source)
            exact = source.coded(units.bases, 1.0)
        weight = np.ones(len(exact))
        weight[0] = self.mean_share
        values = with_noise(exact * np.outer(weight, weight), self.sigma, noise)
        width = width_of(noise, self.sigma)
        rows, others = upper_triangle(len(exact) - 1, centred=True)
        variance = width * width * np.where(rows == others, SQUARES, 1.0)
        return Measurement(tuple(range(len(source.names))), values, variance, "moments")


@dataclass(frozen=True, kw_only=True)
class Products(Planned):
    """The planned release of the products of one column with every other column.

    own, others: number of coordinates of this column, and of all other columns together.

    The column's coordinates are scaled up, so that they are about as long as all others together,
    and rows are then scaled down to a maximum norm. Proof: docs/proofs/moment_search.md,
    statement 10.
    """

    own: int
    others: int

    @property
    def sensitivity(self) -> float:
        """For rows (a, b) in the unit ball, |abᵀ| ≤ (|a|² + |b|²)/2 ≤ 1/2."""
        return of_means(1.0 / self.n, self.n)

    @property
    def stretch(self) -> float:
        """The factor that scales the column's coordinates up."""
        return math.sqrt(self.others / self.own)

    @property
    def longest(self) -> float:
        """Maximum norm of a row of standardised coordinates, after scaling up."""
        return _RADIUS * math.sqrt(2 * self.others)

    @property
    def correlation_noise(self) -> float:
        """Standard deviation of the noise on a correlation, if the released units are exact."""
        return self.sigma * self.longest**2 / self.stretch

    def measure(self, source: CountSource, noise: NoiseSource, bases: Bases, column: int) -> Matrix:
        """The mean products, shape (own, others), of standardised coordinates.

        bases: the coordinates of the levels of each column. column: position of the one column.
        """
        mine = np.repeat(np.arange(len(bases)) == column, [own.shape[1] for own in bases])
        stretched = (own * self.stretch if c == column else own for c, own in enumerate(bases))
        coded = source.coded(tuple(own / self.longest for own in stretched), 1.0)
        exact = coded[1:, 1:][np.ix_(mine, ~mine)]
        noisy = noise.gaussian_array(exact.ravel(), self.sigma).reshape(exact.shape)
        return np.asarray(noisy * self.longest**2 / self.stretch)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The planned releases of a run; a release that is not made is None.

    n: number of rows. levels: number of levels of each column, 0 for numeric columns. whole: counts
    of all combinations of levels, the only release of such a run. units: the release that sets the
    units of rows, or the counts that distances refer to; None if an earlier release set them.
    counts: counts of all levels before products, after numeric columns are cut.
    distances: distances of pairs, which choose the pairs of the only round of tables. products: of
    one column, which choose the columns of the rows. pairs: sums
    for pairs of columns; if `rows` is planned too, they determine whether numeric columns depend on
    each other linearly. tables: rounds of tables. rows: second moments of rows, or counts of pairs
    and tables in their place. intervals: number of intervals per numeric column if levels are
    counted; 0 if all columns have levels. ordered: see `CountSource`.
    """

    n: int
    levels: tuple[int, ...]
    whole: WholeTable | None = None
    units: LevelCounts | Scales | None = None
    counts: LevelCounts | None = None
    distances: Distances | None = None
    products: Products | None = None
    pairs: PairSums | None = None
    tables: TableRounds | None = None
    rows: RowMoments | None = None
    intervals: int = 0
    ordered: tuple[int, ...] = ()

    @property
    def _gaussian(self) -> list[Planned | TableRounds]:
        """The planned releases with normal noise, in order."""
        planned = (
            self.units,
            self.counts,
            self.distances,
            self.products,
            self.pairs,
            self.tables,
            self.rows,
        )
        return [release for release in planned if release is not None]

    @property
    def events(self) -> tuple[Event, ...]:
        """The privacy events; for numeric columns, the last one stands for moments or for counts
        in their place, at the same total cost.
        """
        releases = [self.whole] if self.whole else self._gaussian
        return tuple(event for release in releases for event in release.events)

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of μ² for each release with normal noise; all rounds of tables are one release."""
        squares = [release.mu * release.mu for release in self._gaussian]
        return tuple(square / math.fsum(squares) for square in squares)

    @property
    def cut(self) -> tuple[int, ...]:
        """Number of levels of each column after numeric columns are cut into intervals."""
        return tuple(r or self.intervals for r in self.levels)


def plan_whole(n: int, levels: Sequence[int], epsilon: float, *, cells: int) -> Plan | None:
    """The plan for all combinations of levels.

    None if there are more than `cells` combinations, or fewer than two columns.
    """
    if len(levels) < 2 or math.prod(levels) > cells:
        return None
    return Plan(n=n, levels=tuple(levels), whole=WholeTable(n, tuple(levels), epsilon))


def plan_moments(
    n: int, levels: Sequence[int], mu: float, parameters: MomentSearchParameters
) -> Plan:
    """The plan for pairs and tables; mu: Gaussian-DP parameter of all releases together.

    In a test on a table with c cells, the ratio of noise variance to sampling variance is about
    c σ²/n. With one table for each of the p columns, σ² = 2p/μ². So the largest allowed ratio,
    `table_noise_ratio`, limits the number of cells.
    """
    own, share, most = tuple(levels), parameters.table_share, parameters.table_noise_ratio
    cells = min(most * n * (share * mu * mu) / (2 * len(own)), _MOST_CELLS)
    if cells < LEAST_CELLS or len(own) < 3:
        return Plan(n=n, levels=own, pairs=PairSums(n=n, mu=mu, levels=own))
    pairs = PairSums(n=n, mu=mu * math.sqrt(1 - share), levels=own)
    tables = TableRounds(n, mu * math.sqrt(share), int(cells))
    return Plan(n=n, levels=own, pairs=pairs, tables=tables)


def plan_numbers(n: int, own_levels: Sequence[int], parameters: MomentSearchParameters) -> Plan:
    """The plan for numeric columns; own_levels: see `NumberSource`.

    The maximum norm of a row follows from the parameter `longest_row`. If this parameter is None,
    the noise determines the maximum norm: scaling rows down biases their moments a little.
    """
    levels, columns, epsilon = tuple(own_levels), len(own_levels), parameters.epsilon
    intervals, counted = usual_intervals(n, columns, epsilon), counts_levels(levels)
    shapes = _FIRST if intervals >= _LEAST_INTERVALS and columns > 1 and not counted else 0.0
    total = planned_mu(epsilon, parameters.delta)
    # Yes/no columns have units too, unless levels are counted.
    scaled = tuple(c for c, r in enumerate(levels) if not (r and counted))
    units = Scales(n=n, mu=down(total * math.sqrt(_FIRST)), columns=scaled)
    cut = tuple(r or intervals for r in levels)
    pairs = PairSums(n=n, mu=down(total * math.sqrt(shapes)), levels=cut) if shapes else None
    mu = down(total * math.sqrt(1 - _FIRST - shapes))
    rows = _lengthened(RowMoments(n=n, mu=mu, columns=columns, radius=1.0), parameters)
    return Plan(n=n, levels=levels, units=units, pairs=pairs, rows=rows, intervals=intervals)


def _lengthened(rows: RowMoments, parameters: MomentSearchParameters) -> RowMoments:
    """The release with the largest norm of rows that its noise allows, or that a user has set.

    rows: the release if the noise allows none of `_RADII`.
    """
    if parameters.longest_row:
        return replace(rows, radius=parameters.longest_row)
    tried = ((replace(rows, radius=radius), most) for radius, most in _RADII)
    return next((made for made, most in tried if made.correlation_noise <= most), rows)


def plan_lines(
    n: int,
    levels: Sequence[int],
    ordered: Sequence[int],
    mu: float,
    parameters: MomentSearchParameters,
) -> Plan:
    """The plan for levels coded by a few numbers each; mu: μ of both releases together."""
    in_order = tuple(ordered) or (0,) * len(levels)
    units = LevelCounts(n=n, mu=down(mu * math.sqrt(_FIRST)), columns=len(levels))
    rows = RowMoments(
        n=n,
        mu=down(mu * math.sqrt(1 - _FIRST)),
        columns=sum(map(coordinates, levels, in_order)),
        radius=parameters.longest_row or _RADIUS,
    )
    return Plan(n=n, levels=tuple(levels), units=units, rows=rows, ordered=in_order)


def plan_distances(n: int, levels: Sequence[int], mu: float, *, counted: bool = True) -> Plan:
    """The plan for distances of pairs, then counts of the pairs that they choose.

    mu: Gaussian-DP parameter of all releases together. counted: whether the levels are counted
    first, or an earlier release did.
    """
    columns, first = len(levels), _LEVELS_FIRST if counted else 0.0
    units = LevelCounts(n=n, mu=down(mu * math.sqrt(first)), columns=columns) if counted else None
    distances = Distances(n=n, mu=down(mu * math.sqrt(_DISTANCES)), columns=columns)
    tables = TableRounds(n, down(mu * math.sqrt(1 - first - _DISTANCES)), _MOST_CELLS, rounds=1)
    return Plan(n=n, levels=tuple(levels), units=units, distances=distances, tables=tables)


def plan_target(
    n: int,
    own_levels: Sequence[int],
    ordered: Sequence[int],
    target: int,
    parameters: MomentSearchParameters,
) -> Plan:
    """The plan for the links of one column, from its products with all others.

    The products determine which columns are linked with it; second moments of these columns alone
    follow, in as many columns as have no more noise than the products. own_levels: see `Source`.
    Numeric columns are cut into levels: ranks need no exact middle and spread.
    """
    own, in_order = tuple(own_levels), tuple(ordered) or (0,) * len(own_levels)
    total, left = planned_mu(parameters.epsilon, parameters.delta), 1 - _FIRST
    first, units = down(total * math.sqrt(_FIRST)), None
    if 0 in own:
        scaled = tuple(c for c, r in enumerate(own) if not r)
        units, left = Scales(n=n, mu=first, columns=scaled), left - _FIRST
    levels = tuple(r or _FINE for r in own)
    in_order = tuple(place if r else _FINE for r, place in zip(own, in_order, strict=True))
    made = list(map(coordinates, levels, in_order))
    mu = down(total * math.sqrt(left / 2))
    products = Products(n=n, mu=mu, own=made[target], others=sum(made) - made[target])
    one = RowMoments(n=n, mu=mu, columns=1, radius=_RADIUS)
    most = int(products.correlation_noise / one.correlation_noise)
    most = min(max(most, made[target] + max(made)), sum(made))
    rows = _lengthened(replace(one, columns=most), parameters)
    return Plan(
        n=n,
        levels=own,
        units=units,
        counts=LevelCounts(n=n, mu=first, columns=len(own)),
        products=products,
        rows=rows,
        intervals=_FINE,
        ordered=in_order,
    )


def plan_like(n: int, like: ReleasedNumbers, parameters: MomentSearchParameters) -> Plan:
    """The plan to measure as an earlier release did: in its form, its units and its cut points.

    Raises DataError for distances from other rows: they refer to the counts of their own rows.
    """
    levels, units = like.levels or (0,) * len(like.coordinates), like.units
    if like.form == "table":
        return Plan(n=n, levels=levels, whole=WholeTable(n, levels, parameters.epsilon))
    mu = planned_mu(parameters.epsilon, parameters.delta)
    if isinstance(units, NumberUnits | LineUnits):
        radius = units.radius if isinstance(units, NumberUnits) else _RADIUS
        columns, mean_share = sum(like.coordinates), units.mean_share
        rows = RowMoments(n=n, mu=mu, columns=columns, radius=radius, mean_share=mean_share)
        return Plan(n=n, levels=levels, rows=rows)
    if like.form == "distances":
        if like.n != n:
            raise DataError("distances-of-other-rows")
        return plan_distances(n, levels, mu, counted=False)
    return plan_moments(n, levels, mu, parameters)
