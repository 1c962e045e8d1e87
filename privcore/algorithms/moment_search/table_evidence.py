"""Tests and scores from released counts for all pairs of columns and for some larger sets.

Each test and each score uses the most suitable released counts. A family (a column with its
parents) has a log-linear model even if no table covers the family. If a table covers the family,
the model is still useful, because the model is less sensitive to the noise on single cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import inf, sqrt

import numpy as np

from privcore import kernels
from privcore.algorithms.moment_search.evidence import Evidence
from privcore.algorithms.moment_search.features import sum_zero_basis
from privcore.algorithms.moment_search.linear_tests import LevelTests
from privcore.algorithms.moment_search.log_linear import LogLinear
from privcore.algorithms.moment_search.moments import Moments
from privcore.algorithms.moment_search.search import DIGITS
from privcore.algorithms.moment_search.statistic import Statistic, Statistics
from privcore.algorithms.moment_search.visible import table_information
from privcore.arrays import Columns

# Level of the linear test as a screen: a model's test matters only at a level of 10⁻⁶ or less.
_SUSPECT = 0.01


class TableEvidence(Evidence):
    """Evidence from noisy counts.

    moments: all released moments. penalty: amount subtracted from a score per degree of freedom.
    """

    def __init__(self, moments: Moments, penalty: float) -> None:
        self.moments, self.penalty = moments, penalty
        self.pairs = LevelTests(moments, penalty)
        self._models = LogLinear(moments, self.pairs.probabilities)
        self._strata: dict[tuple[int, int, Columns], Statistic | None] = {}
        self._scores: dict[tuple[int, frozenset[int]], float] = {}

    def tabulated(self, *columns: int) -> bool:
        return self.moments.covers(columns)

    def first(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        return self.pairs.test(x, y, conditioning_set)

    def strength(self, x: int, y: int) -> float:
        """Strength of the marginal dependence between x and y, used to rank neighbours."""
        statistic = self.pairs.test(x, y)
        return statistic.value / statistic.dof**0.5 if statistic.second else 0.0

    def test(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The test of `within_strata` if this test is possible, otherwise the linear test."""
        within = self.within_strata(x, y, conditioning_set)
        return within or self.pairs.test(x, y, conditioning_set)

    def tests(self, tests: Sequence[tuple[int, int, Columns]]) -> Statistics:
        """Like `test`, for several tests whose conditioning sets have the same size."""
        made = Statistics(*np.empty((4, len(tests))))
        within = [self.within_strata(*each) for each in tests]
        left = np.array([k for k, statistic in enumerate(within) if statistic is None], np.int64)
        if left.size:
            for field, part in zip(made, self.pairs.tests([tests[k] for k in left]), strict=True):
                field[left] = part
        for k, statistic in enumerate(within):
            if statistic is not None:
                made.put(k, statistic)
        return made

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
            return within or self.pairs.test(x, y, conditioning_set)
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
        suspicious = self.pairs.tests_of(column, conditioning_set).p_values < _SUSPECT
        if column in self.pairs.together:
            # Columns whose tests are not made together are always included.
            alone = np.ones_like(suspicious)
            alone[self.pairs.together] = False
            return np.flatnonzero(suspicious | alone).tolist()
        return list(range(self.pairs.columns))

    def row(self, column: int, parents: Columns) -> Statistics:
        """Tests of `column` with every other column, given the column's other parents.

        The tests are linear, except the tests with parents and with columns that may depend on
        `column`.
        """
        row = self.pairs.tests_of(column, parents).copy()
        for other in {*self.suspects(column, parents), *parents} - {column}:
            others = tuple(c for c in parents if c != other)
            tested = self.unexplained(other, column, others)
            row.put(other, tested or self.pairs.test(other, column, others))
        return row

    def information(self, x: int, y: int, statistic: Statistic) -> float:
        levels = self.moments.levels
        return table_information(self.moments.n, (levels[x], levels[y]), statistic)

    def score(self, column: int, parents: frozenset[int]) -> float:
        """Deviance that the parents explain, minus a penalty that grows with the noise."""
        key = (column, parents)
        if key not in self._scores:
            score = self._family_score(column, parents) if parents else 0.0
            self._scores[key] = round(score, DIGITS)
        return self._scores[key]

    def _family_score(self, column: int, parents: frozenset[int]) -> float:
        """The larger of the scores from the model and from a table that covers the family."""
        score, listed = -inf, sorted(parents)
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
                self.pairs.probabilities(column),
                sqrt(self.moments.cell_variance(parents)),
                self.moments.cell_variance([*parents, column], of=column),
                self.penalty,
            )
        )
