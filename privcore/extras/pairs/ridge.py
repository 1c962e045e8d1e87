"""Kernel ridge regression in explicit features, and its sensitivity to one record.

Equation (5) of Kusner et al. 2016: w minimises (λ/2)|w|² + (1/n) Σ (w·φ(x_i) − y_i)², with the
features φ of a Gaussian kernel of public width (`features`). The dense solution is K(·, x)(K +
(nλ/2)I)⁻¹y. The solution here takes time n·D² and agrees with the dense solution up to rounding.
Proof of the sensitivity: docs/proofs/kernel_ridge.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from privcore.arrays import Matrix, Vector
from privcore.errors import ParameterError
from privcore.extras.pairs.features import gaussian_features

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
