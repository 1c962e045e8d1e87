"""Structural equations over a graph: weights, forward sampling, and bounds known without rows.

Scales and bounds follow from the weights and not from any rows, so they are as public as the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.data.random_graph import RandomDag

Bounds = tuple[tuple[float, float], ...]


def random_weights(
    dag: RandomDag, low: float, high: float, generator: np.random.Generator
) -> Matrix:
    """Random weights, shape (p, p): w[i, j] uniform in ±[low, high] for an edge i → j, else 0."""
    weights = np.zeros((len(dag.order), len(dag.order)))
    for cause, effect in dag.edges:
        weights[cause, effect] = generator.uniform(low, high) * generator.choice((-1.0, 1.0))
    return weights


@dataclass(frozen=True, eq=False)
class LinearGaussian:
    """The model X_j = Σ_i w_ij X_i + ε_j with independent standard Gaussian ε_j.

    standardised: whether each column is divided by its population standard deviation.  A noise
    scale common to all columns would cancel in this division, so the weights alone determine how
    strong a dependence is.  bound: the public bounds of a column are −bound and +bound, in standard
    deviations of the column.
    """

    dag: RandomDag
    weights: Matrix
    bound: float
    standardised: bool = True

    @property
    def covariance(self) -> Matrix:
        """Covariance before the columns are scaled: (I − W)⁻ᵀ (I − W)⁻¹, shape (p, p)."""
        effects = np.eye(len(self.weights))
        # Adding up in causal order avoids the cancellation of inverting with large weights.
        for node in self.dag.order:
            effects[:, node] += effects @ self.weights[:, node]
        return effects.T @ effects

    @property
    def correlation(self) -> Matrix:
        """Correlation matrix of the columns before they are clipped to the bounds, shape (p, p)."""
        covariance = self.covariance
        scale = np.sqrt(np.diag(covariance))
        correlation: Matrix = covariance / np.outer(scale, scale)
        return correlation

    @property
    def bounds(self) -> Bounds:
        reach = self.bound * self._scale
        return tuple((-float(r), float(r)) for r in reach)

    @property
    def _scale(self) -> Matrix:
        """Standard deviation of each column as sampled, shape (p,)."""
        deviations = np.sqrt(np.diag(self.covariance))
        return np.ones_like(deviations) if self.standardised else deviations

    def draw(self, rows: int, generator: np.random.Generator) -> list[Matrix]:
        """Draws `rows` values for each column, without clipping to the bounds."""
        scale = np.sqrt(np.diag(self.covariance))
        columns: dict[int, Matrix] = {}
        if not self.standardised:
            scale = np.ones_like(scale)
        for node in self.dag.order:
            values = generator.standard_normal(rows)
            values /= scale[node]
            for cause in self.dag.parents[node]:
                values += self.weights[cause, node] * scale[cause] / scale[node] * columns[cause]
            columns[node] = values
        return [columns[node] for node in range(len(columns))]


@dataclass(frozen=True, eq=False)
class NonlinearModel:
    """The model X_j = Σ_i w_ij f_ij(X_i) + ε_j with Gaussian ε_j of standard deviation `noise_sd`.

    waves: shape (p, p); true where f_ij(x) = sin(2x), which is not monotone, and false where
    f_ij(x) = tanh(2x), which is monotone.  Both functions stay within ±1, so the parents contribute
    at most Σ_i |w_ij|.  bound: how far the public bounds reach beyond this sum, in standard
    deviations of the noise.
    """

    dag: RandomDag
    weights: Matrix
    waves: NDArray[np.bool_]
    noise_sd: float
    bound: float

    @property
    def bounds(self) -> Bounds:
        reach = np.abs(self.weights).sum(axis=0) + self.bound * self.noise_sd
        return tuple((-float(r), float(r)) for r in reach)

    def draw(self, rows: int, generator: np.random.Generator) -> list[Matrix]:
        """Draws `rows` values for each column, without clipping to the bounds."""
        columns: dict[int, Matrix] = {}
        for node in self.dag.order:
            values = generator.standard_normal(rows)
            values *= self.noise_sd
            for cause in self.dag.parents[node]:
                shape = np.sin if self.waves[cause, node] else np.tanh
                values += self.weights[cause, node] * shape(2 * columns[cause])
            columns[node] = values
        return [columns[node] for node in range(len(columns))]
