"""The exact effect in a Bayesian network."""

from __future__ import annotations

import numpy as np

from privcore.arrays import Vector
from privcore.data.network import BayesianNetwork
from privcore.effects.question import IndexedQuestion


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
