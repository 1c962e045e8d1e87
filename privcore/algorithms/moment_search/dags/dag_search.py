"""Tabu search over DAGs within a set of candidate edges (Glover 1986; Bouckaert 1995)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import Literal, NamedTuple

import numpy as np

Parents = tuple[frozenset[int], ...]
Scorer = Callable[[int, frozenset[int]], float]
_TOO_SMALL = 1e-6
# Scores are rounded to so many: those of DAGs that say the same are equal on every processor, and
# a search meets the same DAGs on all of them.
DIGITS = 6


def edges_of(dag: Parents) -> set[tuple[int, int]]:
    """All (cause, effect)."""
    return {(cause, effect) for effect, causes in enumerate(dag) for cause in causes}


def total(score: Scorer, dag: Parents) -> float:
    """What the scores of all families add up to."""
    return sum(score(column, parents) for column, parents in enumerate(dag))


Kind = Literal["add", "delete", "reverse"]


class Move(NamedTuple):
    kind: Kind
    parent: int
    child: int


def search_dag(
    score: Scorer,
    candidates: Mapping[int, set[int]],
    start: Parents,
    *,
    max_parents: int = 4,
    patience: int = 12,
    between: Callable[[int], None] = lambda moves: None,
) -> Parents:
    """The parents of each column in the best DAG that was met.

    Each step makes the best addition, deletion or reversal that leads to a DAG not met before,
    even a worsening one; the search ends when `patience` steps in a row found nothing better.
    candidates: per column, those it may be adjacent to.  between: called before each step with
    the number of steps made; it may raise.
    """
    current = best = start
    worth = [score(c, parents) for c, parents in enumerate(current)]
    best_total = sum(worth)
    met = {current}
    idle = moves = 0
    known = _Moves(score, candidates, max_parents)
    known.update(current, worth, candidates)
    while idle < patience:
        between(moves)
        ranked = known.ranked(current)
        taken = next(((m, d) for m in ranked if (d := made(current, m)) not in met), None)
        if taken is None:
            break
        move, current = taken
        met.add(current)
        changed = (move.parent, move.child)
        for column in changed:
            worth[column] = score(column, current[column])
        known.update(current, worth, changed)
        moves += 1
        idle += 1
        if sum(worth) > best_total + _TOO_SMALL:
            best, best_total, idle = current, sum(worth), 0
    return best


_KINDS: tuple[Kind, ...] = ("reverse", "delete", "add")


class _Moves:
    """What each move adds to the total score; a move of two columns changes few of them."""

    def __init__(self, score: Scorer, candidates: Mapping[int, set[int]], max_parents: int) -> None:
        self._score, self._most = score, max_parents
        # Of moves that gain the same, the first goes first.
        pairs = sorted(((p, c) for p, others in candidates.items() for c in others), reverse=True)
        self._pairs = pairs
        self._gains = np.full((len(_KINDS), len(pairs)), -np.inf)
        self._of: dict[int, list[int]] = {column: [] for column in candidates}
        for k, pair in enumerate(pairs):
            for column in pair:
                self._of[column].append(k)

    def update(self, current: Parents, worth: list[float], changed: Iterable[int]) -> None:
        """changed: columns that have other parents than before."""
        for k in {k for column in changed for k in self._of[column]}:
            self._gains[:, k] = self._gained(current, worth, *self._pairs[k])

    def _gained(
        self, current: Parents, worth: list[float], parent: int, child: int
    ) -> tuple[float, float, float]:
        """By each of `_KINDS`, as far as the edges between the two and their number go."""
        score = self._score
        if parent in current[child]:
            lost = score(child, current[child] - {parent}) - worth[child]
            if len(current[parent]) == self._most:
                return -inf, lost, -inf
            gained = score(parent, current[parent] | {child}) - worth[parent]
            return lost + gained, lost, -inf
        if child in current[parent] or len(current[child]) == self._most:
            return -inf, -inf, -inf
        return -inf, -inf, score(child, current[child] | {parent}) - worth[child]

    def ranked(self, current: Parents) -> Iterator[Move]:
        """Moves to DAGs, the best first."""
        left = self._gains.reshape(-1).copy()
        while left.size and left[best := int(left.argmax())] > -inf:
            left[best] = -inf
            kind = _KINDS[best // len(self._pairs)]
            parent, child = self._pairs[best % len(self._pairs)]
            if kind == "add" and leads(current, child, parent):
                continue
            if kind == "reverse" and leads(current, parent, child, without=(parent, child)):
                continue
            yield Move(kind, parent, child)


def made(current: Parents, move: Move) -> Parents:
    """The DAG after a move."""
    parents = list(current)
    if move.kind == "add":
        parents[move.child] |= {move.parent}
    else:
        parents[move.child] -= {move.parent}
        if move.kind == "reverse":
            parents[move.parent] |= {move.child}
    return tuple(parents)


def leads(
    current: Parents, source: int, target: int, without: tuple[int, int] | None = None
) -> bool:
    """Whether a directed path goes from source to target, the edge `without` apart."""
    met, waiting = {target}, [target]
    while waiting:
        column = waiting.pop()
        for parent in current[column]:
            if (parent, column) == without or parent in met:
                continue
            if parent == source:
                return True
            met.add(parent)
            waiting.append(parent)
    return False
