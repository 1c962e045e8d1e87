"""Fit both regressions to one noisy table of the training records: ε-DP for any records.

Each record spreads a weight of 1 over the four nearest nodes of a public B × B grid on [−1, 1]²,
bilinearly. A replaced record moves the table by at most 2 in L1, so the table with Laplace noise of
scale 2/ε on its B² entries is ε-DP. Both fits, of y on x from the rows and of x on y from the
columns, are post-processing.
Proof and choice of the defaults: docs/proofs/binned_regression.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix, Vector
from privcore.extras.pairs.features import gaussian_features
from privcore.extras.pairs.ridge import REACH, Fit, solve
from privcore.privacy.mechanisms import NoiseSource

# L1 sensitivity of the table to one replaced record.
TABLE_SENSITIVITY = 2.0

LEAST_BINS, MOST_BINS = 8, 32


def automatic_bins(count: int, epsilon: float) -> int:
    """Return B = 8(εn/1000)^⅓ for n = `count`, clipped to [8, 32] and rounded; B is public."""
    return round(float(np.clip(8 * (epsilon * count / 1000) ** (1 / 3), LEAST_BINS, MOST_BINS)))


def joint_table(x: Vector, y: Vector, bins: int) -> Matrix:
    """Spread the weights of records in [−1, 1]² over the nodes; shape (B, B), a row per node of x.

    The table T preserves means: for the nodes z_j of y, Σ_j z_j T[b, j] is the sum of y weighted by
    the closeness of x to node b. The columns of T preserve the means of x in this way.
    """
    (row, along), (column, across) = _place(x, bins), _place(y, bins)
    table = np.zeros(bins * bins)
    for i, part in ((row, 1 - along), (row + 1, along)):
        for j, share in ((column, 1 - across), (column + 1, across)):
            table += np.bincount(i * bins + j, weights=part * share, minlength=table.size)
    return table.reshape(bins, bins)


def noisy_table(table: Matrix, epsilon: float, noise: NoiseSource) -> Matrix:
    """The table with Laplace noise of scale 2/ε on every entry; ε-DP."""
    noisy = noise.laplace_array(table.ravel(), TABLE_SENSITIVITY / epsilon)
    return noisy.reshape(table.shape)


def fit_from_table(table: Matrix, count: int, width: float, penalty: float) -> Fit:
    """Fit the regression of the column variable on the row variable to a noisy table.

    w minimises (λ/2)|w|² + (1/n) Σ_b (c_b (w·φ(z_b))² − 2 s_b w·φ(z_b)). Here c_b is the sum of row
    b, raised to 0 if negative, and s_b is the sum of row b weighted by the nodes of the columns,
    clipped to [−c_b, c_b]. The fit tends to the exact regression as ε and B grow.
    Raises ParameterError as `ridge.fit` does.
    """
    nodes = np.linspace(-REACH, REACH, len(table))
    counts = np.maximum(table.sum(axis=1), 0.0)
    sums = np.clip(table @ nodes, -counts, counts)
    features = gaussian_features(nodes, width, REACH)
    gram = features.T @ (features * counts[:, None])
    return Fit(solve(gram, features.T @ sums, count, penalty), width)


def _place(values: Vector, bins: int) -> tuple[NDArray[np.int64], Vector]:
    """The node at or below each value, and the fraction of the way to the next node, 0 to 1."""
    steps = (values + REACH) / (2 * REACH) * (bins - 1)
    node = np.clip(np.floor(steps), 0, bins - 2).astype(np.int64)
    return node, np.asarray(np.clip(steps - node, 0.0, 1.0))
