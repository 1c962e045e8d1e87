"""Evidence: noise-aware tests of independence and scores, computed from released numbers.

The search, the posterior and the findings use released numbers only through `ReleaseEvidence`.

**Linear tests** of x and y given S use only first and second moments, so they detect only the
linear part of a dependence. A column is a block of coordinates, and two columns are dependent if
their blocks are dependent (the degenerate Gaussian model of Andrews, Ramsey & Cooper 2019).

**Tables.** Each test and each score uses the most suitable released counts. A family (a column with
its parents) has a log-linear model even if no table covers the family. If a table covers the
family, the model is still useful, because the model is less sensitive to the noise on single cells.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc, gammainccinv

from privcore import kernels
from privcore.algorithms.moment_search.log_linear import LogLinear
from privcore.algorithms.moment_search.moments import Moments, sum_zero_basis
from privcore.algorithms.moment_search.released import LineUnits, NumberUnits, ReleasedNumbers
from privcore.algorithms.moment_search.search import DIGITS, Parents
from privcore.algorithms.moment_search.statistic import (
    Statistic,
    Statistics,
    chi_squared_quantile,
)
from privcore.algorithms.moment_search.visible import smallest_visible, table_information
from privcore.arrays import Columns, Integers, Matrix, Vector
from privcore.independence.linear_scores import covariance
from privcore.privacy.mechanisms.moments import positive, upper_triangle

# Maximum share of a column's variance that another explains.
_MOST = 1 - 1e-9
# Maximum number of levels of a column whose tests with all others are made in one batch.
_FEW_LEVELS = 32
# Penalty of a family whose test has no information.
_HUGE = 1e12
# Level of the linear test as a screen: a model's test matters only at a level of 10⁻⁶ or less.
_SUSPECT = 0.01


class LinearTests:
    """Linear tests on noisy moments.

    moments: means over rows of (1, u)(1, u)ᵀ, where u holds the coordinates of all columns.
    coordinates: number of coordinates of each column. variances: noise variances of the sums of
    products; index 0 stands for the constant 1, the other indices for the columns. n: number of
    rows. batch: the columns that `tests_of` tests; None for all columns.
    """

    def __init__(
        self,
        moments: Matrix,
        coordinates: Sequence[int],
        variances: Matrix,
        n: int,
        batch: Integers | None = None,
    ) -> None:
        self.n, self.columns = n, len(coordinates)
        starts = 1 + np.cumsum([0, *coordinates])
        self._known = moments, starts, variances, float(n)
        self._every = np.arange(self.columns)
        self.batch = self._every if batch is None else batch
        self._in_batch = set(self.batch.tolist())
        self._tests: dict[tuple[int, int, Columns], Statistic] = {}
        self._rows: dict[tuple[int, Columns], Statistics] = {}

    def test(self, x: int, y: int, conditioning_set: Columns = ()) -> Statistic:
        """The test of x and y after linear regression on the conditioning set."""
        key = (min(x, y), max(x, y), tuple(sorted(conditioning_set)))
        if (row := self._rows.get(key[1:])) is not None and key[0] in self._in_batch:
            return row.one(key[0])
        if key not in self._tests:
            (test,) = self._made(self._every[key[0] : key[0] + 1], *key[1:]).tolist()
            self._tests[key] = Statistic(*test)
        return self._tests[key]

    def tests_of(self, y: int, conditioning_set: Columns) -> Statistics:
        """The tests of y with each column in `batch`, given the conditioning set.

        Tests with other columns, or with columns in the conditioning set, have no information.
        """
        key = (y, tuple(sorted(conditioning_set)))
        if key not in self._rows:
            tests = np.zeros((self.columns, 4))
            tests[self.batch] = self._made(self.batch, *key)
            self._rows[key] = Statistics(*tests.T)
        return self._rows[key]

    def _made(self, xs: Integers, y: int, conditioning_set: Columns) -> Matrix:
        """Tests of y with each column in `xs`, one test per row.

        Tests with y or with columns in the conditioning set have no information.
        """
        others = np.array(conditioning_set, np.int64)
        return np.asarray(kernels.moment_tests.linear_tests(*self._known, xs, y, others))


class LevelTests(LinearTests):
    """Linear tests on columns with levels, which are coded by contrasts without interactions."""

    def __init__(self, moments: Moments) -> None:
        """The covariance within a column follows from the shares of its levels.

        The released products of two columns share the noise on the means; with other means, this
        noise would look like a dependence.
        """
        self._released, levels, n = moments, moments.levels, moments.n
        self._shares = [self._cleaned(c) for c in range(len(levels))]
        coordinates = [r - 1 for r in levels]
        spans = [slice(a, b) for a, b in pairwise(1 + np.cumsum([0, *coordinates]))]
        means, variances = np.eye(1 + sum(coordinates)), np.zeros((len(levels) + 1,) * 2)
        for c, (span, share) in enumerate(zip(spans, self._shares, strict=True)):
            basis, mean = sum_zero_basis(levels[c]), moments.sums(c) / n
            codes = basis - share @ basis + mean
            means[0, span] = means[span, 0] = mean
            means[span, span] = codes.T @ (share[:, None] * codes)
            variances[[0, c + 1, c + 1], [c + 1, 0, c + 1]] = moments.variance(c)
        for c, d in combinations(range(len(levels)), 2):
            means[spans[c], spans[d]] = moments.sums(c, d) / n
            means[spans[d], spans[c]] = moments.sums(c, d).T / n
            variances[[c + 1, d + 1], [d + 1, c + 1]] = moments.variance(c, d)
        few = np.flatnonzero(np.array(levels) <= _FEW_LEVELS)
        super().__init__(means, coordinates, variances, n, few)

    def probabilities(self, column: int) -> Matrix:
        """Probabilities of the levels of a column, shape (levels,), sum 1."""
        return self._shares[column]

    def _cleaned(self, column: int) -> Matrix:
        """Shares of the levels, raised to the smallest share that is clearly above the noise."""
        r, n = self._released.levels[column], self._released.n
        share = sum_zero_basis(r) @ self._released.sums(column) / n + 1 / r
        floor = max(2 * math.sqrt(self._released.variance(column)), 1.0) / n
        share = np.maximum(share, floor)
        return np.asarray(share / share.sum())


class Power(NamedTuple):
    """The quantities that determine the power of a test of two columns.

    dof: degrees of freedom. threshold: value of χ² above which a search adds the edge. information:
    noncentrality for a dependence of size 1.
    """

    dof: float
    threshold: float
    information: float


class ReleaseEvidence(ABC):
    """Noise-aware tests of independence, and scores of a column given its parents.

    linear: the linear tests. penalty: amount subtracted from a score per degree of freedom.
    """

    def __init__(self, linear: LinearTests, penalty: float) -> None:
        self.linear, self.penalty = linear, penalty

    @abstractmethod
    def score(self, column: int, parents: frozenset[int]) -> float:
        """How well the parents explain the column, in units of deviance; 0 without parents."""

    @abstractmethod
    def information(self, x: int, y: int, statistic: Statistic) -> float:
        """Noncentrality of a test of x and y for a dependence of size 1."""

    def test(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The test of conditional independence that the search uses."""
        return self.linear.test(x, y, conditioning_set)

    def final(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The test that decides on the edges of the final graph."""
        return self.test(x, y, conditioning_set)

    def unexplained(self, x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        """The test for a dependence between two columns without an edge, if it is possible."""
        return self.final(x, y, conditioning_set)

    def suspects(self, column: int, conditioning_set: Columns) -> Iterable[int]:
        """Columns that may depend on `column` in a way that a linear test does not show."""
        return ()

    def edge(self, dag: Parents, cause: int, effect: int) -> Statistic:
        """The test of one edge of a DAG, assuming that all other edges are right."""
        return self.final(cause, effect, tuple(sorted(dag[effect] - {cause})))

    def row(self, column: int, parents: Columns) -> Statistics:
        """Tests of `column` with every other column, given the column's other parents.

        The tests are linear, except the tests with parents and with `suspects`.
        """
        row = self.linear.tests_of(column, parents).copy()
        for other in {*self.suspects(column, parents), *parents} - {column}:
            others = tuple(c for c in parents if c != other)
            tested = self.unexplained(other, column, others)
            row.put(other, tested or self.linear.test(other, column, others))
        return row

    def effect(self, x: int, y: int) -> float:
        """Size of the marginal dependence between x and y, corrected for noise."""
        statistic = self.linear.test(x, y)
        information = self.information(x, y, statistic)
        if information <= 0:
            return 0.0
        return min(math.sqrt(statistic.noncentrality / information), 1.0)

    def power(self, x: int, y: int, conditioning_set: Columns) -> Power | None:
        """Power of the test that an edge x – y must pass; None if the test has no information."""
        statistic = self.linear.test(x, y, conditioning_set)
        if not statistic.second:
            return None
        threshold = self.penalty * statistic.dof
        return Power(statistic.dof, threshold, self.information(x, y, statistic))

    def smallest(self, x: int, y: int, conditioning_set: Columns, level: float) -> float | None:
        """The smallest dependence that the test detects at this level; None if there is none."""
        power = self.power(x, y, conditioning_set)
        if power is None:
            return None
        threshold = max(chi_squared_quantile(power.dof, level), power.threshold)
        return smallest_visible(power.dof, threshold, power.information)


class LineEvidence(ReleaseEvidence):
    """Evidence from noisy second moments of columns that are coded by a few numbers each.

    penalty: amount subtracted from a score for a parent, if the test of the parent and the column
    has one degree of freedom; with more degrees of freedom, a test that chance passes as rarely.
    means, covariance: of the coordinates. squares: variance of the noise on squares, divided by
    that on products.
    """

    def __init__(self, statistics: ReleasedNumbers, penalty: float) -> None:
        units, measured = statistics.units, statistics.measurements[-1]
        assert isinstance(units, NumberUnits | LineUnits)
        d, columns = sum(statistics.coordinates), len(statistics.coordinates)
        self.squares = float(measured.variance[-1] / measured.variance[0])
        moments = np.eye(d + 1)
        places = upper_triangle(d, centred=True)
        moments[places] = moments[places[::-1]] = measured.values
        self.means = moments[0, 1:] / units.mean_share
        moments[0, 1:] = self.means
        self.covariance = positive(covariance(moments), statistics.noise)
        moments[0, 1:] = moments[1:, 0] = self.means
        moments[1:, 1:] = self.covariance + np.outer(self.means, self.means)
        # In units of counts, as the tests expect.
        noise = np.full((columns + 1,) * 2, (statistics.n * statistics.noise) ** 2)
        noise[0] = noise[:, 0] = noise[1, 1] / units.mean_share**2
        diagonal = np.arange(1, columns + 1)
        noise[diagonal, diagonal] *= self.squares
        noise[0, 0] = 0.0
        linear = LinearTests(moments, statistics.coordinates, noise, statistics.n)
        super().__init__(linear, penalty)
        self._level = float(gammaincc(0.5, penalty / 2))
        self._gains: dict[tuple[int, Columns], Vector] = {}
        self._scores: dict[tuple[int, Columns], float] = {}

    def gains(self, column: int, parents: frozenset[int]) -> Vector:
        """Gain from adding each column as a parent, shape (p,); −∞ if a test has no information.

        The gain is the deviance under normality, n log 1/(1 − r²), minus the penalty. Both the
        deviance and the penalty are corrected for noise.
        """
        key = column, tuple(sorted(parents))
        if key not in self._gains:
            self._gains[key] = self._gained(self.linear.tests_of(*key))
        return self._gains[key]

    def _gained(self, tests: Statistics) -> Vector:
        n, informative = self.linear.n, tests.second > 0
        value, first, second = (np.where(informative, f, 1.0) for f in tests[:3])
        scale = second / first
        shared = np.minimum(value / (scale * scale * n), _MOST)
        needed = 2 * gammainccinv(first / scale / 2, self._level)
        gains = -n * np.log1p(-shared) - needed / scale
        return np.where(informative, np.round(gains, DIGITS), -np.inf)

    def score(self, column: int, parents: frozenset[int]) -> float:
        if not parents:
            return 0.0
        key = column, tuple(sorted(parents))
        if key not in self._scores:
            *before, last = key[1]
            known = frozenset(before)
            gain = max(float(self.gains(column, known)[last]), -_HUGE)
            self._scores[key] = self.score(column, known) + gain
        return self._scores[key]

    def power(self, x: int, y: int, conditioning_set: Columns) -> Power | None:
        power = super().power(x, y, conditioning_set)
        return power and power._replace(threshold=chi_squared_quantile(power.dof, self._level))

    def information(self, x: int, y: int, statistic: Statistic) -> float:
        """Noncentrality of a test for a correlation of r = 1.

        The noncentrality is computed as n r², which is slightly too low for large r.
        """
        return self.linear.n * statistic.scale if statistic.second else 0.0


class TableEvidence(ReleaseEvidence):
    """Evidence from noisy counts.

    moments: all released moments. penalty: amount subtracted from a score per degree of freedom.
    """

    def __init__(self, moments: Moments, penalty: float) -> None:
        self.moments, levels = moments, LevelTests(moments)
        super().__init__(levels, penalty)
        self.probabilities = levels.probabilities
        self._models = LogLinear(moments, self.probabilities)
        self._strata: dict[tuple[int, int, Columns], Statistic | None] = {}
        self._scores: dict[tuple[int, frozenset[int]], float] = {}

    def tabulated(self, *columns: int) -> bool:
        return self.moments.covers(columns)

    def strength(self, x: int, y: int) -> float:
        """Strength of the marginal dependence between x and y, used to rank neighbours."""
        statistic = self.linear.test(x, y)
        return statistic.value / statistic.dof**0.5 if statistic.second else 0.0

    def test(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The test of `within_strata` if this test is possible, otherwise the linear test."""
        within = self.within_strata(x, y, conditioning_set)
        return within or self.linear.test(x, y, conditioning_set)

    def within_strata(self, x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        """The test within the strata of a table that covers all these columns.

        None if the conditioning set is empty, if no table covers the columns, or if the noise may
        hide relevant strata: the test could then miss a dependence in rare strata.
        """
        if not conditioning_set or not self.tabulated(x, y, *conditioning_set):
            return None
        key = (min(x, y), max(x, y), tuple(sorted(conditioning_set)))
        if key not in self._strata:
            self._strata[key] = self._within(*key)
        return self._strata[key]

    def _within(self, x: int, y: int, others: Columns) -> Statistic | None:
        levels, columns = self.moments.levels, [*others, x, y]
        tables = self.moments.table(columns).reshape(-1, levels[x], levels[y])
        variances = self.moments.variances(columns).reshape(-1, 4)
        applies, *statistic = kernels.table_tests.strata_test(
            np.ascontiguousarray(tables),
            np.array([levels[c] for c in others], np.int64),
            np.ascontiguousarray(variances.T[::-1]),
            float(self.moments.n),
            sum_zero_basis(levels[x]),
            sum_zero_basis(levels[y]),
        )
        return Statistic(*statistic) if applies else None

    def final(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The model's test or the test within strata, whichever has the larger p-value.

        If only one of these two tests is possible, this test is returned; if neither is possible,
        the linear test is returned.
        """
        modelled = self._models.test(x, y, conditioning_set)
        within = self.within_strata(x, y, conditioning_set)
        if modelled is None:
            return within or self.linear.test(x, y, conditioning_set)
        return modelled if within is None or within.p_value <= modelled.p_value else within

    def unexplained(self, x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        """The test for a dependence between two columns that have no edge.

        None if the columns have too many combinations of levels for a model.
        """
        modelled = self._models.test(x, y, conditioning_set)
        return None if modelled is None else self.final(x, y, conditioning_set)

    def surely_unexplained(self, x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        """The test of `unexplained`, or None if the model may be incomplete.

        The model may lack an interaction that no table covers, and this interaction would look like
        a dependence between x and y.
        """
        pairs = combinations(conditioning_set, 2)
        if all(self.tabulated(end, *two) for two in pairs for end in (x, y)):
            return self.unexplained(x, y, conditioning_set)
        return None

    def suspects(self, column: int, conditioning_set: Columns) -> list[int]:
        """Columns that may depend on `column` given the conditioning set.

        A column is left out if its linear test with `column` is not significant. Columns with too
        many levels for these tests are always included.
        """
        suspicious = self.linear.tests_of(column, conditioning_set).p_values < _SUSPECT
        if column in self.linear.batch:
            # Columns whose tests are not in the batch are always included.
            alone = np.ones_like(suspicious)
            alone[self.linear.batch] = False
            return np.flatnonzero(suspicious | alone).tolist()
        return list(range(self.linear.columns))

    def information(self, x: int, y: int, statistic: Statistic) -> float:
        r, s = self.moments.levels[x], self.moments.levels[y]
        return table_information(self.moments.n, (r, s), statistic)

    def score(self, column: int, parents: frozenset[int]) -> float:
        """Deviance that the parents explain, minus a penalty that grows with the noise."""
        key = (column, parents)
        if key not in self._scores:
            score = self._family_score(column, parents) if parents else 0.0
            self._scores[key] = round(score, DIGITS)
        return self._scores[key]

    def _family_score(self, column: int, parents: frozenset[int]) -> float:
        """The larger of the scores from the model and from a table that covers the family."""
        score, listed = -math.inf, sorted(parents)
        explained = self._models.explained(column, parents)
        if explained is not None:
            score = explained.deviance - self.penalty * explained.dof
        if self.tabulated(column, *listed):
            score = max(score, self.tabulated_score(column, listed))
        return score

    def tabulated_score(self, column: int, parents: list[int]) -> float:
        """Score of a column and its parents, from a table of counts; see `kernels.table_tests`."""
        counts = self.moments.table([*parents, column])
        return float(
            kernels.table_tests.family_score(
                np.ascontiguousarray(counts).reshape(-1, self.moments.levels[column]),
                self.probabilities(column),
                math.sqrt(self.moments.cell_variance(parents)),
                self.moments.cell_variance([*parents, column], of=column),
                self.penalty,
            )
        )
