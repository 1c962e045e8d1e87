"""Tabu search over DAGs by their likelihood on one noisy table of all columns.

As `dag_search`, but that a DAG's likelihood is not a sum over its families: noise on a cell
concerns all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import permutations

from privcore.noise_aware.dag_search import Move, Parents, leads, made
from privcore.noise_aware.table_model import Fit, TableModel

# Additions that are fitted, the most promising by `TableModel.gain`.
_FITTED = 4
_TOO_SMALL = 1e-3


def search_table(
    model: TableModel,
    start: Parents,
    *,
    penalty: float,
    max_parents: int,
    patience: int = 8,
    among: Collection[int] | None = None,
    allowed: Callable[[Parents], bool] = lambda dag: True,
    between: Callable[[int], None] = lambda moves: None,
) -> tuple[Parents, float]:
    """The best DAG that was met, by likelihood less a penalty, and what it is worth.

    penalty: of each free share, in units of deviance.  start: where the search begins; the better
    that is, the shorter it is.  among: columns whose edges may change, None for all.  allowed:
    whether a DAG may be met.  between: called before each step with the number of steps made; it
    may raise.
    """
    columns = range(len(start)) if among is None else sorted(among)
    current, fit = start, model.fit(start)
    best, most = current, worth(fit, penalty)
    met, idle, moves = {current}, 0, 0
    while idle < patience:
        between(moves)
        options = [
            (-model.deviance_near(dag, fit, current) - penalty * model.freedom(dag), k, dag)
            for k, dag in enumerate(
                _options(
                    model, fit, current, columns, penalty, max_parents,
                    lambda dag: dag not in met and allowed(dag),
                )
            )
        ]  # fmt: skip
        if not options:
            break
        current = max(options)[2]
        met.add(current)
        fit = model.fit(current, fit)
        moves += 1
        idle += 1
        if worth(fit, penalty) > most + _TOO_SMALL:
            best, most, idle = current, worth(fit, penalty), 0
    return best, most


def worth(fit: Fit, penalty: float) -> float:
    """Minus the deviance, less the penalty for each free share."""
    return -fit.deviance - penalty * fit.freedom


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
            cost = penalty * (model.freedom(new) - fit.freedom)
            additions.append((model.gain(fit, dag, parent, child) - cost, parent, child, new))
    additions.sort(key=lambda addition: addition[:3], reverse=True)
    yield from (new for *_, new in additions[:_FITTED])
