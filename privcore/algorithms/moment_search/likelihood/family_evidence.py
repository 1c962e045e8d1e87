"""What findings ask of a release, where each column is tested and scored with its parents alone."""

from __future__ import annotations

from math import sqrt
from typing import Protocol

from privcore.algorithms.moment_search.likelihood.findings import Power
from privcore.algorithms.moment_search.likelihood.statistic import Statistic, Statistics
from privcore.algorithms.moment_search.search import Parents
from privcore.arrays import Columns


class FamilyEvidence(Protocol):
    """`findings.Powers` from tests and scores of a column given others."""

    def test(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The test of independence that decides on edges."""
        ...

    def score(self, column: int, parents: frozenset[int]) -> float:
        """How well the parents explain the column, in units of deviance."""
        ...

    def first(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The linear test, on the moments of pairs, which are known of all columns."""
        ...

    def information(self, x: int, y: int, statistic: Statistic) -> float:
        """Noncentrality of such a test for a dependence of size 1."""
        ...

    def asked(self, dof: float) -> float:
        """What a score asks of χ² before it adds an edge."""
        ...

    def edge(self, dag: Parents, cause: int, effect: int) -> Statistic:
        """Given the other parents of the effect."""
        return self.test(cause, effect, tuple(sorted(dag[effect] - {cause})))

    def effect(self, x: int, y: int) -> float:
        statistic = self.first(x, y, ())
        information = self.information(x, y, statistic)
        return min(sqrt(statistic.noncentrality / information), 1.0) if information > 0 else 0.0

    def power(self, x: int, y: int, conditioning_set: Columns) -> Power | None:
        statistic = self.first(x, y, conditioning_set)
        if not statistic.second:
            return None
        asked = self.asked(statistic.dof)
        return Power(statistic.dof, asked, self.information(x, y, statistic))

    def row(self, column: int, parents: Columns) -> Statistics:
        """Tests of a column with each other one, given its other parents."""
        ...
