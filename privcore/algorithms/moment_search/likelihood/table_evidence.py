"""What findings ask of releases of counts."""

from __future__ import annotations

from privcore.algorithms.moment_search.dags.dag_search import Parents
from privcore.algorithms.moment_search.likelihood.family_evidence import FamilyEvidence
from privcore.algorithms.moment_search.likelihood.model_evidence import ModelEvidence
from privcore.algorithms.moment_search.likelihood.statistic import Statistic, Statistics
from privcore.algorithms.moment_search.visible import table_information
from privcore.arrays import Columns


class TableEvidence(FamilyEvidence):
    """Evidence from counts of pairs and of tables."""

    def __init__(self, evidence: ModelEvidence, penalty: float) -> None:
        self._evidence, self._penalty = evidence, penalty

    def test(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        return self._evidence.test(x, y, conditioning_set)

    def edge(self, dag: Parents, cause: int, effect: int) -> Statistic:
        return self._evidence.edge(cause, effect, tuple(sorted(dag[effect] - {cause})))

    def score(self, column: int, parents: frozenset[int]) -> float:
        return self._evidence.score(column, parents)

    def first(self, x: int, y: int, conditioning_set: Columns) -> Statistic:
        return self._evidence.pairs.test(x, y, conditioning_set)

    def information(self, x: int, y: int, statistic: Statistic) -> float:
        moments = self._evidence.moments
        return table_information(moments.n, (moments.levels[x], moments.levels[y]), statistic)

    def asked(self, dof: float) -> float:
        return self._penalty * dof

    def row(self, column: int, parents: Columns) -> Statistics:
        """Linear, but of parents and of columns that may depend on this one."""
        pairs = self._evidence.pairs
        row = Statistics(*(field.copy() for field in pairs.row(column, parents)))
        for other in {*self._evidence.suspects(column, parents), *parents} - {column}:
            others = tuple(c for c in parents if c != other)
            tested = self._evidence.unexplained(other, column, others)
            row.put(other, tested or pairs.test(other, column, others))
        return row
