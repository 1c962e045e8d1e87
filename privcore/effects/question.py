"""A question about an effect, and its true answer in a known network.

The question: how does an outcome change if its cause is set to a given value?

The exact effect in a Bayesian network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privcore.arrays import Vector
from privcore.data.model import Column
from privcore.data.network import BayesianNetwork
from privcore.errors import ParameterError
from privcore.text import short

# Levels that mean yes, in order of preference.
_YES = ("yes", "true", "1", "present", "positive", "high", "abnormal")


@dataclass(frozen=True)
class Question:
    """A question: how does the outcome change if `cause` is set from `compared` to `to`?

    What changes is P(outcome = `level`), or the mean of an outcome that is a number; `level` is
    then None.  If the cause is a number, `compared` and `to` are two numbers as text, or both are
    None for one more unit of the cause.  For levels, None stands for a default.  The default of
    `to` and of `level` is the level that means yes, or the last level if no level means yes.  The
    default of `compared` is the first level other than `to`.
    """

    cause: str
    outcome: str
    compared: str | None = None
    to: str | None = None
    level: str | None = None

    def on(self, columns: Sequence[Column]) -> IndexedQuestion:
        """The question with columns and levels as indices.

        Raises ParameterError if these columns do not allow the question.
        """
        named = {column.name: k for k, column in enumerate(columns)}
        for name in (self.cause, self.outcome):
            if name not in named:
                raise ParameterError(
                    "no-such-column-in-question",
                    name=short(name),
                    choices=", ".join(short(known, 20) for known in list(named)[:8]),
                    value=" …" if len(named) > 8 else "",
                )
        if self.cause == self.outcome:
            raise ParameterError("cause-outcome-same-column")
        cause, outcome = named[self.cause], named[self.outcome]
        levels, results = columns[cause].levels, columns[outcome].levels
        if self.level is not None and not results:
            raise ParameterError("no-levels-of-numbers", name=short(self.outcome))
        level = _place(columns[outcome], self.level, _affirmative(results)) if results else -1
        if not levels:
            return IndexedQuestion(cause, outcome, level=level, change=self._change(columns[cause]))
        if len(levels) < 2:
            raise ParameterError("one-level-cannot-set-another", cause=short(self.cause))
        # A default never equals the level that was stated for the other one.
        wanted = _affirmative(levels)
        if self.to is None and self.compared == levels[wanted]:
            wanted = next(k for k in range(len(levels)) if k != wanted)
        to = _place(columns[cause], self.to, wanted)
        first = next(k for k in range(len(levels)) if k != to)
        compared = _place(columns[cause], self.compared, first)
        if compared == to:
            raise ParameterError("compared-with-itself", name=short(self.cause))
        return IndexedQuestion(cause, outcome, compared, to, level)

    def _change(self, cause: Column) -> float:
        """By how much a cause that is a number is raised: 1, or from `compared` to `to`."""
        if self.compared is None and self.to is None:
            return 1.0
        assert cause.bounds is not None
        low, high = cause.bounds
        ends = []
        for text in (self.compared, self.to):
            try:
                ends.append(float(text or ""))
            except ValueError:
                raise ParameterError("two-values-of-cause", name=short(cause.name)) from None
            if not low <= ends[-1] <= high:
                raise ParameterError(
                    "value-outside-bounds", name=short(cause.name), value=text, low=low, high=high
                )
        if ends[0] == ends[1]:
            raise ParameterError("compared-with-itself", name=short(cause.name))
        return ends[1] - ends[0]


@dataclass(frozen=True)
class IndexedQuestion:
    """A question with columns and levels as indices; levels are −1 for numeric columns.

    change: by how much a cause that is a number is raised.
    """

    cause: int
    outcome: int
    compared: int = -1
    to: int = -1
    level: int = -1
    change: float = 1.0


def _affirmative(levels: Sequence[str]) -> int:
    low = [level.lower() for level in levels]
    return next((low.index(word) for word in _YES if word in low), len(levels) - 1)


def _place(column: Column, level: str | None, default: int) -> int:
    if level is None:
        return default
    if level not in column.levels:
        raise ParameterError(
            "no-such-level-of-intervals" if column.cut_points else "no-such-level",
            name=short(column.name),
            level=short(level),
            choices=", ".join(short(known, 20) for known in column.levels[:8]),
        )
    return column.levels.index(level)


def true_effect(network: BayesianNetwork, indexed: IndexedQuestion) -> float:
    """P(outcome = level | do(cause = to)) − P(outcome = level | do(cause = compared))."""
    low, high = (
        set_probabilities(network, indexed.cause, value, indexed.outcome)[indexed.level]
        for value in (indexed.compared, indexed.to)
    )
    return float(high - low)


def set_probabilities(network: BayesianNetwork, cause: int, value: int, outcome: int) -> Vector:
    """Probabilities of the outcome's levels when the cause is set to a value.

    The truncated factorisation (Pearl 2009) is summed by variable elimination; each step eliminates
    the column with the fewest neighbours.
    """
    variables = network.variables
    ahead, waiting = {outcome}, [outcome]
    while waiting:
        column = waiting.pop()
        for parent in () if column == cause else variables[column].parents:
            if parent not in ahead:
                ahead.add(parent)
                waiting.append(parent)
    factors = []
    for column in ahead - {cause}:
        variable = variables[column]
        axes = (*variable.parents, column)
        table = variable.probabilities / variable.probabilities.sum(axis=1, keepdims=True)
        table = table.reshape([len(variables[c].column.levels) for c in axes])
        if cause in axes:
            table, axes = table.take(value, axes.index(cause)), tuple(c for c in axes if c != cause)
        factors.append((axes, table))
    for column in _in_turn({c for c in ahead if c not in (cause, outcome)}, factors):
        with_it = [f for f in factors if column in f[0]]
        factors = [f for f in factors if column not in f[0]]
        factors.append(_added_up(with_it, column))
    result = np.ones(len(variables[outcome].column.levels))
    for _, table in factors:
        result = result * table
    return np.asarray(result)


def _in_turn(columns: set[int], factors: list[tuple[tuple[int, ...], Vector]]) -> list[int]:
    """The order of elimination: at each step the column with the fewest neighbours."""
    neighbours = {c: {o for axes, _ in factors if c in axes for o in axes} - {c} for c in columns}
    order = []
    while neighbours:
        column = min(neighbours, key=lambda c: (len(neighbours[c]), c))
        order.append(column)
        around = neighbours.pop(column)
        for other in around & set(neighbours):
            neighbours[other] = (neighbours[other] | around) - {other, column}
    return order


def _added_up(
    factors: list[tuple[tuple[int, ...], Vector]], column: int
) -> tuple[tuple[int, ...], Vector]:
    axes = sorted({c for own, _ in factors for c in own})
    product = np.ones(())
    for own, table in factors:
        # Axes in ascending order, with length 1 for every other column.
        ascending = table.transpose(sorted(range(len(own)), key=lambda k: own[k]))
        sizes = dict(zip(sorted(own), ascending.shape, strict=True))
        product = product * ascending.reshape([sizes.get(c, 1) for c in axes])
    left = tuple(c for c in axes if c != column)
    return left, product.sum(axis=axes.index(column))
