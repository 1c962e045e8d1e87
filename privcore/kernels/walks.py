"""A random walk over DAGs, by scores of families; see `kernels` and `moment_search.posterior`.

A DAG is one integer per column: bit k means that the column's k-th candidate is a parent.
"""

from __future__ import annotations

from math import log

import numpy as np

from privcore.arrays import Integers, Matrix, Vector
from privcore.kernels.jit import compiled

# For a step on an edge: removed below the first, reversed below the second, else exchanged.
_TAKEN, _TURNED = 0.5, 0.75


@compiled("int64(int64)")
def size_of(mask: int) -> int:
    """Number of bits that are set in `mask`."""
    size = 0
    while mask:
        mask &= mask - 1
        size += 1
    return size


@compiled("boolean(int64[::1], int64[:, ::1], int64, int64)")
def leads(dag: Integers, candidates: Integers, source: int, target: int) -> bool:
    """Whether a directed path goes from source to target."""
    met = np.zeros(dag.size, np.bool_)
    waiting = np.empty(dag.size, np.int64)
    waiting[0], many = target, 1
    while many:
        many -= 1
        column = waiting[many]
        for place in range(candidates.shape[1]):
            if dag[column] >> place & 1:
                parent = candidates[column, place]
                if parent == source:
                    return True
                if not met[parent]:
                    met[parent] = True
                    waiting[many] = parent
                    many += 1
    return False


@compiled(
    "UniTuple(int64, 3)(int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], float64[:, ::1],"
    "float64[::1], int64, float64, float64[:, ::1], int64)"
)
def walk(
    dag: Integers,
    candidates: Integers,
    places: Integers,
    arrows: Integers,
    known: Matrix,
    prior: Vector,
    most: int,
    temperature: float,
    uniforms: Matrix,
    first: int,
) -> tuple[int, int, int]:
    """Make Metropolis steps on `dag`, in place, from step `first` until a score is missing.

    Returns the step at which the walk stopped, and the column and mask of the missing score. Column
    and mask are −1 if no score is missing.

    candidates: candidate parents of each column (row), padded with −1.  places: position of each
    column (second axis) among the candidates of each column (first axis), −1 if it is not a
    candidate.  arrows: all pairs of a column and the position of a candidate.  known: scores by
    column and mask, NaN if missing.  prior: term added to the score of a DAG with k edges, for
    k = 0, 1, 2, ….
    most: maximum number of parents.  uniforms: random numbers in (0, 1), shape (steps, 3).
    """
    many = 0
    for column in range(dag.size):
        many += size_of(dag[column])
    for step in range(first, uniforms.shape[0]):
        j, place = arrows[int(uniforms[step, 0] * arrows.shape[0])]
        i, kind = candidates[j, place], uniforms[step, 1]
        back = places[i, j]
        if back >= 0 and dag[i] >> back & 1:
            continue
        # A step changes the parents of j, and of i if it reverses the edge; it adds an edge from
        # `source` to `target`, −1 for none.
        old_j, old_i = dag[j], dag[i]
        new_j, new_i = old_j ^ (1 << place), old_i
        source, target = -1, j
        if not old_j >> place & 1:
            if kind >= _TAKEN or size_of(old_j) >= most:
                continue
            source = i
        elif kind >= _TURNED:
            other = int((kind - _TURNED) / (1.0 - _TURNED) * candidates.shape[1])
            source = candidates[j, other]
            if source < 0 or source == j or old_j >> other & 1:
                continue
            if places[source, j] >= 0 and dag[source] >> places[source, j] & 1:
                continue
            new_j |= 1 << other
        elif kind >= _TAKEN:
            if back < 0 or size_of(old_i) >= most:
                continue
            new_i |= 1 << back
            source, target = j, i
        if known[j, new_j] != known[j, new_j]:
            return step, j, new_j
        if known[i, new_i] != known[i, new_i]:
            return step, i, new_i
        more = size_of(new_j) - size_of(old_j) + size_of(new_i) - size_of(old_i)
        gain = known[j, new_j] - known[j, old_j] + known[i, new_i] - known[i, old_i]
        gain += prior[many + more] - prior[many]
        if gain < 2.0 * temperature * log(uniforms[step, 2]):
            continue
        dag[j] = new_j
        if source >= 0 and leads(dag, candidates, target, source):
            dag[j] = old_j
            continue
        dag[i] = new_i
        many += more
    return uniforms.shape[0], -1, -1
