"""The plausible sets of parents of a cause, from the released numbers of a run.

Several DAGs are plausible.  Each DAG represents its Markov equivalence class, and each class
allows one or more sets of parents of the cause (IDA: Maathuis, Kalisch & Bühlmann 2009).
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

# The most probable classes are kept until their total probability reaches this.
ENOUGH = 0.95


@dataclass(frozen=True)
class ParentSet:
    """One set of parents of the cause, and the adjustment sets that are valid for this set.

    parents: the set; None for a PAG, in which one adjustment set is valid for all sets of parents.
    graph: the graph with the edges at the cause directed accordingly.
    shown: whether the graph of the run allows these parents.
    share: the total probability of the classes that allow these parents.
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
    """The sets of parents that the graph allows, then the sets from other plausible classes.

    dags: plausible DAGs with their probabilities.  known: background knowledge.  For a PAG, the
    result is one entry, with the adjustment set that is valid in every graph of the PAG.
    Raises ParameterError if too many edges at the cause have no direction, and DataError if the
    effect is not identified by adjustment in a PAG.
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
        # Some edges have no arrow probable enough: no DAG need have exactly this graph.
        add(ranked[0][0], 0.0, True)
    for allowed, share in kept:
        add(allowed, share, False)
    return list(sets.values())


def _of_pag(graph: PAG, cause: int, outcome: int) -> ParentSet:
    """An adjustment set valid in every graph of the PAG; raises DataError if there is none."""
    identified = identify(graph, cause, outcome)
    if identified.set is None and identified.affected:
        raise DataError(identified.reason)
    valid = () if identified.set is None else (identified.set,)
    columns = frozenset[int]() if identified.set is None else identified.set
    ways = Adjustment(frozenset(), columns, valid, identified.affected)
    return ParentSet(None, ways, graph, True, 1.0)
