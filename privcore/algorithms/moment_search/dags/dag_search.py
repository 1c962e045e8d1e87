"""Tabu search over DAGs within a set of candidate edges (Glover 1986; Bouckaert 1995)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

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


class Move(NamedTuple):
    kind: Literal["add", "delete", "reverse"]
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
    while idle < patience:
        between(moves)
        ranked = sorted(_moves(score, candidates, current, worth, max_parents), reverse=True)
        taken = next(((m, d) for _, m in ranked if (d := made(current, m)) not in met), None)
        if taken is None:
            break
        move, current = taken
        met.add(current)
        for column in (move.parent, move.child):
            worth[column] = score(column, current[column])
        moves += 1
        idle += 1
        if sum(worth) > best_total + _TOO_SMALL:
            best, best_total, idle = current, sum(worth), 0
    return best


def _moves(
    score: Scorer,
    candidates: Mapping[int, set[int]],
    current: Parents,
    worth: list[float],
    max_parents: int,
) -> Iterator[tuple[float, Move]]:
    """With what each adds to the total score."""
    for parent, others in candidates.items():
        for child in others:
            if parent in current[child]:
                lost = score(child, current[child] - {parent}) - worth[child]
                yield lost, Move("delete", parent, child)
                if len(current[parent]) < max_parents and not leads(
                    current, parent, child, without=(parent, child)
                ):
                    gained = score(parent, current[parent] | {child}) - worth[parent]
                    yield lost + gained, Move("reverse", parent, child)
            elif (
                child not in current[parent]
                and len(current[child]) < max_parents
                and not leads(current, child, parent)
            ):
                gained = score(child, current[child] | {parent}) - worth[child]
                yield gained, Move("add", parent, child)


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
