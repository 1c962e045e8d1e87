"""Scores of families and tests of edges from log-linear models, where few tables are counted."""

from __future__ import annotations

from itertools import combinations
from math import inf

from privcore.algorithms.moment_search.dags.dag_search import Parents
from privcore.algorithms.moment_search.likelihood.local_score import Evidence
from privcore.algorithms.moment_search.likelihood.log_linear import LogLinear
from privcore.algorithms.moment_search.likelihood.statistic import Statistic
from privcore.algorithms.moment_search.moments import Moments
from privcore.arrays import Columns

# Level of the linear test: a model's test has to reach one of 10⁻⁶ or less to be of consequence.
_SUSPECT = 0.01


class ModelEvidence(Evidence):
    """Evidence from all pairs and some tables.

    Families without a table have a model all the same; in those with one it is less at the mercy
    of the noise on single cells.
    """

    def __init__(self, moments: Moments, *, penalty: float) -> None:
        super().__init__(moments, penalty=penalty)
        self._models = LogLinear(moments, self.pairs.probabilities)

    def suspects(self, column: int, conditioning_set: Columns) -> list[int]:
        """Columns that a test might find dependent on this one: all but those of which the linear
        test, made of all columns together, finds next to nothing."""
        p_values = self.pairs.row(column, conditioning_set).p_values
        by_row = self.pairs.by_row(column)
        return [
            other
            for other, p_value in enumerate(p_values)
            if p_value < _SUSPECT or not (by_row and self.pairs.by_row(other))
        ]

    def unexplained(self, x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        """The test of two columns without an edge; None where they are too many for a model."""
        modelled = self._models.test(x, y, conditioning_set)
        return None if modelled is None else self.edge(x, y, conditioning_set)

    def surely_unexplained(self, x: int, y: int, conditioning_set: Columns) -> Statistic | None:
        """The same; None, too, where the model may lack an interaction that no table shows.

        What that says of x or of y would pass for a dependence of the two.
        """
        pairs = combinations(conditioning_set, 2)
        if all(self.tabulated(end, *two) for two in pairs for end in (x, y)):
            return self.unexplained(x, y, conditioning_set)
        return None

    def borne_out(self, dag: Parents, x: int, y: int) -> bool:
        """Whether a table, too, covers x, y and the parents of y, or the score of x or y
        gains by the other as a parent.

        A score takes away what noise may add: where it would lose, what a test finds is more
        likely what the model leaves out.
        """
        if self._counted(x, y, tuple(sorted(dag[y]))) is not None:
            return True
        return any(
            self.score(effect, dag[effect] | {cause}) > self.score(effect, dag[effect])
            for cause, effect in ((x, y), (y, x))
        )

    def edge(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        """The test with the larger p-value: the model's, or that within strata of a table."""
        modelled = self._models.test(x, y, conditioning_set)
        counted = self._counted(x, y, conditioning_set)
        if modelled is None:
            return counted or self.pairs.test(x, y, conditioning_set)
        if counted is None or counted.p_value <= modelled.p_value:
            return modelled
        return counted

    def _family_score(self, column: int, parents: frozenset[int]) -> float:
        """The larger of what a model and what a table, if one holds the family, explain."""
        score, listed = -inf, sorted(parents)
        explained = self._models.explained(column, parents)
        if explained is not None:
            score = explained.deviance - self._penalty * explained.dof
        if self.tabulated(column, *listed):
            score = max(score, self._tabulated_score(column, listed))
        return score
