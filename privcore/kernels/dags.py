"""Loops of a search over DAGs on one noisy table of all columns; see `kernels`.

For `moment_search.posterior`.  A DAG is one whole number a column: bit i says that column i is a
parent.
"""

from __future__ import annotations

from math import lgamma, log

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from privcore.arrays import Matrix, Vector
from privcore.kernels.arguments import Near
from privcore.kernels.jit import compiled

Masks = NDArray[np.int64]
Codes = NDArray[np.int64]

# Of a family's counts: what is added to the rows that each is worth, so that counts which say next
# to nothing move nothing, the least that may be left of one, and what keeps logarithms finite.
_RIDGE, _LEAST, _TINY = 0.1, 1e-3, 1e-12
# Of 10 proposals about 3 exchange a parent, 3 or 4 add or take away an edge, and the rest turn one.
_EXCHANGED, _CHANGED = 0.3, 0.65

_NEAR = types.NamedTuple(
    (
        float64[:, ::1],
        float64[:, ::1],
        int64[:, ::1],
        int64[::1],
        int64[::1],
        float64[:, ::1],
        float64[:, ::1],
        float64[::1],
    ),
    Near,
)


@compiled("int64(int64)")
def size_of(mask: int) -> int:
    """How many bits are set."""
    size = 0
    while mask:
        mask &= mask - 1
        size += 1
    return size


@compiled("boolean(int64[::1], int64, int64)")
def leads(dag: Masks, source: int, target: int) -> bool:
    """Whether a directed path goes from source to target."""
    met, waiting = 0, 1 << target
    while waiting:
        column = 0
        while not waiting >> column & 1:
            column += 1
        waiting &= waiting - 1
        parents = dag[column]
        if parents >> source & 1:
            return True
        waiting |= parents & ~met
        met |= parents
    return False


@compiled("int64(int64, int64, int64[:, ::1], int64[::1], int64[::1])")
def place_cells(column: int, parents: int, places: Codes, levels: Masks, code: Codes) -> int:
    """Each cell's configuration of the parents, then its level, as one number; how many there are.

    places: the level of each column (row) in each cell.  code: what is filled.
    """
    many = levels[column]
    code[:] = places[column]
    for parent in range(levels.size):
        if parents >> parent & 1:
            for cell in range(code.size):
                code[cell] += many * places[parent, cell]
            many *= levels[parent]
    return int(many)


@compiled(float64(int64, int64, _NEAR))
def family_score(column: int, parents: int, near: Near) -> float:
    """Twice the log-score of a column and its parents, one step of Fisher scoring from a fit.

    The family's probabilities are those of the fit, each moved by its slope over its information;
    as many rows as there is information have drawn them, and BDeu scores that table.
    """
    known, cells, levels, code, room = near.known, near.cells, near.levels, near.code, near.room
    if known[column, parents] == known[column, parents]:
        return float(known[column, parents])
    own = levels[column]
    many = place_cells(column, parents, near.places, levels, code)
    room[:, :many] = 0.0
    for cell in range(code.size):
        for kind in range(3):
            room[kind, code[cell]] += cells[kind, cell]
    # An equivalent sample size of 1, spread evenly.
    whole, each = own / many, 1.0 / many
    score = 0.0
    for start in range(0, many, own):
        expected = rows = seen = 0.0
        for k in range(start, start + own):
            room[2, k] = max(room[2, k], _LEAST - room[1, k] - _RIDGE)
            expected += room[0, k]
            rows += room[1, k]
            seen += room[1, k] + _RIDGE + room[2, k]
        score += lgamma(whole) - lgamma(whole + rows)
        score += (rows + _TINY) * log(rows + _TINY) - seen * log(seen / (rows + own * _RIDGE))
        for k in range(start, start + own):
            share, held, moved = room[0, k] / expected, room[1, k], room[2, k]
            score += lgamma(each + held) - lgamma(each) - (held + _TINY) * log(held + _TINY)
            score += (held + moved) * log(share)
            there = held + _RIDGE
            score += (there + moved) * log((there + moved) / there)
    score *= 2.0
    for parent in range(levels.size):
        if parents >> parent & 1:
            score += near.worth[column, parent]
    known[column, parents] = score
    return score


@compiled(types.Tuple((int64[:, ::1], float64[::1]))(int64[::1], int64, int64, int64, int64, _NEAR))
def best_moves(
    dag: Masks, most_parents: int, cause: int, effect: int, wanted: int, near: Near
) -> tuple[Codes, Vector]:
    """DAGs one step away, shape (wanted, columns), and what each gains, the best first.

    A step adds an edge, takes one away, turns one, or exchanges a parent for another column.
    cause, effect: an edge that stays, −1 for none.  Where there are fewer steps than wanted, the
    gain of the rest is −∞.
    """
    p, prior = dag.size, near.prior
    dags = np.zeros((wanted, p), np.int64)
    gains = np.full(wanted, -np.inf)
    new = dag.copy()
    many = 0
    for j in range(p):
        many += size_of(dag[j])
    for j in range(p):
        own = family_score(j, dag[j], near)
        for i in range(p):
            there = dag[j] >> i & 1
            if i == j or (not there and (dag[i] >> j & 1 or size_of(dag[j]) >= most_parents)):
                continue
            if there and i == cause and j == effect:
                continue
            for other in range(-2, p):
                # −2: away, or added; −1: turned; another column: in the place of i.
                if not there and other > -2:
                    break
                new[:] = dag
                new[j] = dag[j] ^ (1 << i)
                if other >= 0:
                    if other == j or dag[j] >> other & 1 or dag[other] >> j & 1:
                        continue
                    new[j] |= 1 << other
                gain = family_score(j, new[j], near) - own
                if not there:
                    gain += prior[many + 1] - prior[many]
                elif other == -2:
                    gain += prior[many - 1] - prior[many]
                if other == -1:
                    if size_of(dag[i]) >= most_parents:
                        continue
                    new[i] = dag[i] | 1 << j
                    gain += family_score(i, new[i], near)
                    gain -= family_score(i, dag[i], near)
                if gain <= gains[wanted - 1]:
                    continue
                if not there and leads(dag, j, i):
                    continue
                if other >= 0 and leads(dag, j, other):
                    continue
                if other == -1:
                    new[i] = dag[i]
                    if leads(new, i, j):
                        continue
                    new[i] = dag[i] | 1 << j
                place = wanted - 1
                while place > 0 and gains[place - 1] < gain:
                    gains[place] = gains[place - 1]
                    dags[place] = dags[place - 1]
                    place -= 1
                gains[place] = gain
                dags[place] = new
    return dags, gains


@compiled(types.Tuple((int64[::1], float64))(int64[::1], float64, int64, float64[:, ::1], _NEAR))
def walk(
    start: Masks, temperature: float, most_parents: int, uniforms: Matrix, near: Near
) -> tuple[Masks, float]:
    """Where a Metropolis walk over DAGs by scores of families ends, and what it gained.

    uniforms: between 0 and 1, four for each step, shape (steps, 4).
    """
    p, prior = start.size, near.prior
    dag = start.copy()
    gained = 0.0
    many = 0
    for column in range(p):
        many += size_of(dag[column])
    for step in range(uniforms.shape[0]):
        i, j = int(uniforms[step, 0] * p), int(uniforms[step, 1] * p)
        kind = uniforms[step, 2]
        least = 2.0 * temperature * log(uniforms[step, 3])
        if i == j:
            continue
        old_i, old_j = dag[i], dag[j]
        there = old_j >> i & 1
        new = old_j ^ (1 << i)
        other = int(kind / _EXCHANGED * p)
        if kind < _EXCHANGED:
            if not there or other == j or old_j >> other & 1 or dag[other] >> j & 1:
                continue
            new |= 1 << other
        elif not there and (kind > _CHANGED or old_i >> j & 1 or size_of(old_j) >= most_parents):
            continue
        turned = there and kind > _CHANGED
        if turned and size_of(old_i) >= most_parents:
            continue
        gain = family_score(j, new, near)
        gain -= family_score(j, old_j, near)
        if turned:
            gain += family_score(i, old_i | 1 << j, near)
            gain -= family_score(i, old_i, near)
        more = size_of(new) - size_of(old_j) + turned
        gain += prior[many + more] - prior[many]
        if gain < least:
            continue
        if not there and leads(dag, j, i):
            continue
        dag[j] = new
        if kind < _EXCHANGED and leads(dag, j, other):
            dag[j] = old_j
            continue
        if turned:
            if leads(dag, i, j):
                dag[j] = old_j
                continue
            dag[i] = old_i | 1 << j
        gained += gain
        many += more
    return dag, gained
