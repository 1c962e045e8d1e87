"""A walk over DAGs by scores of families that are looked up; see `kernels`.

For `moment_search.posterior.draws`.  Where numba is missing or switched off it runs in Python.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.kernels.jit import compiled

Masks = NDArray[np.int64]
Edges = NDArray[np.bool_]

# Of a step on an edge: taken away below the first, turned below the second, else exchanged.
_TAKEN, _TURNED = 0.5, 0.75


@compiled("boolean(boolean[:, ::1], int64, int64)")
def leads(parents: Edges, source: int, target: int) -> bool:
    """Whether a directed path goes from source to target; parents[j, i]: i is a parent of j."""
    p = parents.shape[0]
    met = np.zeros(p, np.bool_)
    waiting = np.empty(p, np.int64)
    waiting[0], many = target, 1
    met[target] = True
    while many:
        many -= 1
        column = waiting[many]
        for i in range(p):
            if parents[column, i] and not met[i]:
                if i == source:
                    return True
                met[i] = True
                waiting[many] = i
                many += 1
    return False


@compiled(
    "Tuple((int64, int64, int64))(boolean[:, ::1], int64[::1], int64[:, ::1], int64[::1],"
    "int64[:, ::1], float64[:, ::1], float64[:, ::1], int64, float64, int64, float64)"
)
def walk(
    parents: Edges,
    masks: Masks,
    candidates: Masks,
    many: Masks,
    places: Masks,
    known: Matrix,
    uniforms: Matrix,
    first: int,
    temperature: float,
    most: int,
    worth: float,
) -> tuple[int, int, int]:
    """Metropolis steps from `first` on, in place, until a score is missing.

    Where it ended, and the column and mask whose score is missing, −1 both at the end.
    parents[j, i]: i is a parent of j.  masks: the same by places among the candidates of each
    column, shape (p,); candidates: shape (p, k), `many` of each; places: of a column (second)
    among the candidates of another (first), −1 if it is none.  known: scores by column and mask,
    NaN where missing.  uniforms: between 0 and 1, shape (steps, 4).  most: parents of a column.
    worth: of an edge, beside the scores.
    """
    p = parents.shape[0]
    for step in range(first, uniforms.shape[0]):
        j = int(uniforms[step, 0] * p)
        if many[j] == 0:
            continue
        place = int(uniforms[step, 1] * many[j])
        i = candidates[j, place]
        kind = uniforms[step, 2]
        least = 2.0 * temperature * log(uniforms[step, 3])
        new = masks[j] ^ (1 << place)
        if not parents[j, i]:
            if kind >= _TAKEN or parents[i, j] or parents[j].sum() >= most:
                continue
            if known[j, new] != known[j, new]:
                return step, j, new
            gain = known[j, new] - known[j, masks[j]] + worth
            if gain >= least and not leads(parents, j, i):
                masks[j], parents[j, i] = new, True
        elif kind < _TAKEN:
            if known[j, new] != known[j, new]:
                return step, j, new
            if known[j, new] - known[j, masks[j]] - worth >= least:
                masks[j], parents[j, i] = new, False
        elif kind < _TURNED:
            if places[i, j] < 0 or parents[i].sum() >= most:
                continue
            turned = masks[i] | (1 << places[i, j])
            if known[j, new] != known[j, new]:
                return step, j, new
            if known[i, turned] != known[i, turned]:
                return step, i, turned
            gain = known[j, new] - known[j, masks[j]] + known[i, turned] - known[i, masks[i]]
            if gain < least:
                continue
            parents[j, i] = False
            if leads(parents, i, j):
                parents[j, i] = True
            else:
                masks[j], masks[i], parents[i, j] = new, turned, True
        else:
            other = int((kind - _TURNED) / (1.0 - _TURNED) * many[j])
            into = candidates[j, other]
            if parents[j, into] or parents[into, j]:
                continue
            new |= 1 << other
            if known[j, new] != known[j, new]:
                return step, j, new
            if known[j, new] - known[j, masks[j]] >= least and not leads(parents, j, into):
                masks[j], parents[j, i], parents[j, into] = new, False, True
    return uniforms.shape[0], -1, -1
