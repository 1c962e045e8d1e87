"""Regressions of one variable on the other, without and with noise.

Kernel ridge regression in explicit features, and its sensitivity to one record.

Equation (5) of Kusner et al. 2016: w minimises (λ/2)|w|² + (1/n) Σ (w·φ(x_i) − y_i)², with the
features φ of a Gaussian kernel of public width (`features`). The dense solution is K(·, x)(K +
(nλ/2)I)⁻¹y. The solution here takes time n·D² and agrees with the dense solution up to rounding.
Proof of the sensitivity: docs/proofs/kernel_ridge.md.

Fit both regressions to one noisy table of the training records: ε-DP for any records.

Each record spreads a weight of 1 over the four nearest nodes of a public B × B grid on [−1, 1]²,
bilinearly. A replaced record moves the table by at most 2 in L1, so the table with Laplace noise of
scale 2/ε on its B² entries is ε-DP. Both fits, of y on x from the rows and of x on y from the
columns, are post-processing.
Proof and choice of the defaults: docs/proofs/binned_regression.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from privcore.arrays import Matrix, Vector
from privcore.errors import ParameterError
from privcore.extras.pairs.scores import gaussian_features
from privcore.privacy.mechanisms import NoiseSource

# Variables are scaled to [−1, 1].
REACH = 1.0

# Records whose features are in memory at a time.
_BLOCK = 1 << 15


@dataclass(frozen=True, eq=False)
class Fit:
    """A kernel regression on [−1, 1]: the features' weights, shape (D,), and the kernel's width."""

    weights: Vector
    width: float

    def predict(self, values: Vector) -> Vector:
        """The predictions at `values`, shape (m,), clipped to [−1, 1]."""
        parts = [
            self.predict_from(gaussian_features(values[start : start + _BLOCK], self.width, REACH))
            for start in range(0, values.size, _BLOCK)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def predict_from(self, features: Matrix) -> Vector:
        """The predictions, shape (m,), from precomputed features of the values, shape (m, D)."""
        return np.clip(features @ self.weights, -1.0, 1.0)


def fit(x: Vector, y: Vector, width: float, penalty: float) -> Fit:
    """Fit the ridge regression of y on x, both of shape (n,) and within [−1, 1].

    penalty: λ.  Raises ParameterError unless 0 < λ < ∞ and `feature_count` accepts the width.
    """
    gram: Matrix | float = 0.0
    products: Vector | float = 0.0
    for start in range(0, x.size, _BLOCK):
        block = gaussian_features(x[start : start + _BLOCK], width, REACH)
        gram = gram + block.T @ block
        products = products + block.T @ y[start : start + _BLOCK]
    return Fit(solve(np.asarray(gram), np.asarray(products), x.size, penalty), width)


def solve(gram: Matrix, products: Vector, count: int, penalty: float) -> Vector:
    """Solve (G + (nλ/2)I)w = p for G = Σ φφᵀ, shape (D, D), and p = Σ φy over n = `count` records.

    Returns the weights w, shape (D,). Raises ParameterError unless 0 < λ < ∞.
    """
    _check(penalty)
    factor = cho_factor(gram + np.eye(len(gram)) * (count * penalty / 2), overwrite_a=True)
    return np.asarray(cho_solve(factor, products))


def residual_shift(
    count: int, penalty: float, calibration: Literal["proven", "published"]
) -> float:
    """The largest change in any residual when one of `count` training records is replaced.

    proven: 4(1 + 1/√(2λ))/(nλ), but at most 2, since predictions lie in [−1, 1].
    published: 8/(nλ^{3/2}), for λ ≤ 1 (Kusner et al. 2016, Theorem 5).
    Raises ParameterError unless 0 < λ < ∞, and λ ≤ 1 if published.
    """
    _check(penalty)
    if calibration == "proven":
        return min(4 * (1 + 1 / math.sqrt(2 * penalty)) / (count * penalty), 2.0)
    if penalty > 1:
        raise ParameterError("ridge-penalty-too-small", penalty=penalty)
    return 8 / (count * penalty * math.sqrt(penalty))


def _check(penalty: float) -> None:
    if not 0 < penalty < math.inf:
        raise ParameterError("penalty-not-positive", penalty=penalty)


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
