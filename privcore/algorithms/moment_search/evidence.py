"""The interface through which the search, the posterior and the findings use a release."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple, Protocol

from privcore.algorithms.moment_search.search import Parents
from privcore.algorithms.moment_search.statistic import Statistic, Statistics
from privcore.arrays import Columns


class Power(NamedTuple):
    """The quantities that determine the power of a test of two columns.

    dof: degrees of freedom. threshold: value of χ² above which a search adds the edge. information:
    noncentrality for a dependence of size 1.
    """

    dof: float
    threshold: float
    information: float


class Evidence(Protocol):
    """Noise-aware tests of independence, and scores of a column given its parents.

    penalty: amount subtracted from a score per degree of freedom.
    """

    penalty: float

    def score(self, column: int, parents: frozenset[int]) -> float:
        """How well the parents explain the column, in units of deviance; 0 without parents."""
        ...

    def test(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The test of conditional independence that the search uses."""
        ...

    def first(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The linear test on the moments of pairs, which are available for all columns."""
        ...

    def row(self, column: int, parents: Columns) -> Statistics:
        """Tests of a column with every other column, given the column's other parents."""
        ...

    def information(self, x: int, y: int, statistic: Statistic) -> float:
        """Noncentrality of a test of x and y for a dependence of size 1."""
        ...

    def final(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The test that decides on the edges of the final graph."""
        return self.test(x, y, conditioning_set)

    def edge(self, dag: Parents, cause: int, effect: int) -> Statistic:
        """The test of one edge of a DAG, assuming that all other edges are right."""
        return self.final(cause, effect, tuple(sorted(dag[effect] - {cause})))

    def effect(self, x: int, y: int) -> float:
        """Size of the marginal dependence between x and y, corrected for noise."""
        statistic = self.first(x, y, ())
        information = self.information(x, y, statistic)
        return min(sqrt(statistic.noncentrality / information), 1.0) if information > 0 else 0.0

    def power(self, x: int, y: int, conditioning_set: Columns) -> Power | None:
        """Power of the test that an edge x – y must pass; None if the test has no information."""
        statistic = self.first(x, y, conditioning_set)
        if not statistic.second:
            return None
        threshold = self.penalty * statistic.dof
        return Power(statistic.dof, threshold, self.information(x, y, statistic))
