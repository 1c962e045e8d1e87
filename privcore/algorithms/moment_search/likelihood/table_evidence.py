"""What findings ask of releases of counts."""

from __future__ import annotations

from privcore.algorithms.moment_search.dags.dag_search import Parents
from privcore.algorithms.moment_search.likelihood.family_evidence import FamilyEvidence
from privcore.algorithms.moment_search.likelihood.local_score import Evidence
from privcore.algorithms.moment_search.likelihood.power import table_information
from privcore.algorithms.moment_search.likelihood.statistic import Statistic
from privcore.arrays import Columns


class TableEvidence(FamilyEvidence):
    """Evidence from counts of pairs and of tables."""

    def __init__(self, evidence: Evidence, penalty: float) -> None:
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

    def inflation(self, statistic: Statistic, columns: frozenset[int]) -> float:
        return 1 / statistic.scale if statistic.second else 1.0
