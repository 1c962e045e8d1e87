"""How well the parents of a column explain it, on noisy counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from privcore import kernels
from privcore.algorithms.moment_search.dags.dag_search import DIGITS
from privcore.algorithms.moment_search.likelihood.linear_tests import LinearTests
from privcore.algorithms.moment_search.likelihood.statistic import Statistic, Statistics
from privcore.algorithms.moment_search.likelihood.strata_tests import StrataTests
from privcore.algorithms.moment_search.moments import Moments
from privcore.arrays import Columns


class Evidence:
    """Tests and scores, each on the best counts that were released for it.

    Scores and tests of edges are of families that a table holds; see `ModelEvidence`.
    """

    def __init__(self, moments: Moments, *, penalty: float) -> None:
        """penalty: of `score`."""
        self.moments = moments
        self.pairs, self._strata = LinearTests(moments), StrataTests(moments)
        self._penalty = penalty
        self._scores: dict[tuple[int, frozenset[int]], float] = {}

    def strength(self, x: int, y: int) -> float:
        """How significant the marginal dependence of a pair is."""
        statistic = self.pairs.test(x, y)
        return statistic.value / statistic.dof**0.5 if statistic.second else 0.0

    def tabulated(self, *columns: int) -> bool:
        return self.moments.covers(columns)

    def test(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """On a table that covers the columns, its strata clear of noise; else linear, on pairs."""
        return self._counted(x, y, conditioning_set) or self.pairs.test(x, y, conditioning_set)

    def tests(self, asked: Sequence[tuple[int, int, Columns]]) -> Statistics:
        """As `test`, all of them given as many columns."""
        counted = [self._counted(*each) for each in asked]
        made = Statistics(*np.empty((4, len(asked))))
        left = np.array([k for k, statistic in enumerate(counted) if statistic is None], np.int64)
        if left.size:
            for field, part in zip(made, self.pairs.tests([asked[k] for k in left]), strict=True):
                field[left] = part
        for k, statistic in enumerate(counted):
            if statistic is not None:
                for field, number in zip(made, statistic[:4], strict=True):
                    field[k] = number
        return made

    def _counted(self, x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        if conditioning_set and self.moments.covers((x, y, *conditioning_set)):
            return self._strata.test(x, y, conditioning_set)
        return None

    def edge(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The test that an edge of a DAG has to pass, given the other parents of its effect."""
        return self.test(x, y, conditioning_set)

    def score(self, column: int, parents: frozenset[int]) -> float:
        """Deviance that the parents explain, less its expectation from noise and a penalty.

        0 without parents; higher is better.
        """
        key = (column, parents)
        if key not in self._scores:
            score = self._family_score(column, parents) if parents else 0.0
            self._scores[key] = round(score, DIGITS)
        return self._scores[key]

    def _family_score(self, column: int, parents: frozenset[int]) -> float:
        return self._tabulated_score(column, sorted(parents))

    def _tabulated_score(self, column: int, parents: list[int]) -> float:
        """Deviance of the column's counts by its parents' levels; see `family_score`."""
        counts = self.moments.table([*parents, column])
        return float(
            kernels.table_tests.family_score(
                np.ascontiguousarray(counts).reshape(-1, self.moments.levels[column]),
                self.pairs.probabilities(column),
                math.sqrt(self.moments.cell_variance(parents)),
                self.moments.cell_variance([*parents, column], of=column),
                self._penalty,
            )
        )
