"""Tabu search over DAGs by their likelihood on one noisy table of all columns.

As `dag_search`, but that a DAG's likelihood is not a sum over its families: noise on a cell
concerns all of them.  A search ends in a local optimum sooner than one on scores of families does,
so that it is begun again from DAGs near the best one (iterated local search: Lourenço, Martin &
Stützle 2003).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count, permutations
from typing import Any

from privcore.algorithms.moment_search.dags.dag_search import Move, Parents, leads, made
from privcore.algorithms.moment_search.likelihood.table_climb import MOST_STEPS
from privcore.algorithms.moment_search.likelihood.table_model import Fit, TableModel

# Additions that are fitted, the most promising by `TableModel.gain`.
_FITTED = 4
_TOO_SMALL = 1e-3
# What is so much below the best option after so few steps of a climb does not become the best.
_FEW_STEPS = 6
_HOPELESS = 50.0


def search_table_again(
    model: TableModel,
    start: Parents,
    *,
    penalty: float,
    max_parents: int,
    between: Callable[[int], None] = lambda moves: None,
) -> tuple[Parents, float]:
    """As `search_table`, and from the best DAG so far without any edge of a column, for each one.

    A column whose parents and children are wrong together gets right ones in this way, where each
    change alone is a worsening.
    """
    made_so_far = count()
    rules: dict[str, Any] = {
        "penalty": penalty,
        "max_parents": max_parents,
        "between": lambda _: between(next(made_so_far)),
    }
    best, most = search_table(model, start, **rules)
    for column in range(len(start)):
        less = _without_column(best, column)
        if less == best:
            continue
        dag, reached = search_table(model, less, **rules, known=most)
        if reached > most + _TOO_SMALL:
            best, most = dag, reached
    return best, most


def search_table(
    model: TableModel,
    start: Parents,
    *,
    penalty: float,
    max_parents: int,
    patience: int = 8,
    known: float = math.inf,
    among: Collection[int] | None = None,
    allowed: Callable[[Parents], bool] = lambda dag: True,
    between: Callable[[int], None] = lambda moves: None,
) -> tuple[Parents, float]:
    """The best DAG that was met, by likelihood less a penalty, and what it is worth.

    penalty: of each free probability, in units of deviance.  start: where the search begins; the
    better that is, the shorter it is.  known: what another search ended with; this one ends there,
    too.  among: columns whose edges may change, None for all.  allowed: whether a DAG may be
    met.  between: called before each step with the number of steps made; it may raise.
    """
    columns = range(len(start)) if among is None else sorted(among)
    current, fit = start, model.fit(start)
    best, most = current, worth(fit, penalty)
    met, idle, moves = {current}, 0, 0
    while idle < patience:
        between(moves)
        options = list(
            _options(
                model,
                fit,
                current,
                columns,
                penalty,
                max_parents,
                lambda dag: dag not in met and allowed(dag),
            )
        )
        if not options:
            break
        current = _best(model, fit, current, options, penalty)
        met.add(current)
        fit = model.fit(current, fit)
        moves += 1
        idle += 1
        reached = worth(fit, penalty)
        if reached > most + _TOO_SMALL:
            best, most, idle = current, reached, 0
        if abs(reached - known) < _TOO_SMALL:
            break
    return best, most


def worth(fit: Fit, penalty: float) -> float:
    """Minus the deviance, less the penalty for each free probability."""
    return -fit.deviance - penalty * fit.dof


def _without_column(dag: Parents, column: int) -> Parents:
    """Without any edge of it."""
    return tuple(frozenset() if c == column else ps - {column} for c, ps in enumerate(dag))


def _best(
    model: TableModel, fit: Fit, dag: Parents, options: Sequence[Parents], penalty: float
) -> Parents:
    """The best of the DAGs that a step may lead to.  fit: that of `dag`."""

    def near(option: Parents, most_steps: int = MOST_STEPS) -> float:
        deviance = model.deviance_near(option, fit, dag, most_steps)
        return -deviance - penalty * model.dof(option)

    first = [near(option, _FEW_STEPS) for option in options]
    least = max(first) - _HOPELESS
    left = [option for option, score in zip(options, first, strict=True) if score >= least]
    return max((near(option), k, option) for k, option in enumerate(left))[2]


def _options(
    model: TableModel,
    fit: Fit,
    dag: Parents,
    columns: Collection[int],
    penalty: float,
    max_parents: int,
    allowed: Callable[[Parents], bool],
) -> Iterator[Parents]:
    """DAGs that a step may lead to: all without an edge or with one turned, few with one more."""
    additions = []
    for parent, child in permutations(columns, 2):
        moves = []
        if parent in dag[child]:
            moves.append(Move("delete", parent, child))
            if len(dag[parent]) < max_parents and not leads(
                dag, parent, child, without=(parent, child)
            ):
                moves.append(Move("reverse", parent, child))
        elif (
            child not in dag[parent]
            and len(dag[child]) < max_parents
            and not leads(dag, child, parent)
        ):
            moves.append(Move("add", parent, child))
        for move in moves:
            new = made(dag, move)
            if not allowed(new):
                continue
            if move.kind != "add":
                yield new
                continue
            cost = penalty * (model.dof(new) - fit.dof)
            additions.append((model.gain(fit, dag, parent, child) - cost, parent, child, new))
    additions.sort(key=lambda addition: addition[:3], reverse=True)
    yield from (new for *_, new in additions[:_FITTED])
