"""The exact joint distribution of two columns joined by an edge of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.data import BayesianNetwork
from privcore.data.structural import MAX_TABLE_CELLS, LinearGaussian

# Grid on a pair of numbers: its ends, in standard deviations, and its number of points.
_REACH = 8.0
_POINTS = 241

Factor = tuple[tuple[int, ...], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class PairLaw:
    """Cell probabilities of two columns: the joint probabilities, and those under independence.

    joint, independent: shape (cells,). effect: dependence as Cramér's V or, for numeric columns, as
    absolute correlation. levels: numbers of levels of the two columns; None for numeric columns,
    whose cells form a fine grid.
    """

    joint: NDArray[np.float64]
    independent: NDArray[np.float64]
    effect: float
    levels: tuple[int, int] | None = None

    @classmethod
    def of_table(cls, table: Matrix) -> PairLaw:
        """Make the distribution from a table of joint probabilities, shape (r, s)."""
        product = np.outer(table.sum(axis=1), table.sum(axis=0))
        seen = product > 0
        joint, independent = table[seen], product[seen]
        phi = float(np.sum((joint - independent) ** 2 / independent))
        effect = (phi / (min(table.shape) - 1)) ** 0.5
        return cls(joint, independent, effect, (table.shape[0], table.shape[1]))

    @classmethod
    def of_correlation(cls, correlation: float) -> PairLaw:
        """The distribution of two standard normal columns with this correlation ρ.

        The sum and the difference of the columns, divided by √2, are independent with variances
        1 + ρ and 1 − ρ, so the cells form a grid over the sum and the difference.
        """
        points = np.linspace(-_REACH, _REACH, _POINTS)

        def cells(one: float, other: float) -> NDArray[np.float64]:
            weights = (np.exp(-(points**2) / (2 * v)) for v in (one, other))
            first, second = (w / w.sum() for w in weights)
            return np.outer(first, second).ravel()

        joint = cells(1 + correlation, 1 - correlation)
        return cls(joint, cells(1.0, 1.0), abs(correlation))

    @property
    def log_ratios(self) -> NDArray[np.float64]:
        """ln(joint/independent) for each cell; −∞ where the joint probability is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.joint / self.independent)

    @property
    def information(self) -> float:
        """Mutual information of the two columns, in nats."""
        there = self.joint > 0
        return float(self.joint[there] @ self.log_ratios[there])


def edge_laws(network: BayesianNetwork) -> Iterator[PairLaw]:
    """The joint distribution of the two columns of each edge.

    Edges that would need tables with more than `MAX_TABLE_CELLS` cells are left out.
    """
    for child, variable in enumerate(network.variables):
        for parent in variable.parents:
            table = pair_table(network, parent, child)
            if table is not None:
                yield PairLaw.of_table(table)


def edge_correlations(model: LinearGaussian) -> list[float]:
    """The correlation of the two columns of each edge."""
    correlation = model.correlation
    return [float(correlation[edge]) for edge in model.dag.edges]


def pair_table(network: BayesianNetwork, one: int, other: int) -> Matrix | None:
    """Joint probabilities of two columns, shape (levels of one, levels of other).

    Ancestors are summed out one by one; each step chooses the ancestor that leaves the smallest
    table.
    Returns None if a table would have more than `MAX_TABLE_CELLS` cells.
    """
    sizes = [len(v.column.levels) for v in network.variables]
    factors: list[Factor] = []
    waiting, known = [one, other], {one, other}
    while waiting:
        node = waiting.pop()
        variable = network.variables[node]
        names = (*variable.parents, node)
        factors.append((names, variable.probabilities.reshape([sizes[k] for k in names])))
        waiting += set(variable.parents) - known
        known |= set(variable.parents)
    left = known - {one, other}

    def around(node: int) -> tuple[int, ...]:
        """Columns that share a table with the node."""
        neighbours = {k for names, _ in factors if node in names for k in names}
        return tuple(sorted(neighbours - {node}))

    while left:
        node = min(left, key=lambda k: prod(sizes[j] for j in around(k)))
        kept = around(node)
        if sizes[node] * prod(sizes[k] for k in kept) > MAX_TABLE_CELLS:
            return None
        summed = _product([f for f in factors if node in f[0]], kept)
        factors = [f for f in factors if node not in f[0]] + [(kept, summed)]
        left.remove(node)
    return _product(factors, (one, other))


def _product(factors: list[Factor], kept: tuple[int, ...]) -> Matrix:
    """The product of the tables, summed over all columns that are not in `kept`."""
    place = {k: i for i, k in enumerate({k: 0 for names, _ in factors for k in names})}
    operands: list[Any] = []
    for names, table in factors:
        operands += [table, [place[k] for k in names]]
    result: Matrix = np.einsum(*operands, [place[k] for k in kept], optimize=len(factors) > 2)
    return result
