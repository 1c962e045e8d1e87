"""DAGs drawn by scores of families, where not all combinations of levels are counted.

Such scores are of what models make of noisy moments, and what is wrong in a model grows with the
rows.  So they count as if a model were right up to what one in so many rows shows (the coarsened
posterior of Miller & Dunson 2019), and as if the noise were as wide as at a typical edge.
Two samplers with other random numbers, by parallel tempering (Geyer 1991).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore import kernels
from privcore.algorithms.moment_search.search import Parents, Scorer
from privcore.arrays import Matrix

Edges = NDArray[np.bool_]

_TEMPERATURES = (1.0, 2.0, 4.0)
# Rounds of all temperatures, those before the first draw, and steps of a round for each column.
_ROUNDS, _BURN, _STEPS = 60, 12, 20
# Rounds from one DAG whose tests are made to the next.
_APART = 4
# Candidates of a column, at most: a table holds the scores of all their subsets.
_CANDIDATES = 12


class Draws(NamedTuple):
    """What one sampler met.  dags[k][j, i]: whether i is a parent of j in draw k.  directed: how
    often i → j was met after each round, shape (p, p)."""

    dags: list[Edges]
    directed: Matrix


def drawn_dags(
    score: Scorer,
    start: Parents,
    candidates: Mapping[int, set[int]],
    strength: Callable[[int, int], float],
    *,
    scale: float,
    worth: float,
    max_parents: int,
    between: Callable[[int], None],
) -> tuple[Draws, Draws]:
    """Those of two samplers, the same for the same score.

    start: a DAG.  candidates: per column, those it may be adjacent to.  strength: of a pair.
    scale: by which scores are divided.  worth: of an edge, beside the divided scores.
    between: called before each round with the number of rounds made; it may raise.
    """
    near = [_near(start, candidates, strength, column) for column in range(len(start))]
    sampler = _Sampler(score, start, near, scale, worth, max_parents)
    first, second = (sampler.run(np.random.default_rng(seed), between) for seed in (1, 2))
    return first, second


def _near(
    start: Parents,
    candidates: Mapping[int, set[int]],
    strength: Callable[[int, int], float],
    column: int,
) -> list[int]:
    """The candidates of a column that are looked at: its parents first, then its children."""
    near = candidates[column] | start[column]
    near |= {c for c, parents in enumerate(start) if column in parents}
    ranked = sorted(near, key=lambda c: (-strength(column, c), c))
    effects = {c for c in ranked if column in start[c]}
    return sorted(ranked, key=lambda c: (c not in start[column], c not in effects))[:_CANDIDATES]


class _Sampler:
    """Scores that one run looks up, the next ones know."""

    def __init__(
        self,
        score: Scorer,
        start: Parents,
        near: Sequence[Sequence[int]],
        scale: float,
        worth: float,
        max_parents: int,
    ) -> None:
        p, widest = len(start), max(1, *map(len, near))
        self._score, self._start, self._near = score, start, near
        self._scale, self._worth, self._most = scale, worth, max_parents
        self._candidates = np.zeros((p, widest), np.int64)
        self._places = np.full((p, p), -1, np.int64)
        for column, others in enumerate(near):
            self._candidates[column, : len(others)] = others
            self._places[column, list(others)] = range(len(others))
        self._many = np.array([len(others) for others in near], np.int64)
        self._known = np.full((p, 1 << widest), np.nan)
        self._known[:, 0] = 0.0

    def run(self, random: np.random.Generator, between: Callable[[int], None]) -> Draws:
        p = len(self._start)
        states = [self._begin() for _ in _TEMPERATURES]
        dags, directed = [], np.zeros((p, p))
        for made in range(_ROUNDS):
            between(made)
            for temperature, state in zip(_TEMPERATURES, states, strict=True):
                self._walk(state, temperature, random.random((_STEPS * p, 4)))
            for k in range(len(states) - 1):
                colder, hotter = 1 / _TEMPERATURES[k], 1 / _TEMPERATURES[k + 1]
                apart = self._value(states[k + 1]) - self._value(states[k])
                if math.log(random.random()) <= (colder - hotter) * apart / 2:
                    states[k], states[k + 1] = states[k + 1], states[k]
            if made >= _BURN:
                directed += states[0][0].T
                if made % _APART == 0:
                    dags.append(states[0][0].copy())
        return Draws(dags, directed / (_ROUNDS - _BURN))

    def _begin(self) -> tuple[Edges, NDArray[np.int64]]:
        p = len(self._start)
        parents, masks = np.zeros((p, p), np.bool_), np.zeros(p, np.int64)
        for column, causes in enumerate(self._start):
            for cause in causes & set(self._near[column]):
                parents[column, cause] = True
                masks[column] |= 1 << int(self._places[column, cause])
            self._look_up(column, int(masks[column]))
        return parents, masks

    def _walk(
        self, state: tuple[Edges, NDArray[np.int64]], temperature: float, uniforms: Matrix
    ) -> None:
        step, column = 0, 0
        while column >= 0:
            step, column, mask = kernels.family_walk.walk(
                *state,
                self._candidates,
                self._many,
                self._places,
                self._known,
                uniforms,
                step,
                temperature,
                self._most,
                self._worth,
            )
            if column >= 0:
                self._look_up(column, mask)

    def _look_up(self, column: int, mask: int) -> None:
        if math.isnan(self._known[column, mask]):
            parents = frozenset(c for k, c in enumerate(self._near[column]) if mask >> k & 1)
            self._known[column, mask] = self._score(column, parents) / self._scale

    def _value(self, state: tuple[Edges, NDArray[np.int64]]) -> float:
        parents, masks = state
        known = self._known[np.arange(len(masks)), masks].sum()
        return float(known + self._worth * parents.sum())
