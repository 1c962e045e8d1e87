"""What findings ask of releases of counts."""

from __future__ import annotations

from privcore.noise_aware.local_score import Evidence
from privcore.noise_aware.power import table_information
from privcore.noise_aware.statistic import Statistic


class TableEvidence:
    """`confidence.PairEvidence` of counts."""

    def __init__(self, evidence: Evidence, penalty: float) -> None:
        self._evidence, self._penalty = evidence, penalty
        self.test, self.score, self.first = evidence.test, evidence.score, evidence.pairs.test

    def information(self, x: int, y: int, found: Statistic) -> float:
        moments = self._evidence.moments
        return table_information(moments.n, (moments.levels[x], moments.levels[y]), found)

    def asked(self, x: int, y: int, freedom: float) -> float:
        return self._penalty * freedom

    def inflation(self, found: Statistic, columns: frozenset[int]) -> float:
        """Linear scores are gains, in units of χ² already."""
        return 1 / found.scale if found.second and self._evidence.tabulated(*columns) else 1.0
