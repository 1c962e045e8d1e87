"""How sure the direction of an edge is: the best graph found with its arrow against one without."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from typing import NamedTuple

from privcore.algorithms.moment_search.dags.dag_search import Parents, Scorer, search_dag

_NEVER = -1e9
_PATIENCE = 3


class ArrowScale(NamedTuple):
    """From scores to confidences.  Scores alone are far too sure, as an edge that is missed or
    false turns others around.

    temper: a difference of log-likelihoods is divided by it.  most: the highest confidence.
    """

    temper: float
    most: float

    def confidence(self, apart: float) -> float:
        """Confidence for a difference of log-likelihoods, 0.5 where it is 0."""
        sure = 1 / (1 + exp(min(-apart / self.temper, 700.0)))
        return 1 - self.most + (2 * self.most - 1) * sure


# So that arrows of a given confidence were right as often, on random networks and random
# linear-Gaussian graphs; docs/experiments/calibration.md.
ON_LEVELS = ArrowScale(8.0, 0.88)
ON_NUMBERS = ArrowScale(1.0, 0.88)


def scores_apart(
    score: Scorer,
    dag: Parents,
    edge: tuple[int, int],
    around: Mapping[int, set[int]],
    max_parents: int,
) -> float:
    """By how much the arrow (cause, effect) improves the total score, in units of deviance.

    Searches beside the edge, once with the arrow and once without it.  around: per column, those
    it may be adjacent to.
    """
    cause, effect = edge
    near = {cause, effect, *dag[cause], *dag[effect]}
    local = {column: around[column] & near for column in sorted(near)}
    without = tuple(p - {cause} if c == effect else p for c, p in enumerate(dag))
    totals = []
    for start, wanted in ((dag, True), (without, False)):

        def limited(column: int, parents: frozenset[int], wanted: bool = wanted) -> float:
            if column == effect and (cause in parents) != wanted:
                return _NEVER
            return score(column, parents)

        best = search_dag(limited, local, start, max_parents=max_parents, patience=_PATIENCE)
        totals.append(sum(score(column, best[column]) for column in near))
    return totals[0] - totals[1]
