"""The sets of parents that a cause may have, by what a run released.

A run's numbers allow several DAGs.  Each stands for a class in which no data can choose, and the
class for every set of parents of the cause in it (IDA: Maathuis, Kalisch & Bühlmann 2009).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from privcore.algorithms.search.result import Parents
from privcore.errors import DataError
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.adjustment import Adjustment, adjustment_sets, possible_parents
from privcore.graphs.constraints import Constraints
from privcore.graphs.generalised_adjustment import identify
from privcore.graphs.pag import PAG

# Classes are kept from the most probable on until they have so much together.
ENOUGH = 0.95


@dataclass(frozen=True)
class ParentSet:
    """One set of parents of the cause, and what may be adjusted for with them.

    parents: None in a PAG, where one set of columns is valid whatever the parents are.
    graph: where all edges at the cause are directed so.  shown: whether the run's own graph allows
    it.  share: the probability of the classes that do.
    """

    parents: frozenset[int] | None
    adjustment: Adjustment
    graph: PDAG
    shown: bool
    share: float


def parent_sets(
    graph: PDAG,
    dags: Iterable[tuple[Parents, float]],
    known: Constraints,
    cause: int,
    outcome: int,
) -> list[ParentSet]:
    """Those of the graph first, then those of other classes that are plausible.

    dags: with their probabilities.  known: background knowledge.  In a PAG, which says by itself
    where unobserved confounders may be, only its own adjustment set is used.
    Raises ParameterError where the cause has too many neighbours without a direction, DataError
    where a PAG does not identify the effect by adjustment.
    """
    if isinstance(graph, PAG):
        return [_of_pag(graph, cause, outcome)]
    classes: dict[PDAG, float] = {}
    for parents, share in dags:
        edges = {(i, j) for j, causes in enumerate(parents) for i in causes}
        allowed = known.completed(cpdag_of_dag(graph.nodes, edges))
        classes[allowed] = classes.get(allowed, 0.0) + share
    ranked = sorted(classes.items(), key=lambda item: -item[1])
    kept, total = [], 0.0
    for allowed, share in ranked:
        kept.append((allowed, share))
        total += share
        if total >= ENOUGH:
            break
    sets: dict[tuple[frozenset[int], Adjustment], ParentSet] = {}

    def add(allowed: PDAG, share: float, shown: bool) -> None:
        for parents, directed in possible_parents(allowed, cause):
            ways = adjustment_sets(directed, cause, outcome)
            before = sets.get((parents, ways))
            sets[parents, ways] = ParentSet(
                parents,
                ways,
                directed if before is None else before.graph,
                shown or (before is not None and before.shown),
                share + (0.0 if before is None else before.share),
            )

    try:
        add(graph, 0.0, True)
    except DataError:
        if not ranked:
            raise
        # Edges without an arrow that is probable enough: no DAG may have just this graph.
        add(ranked[0][0], 0.0, True)
    for allowed, share in kept:
        add(allowed, share, False)
    return list(sets.values())


def _of_pag(graph: PAG, cause: int, outcome: int) -> ParentSet:
    """What the effect is adjusted for in every graph of the PAG; DataError if no set is valid."""
    said = identify(graph, cause, outcome)
    if said.set is None and said.affected:
        raise DataError(said.reason)
    valid = () if said.set is None else (said.set,)
    columns = frozenset[int]() if said.set is None else said.set
    ways = Adjustment(frozenset(), columns, valid, said.affected)
    return ParentSet(None, ways, graph, True, 1.0)
