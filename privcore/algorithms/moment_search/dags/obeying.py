"""Background knowledge in a score of DAGs: more than any data could say."""

from __future__ import annotations

import numpy as np

from privcore.algorithms.moment_search.dags.dag_search import Parents, Scorer
from privcore.arrays import Matrix
from privcore.graphs.constraints import Constraints


def parent_worth(known: Constraints, n: int) -> Matrix:
    """What a parent (second) of a column (first) is worth beside the data, shape (p, p).

    Much less than nothing where no arrow is allowed; much more where there has to be an edge, of
    which a DAG has one direction.  Zero where nothing is known.
    n: rows; n of them add less than 1,000 n to a score, for columns of up to e²⁵⁰ levels.
    """
    much = 1e6 + 1e3 * n
    worth = np.where(known.allowed.T, 0.0, -much)
    for i, j in known.required:
        for cause, effect in ((i, j), (j, i)):
            if known.allowed[cause, effect]:
                worth[effect, cause] = much
    return worth


def obeying(score: Scorer, known: Constraints, n: int) -> Scorer:
    """The score, with what parents are worth by background knowledge; n: rows."""
    if known.empty:
        return score
    worth = parent_worth(known, n)

    def known_score(column: int, parents: frozenset[int]) -> float:
        return score(column, parents) + float(worth[column, sorted(parents)].sum())

    return known_score


def first_dag(known: Constraints) -> Parents | None:
    """A DAG of the required edges alone; None where there is none."""
    nothing: Parents = (frozenset(),) * len(known.allowed)
    return known.repaired(nothing) if known.required else None
