"""How far weights are from a directed acyclic graph (Zheng et al. 2018, Theorem 1).

h(W) = tr(exp(W∘W)) − d, which is 0 if and only if no closed walk has a weight other than 0.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import expm

from privcore.arrays import Matrix
from privcore.errors import DataError

# No exponential of weights within `safe_weight` exceeds e to this power; squared, it is finite too.
_EXPONENT = 300.0


class WeightsTooLarge(DataError):
    """The weights are so large that the constraint overflows."""


def safe_weight(nodes: int) -> float:
    """No weights of at most this size make h(W), or its square, overflow."""
    return math.sqrt(_EXPONENT / nodes)


def acyclicity(weights: Matrix) -> tuple[float, Matrix]:
    """h(W) and its gradient exp(W∘W)ᵀ∘2W, shape (d, d); both without units.

    Raises WeightsTooLarge if the exponential overflows, as for weights above about 20 on a cycle.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        exponential = expm(weights * weights)
        gradient = np.asarray(exponential.T * 2 * weights)
    value = float(np.trace(exponential)) - len(weights)
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        raise WeightsTooLarge(
            "The weights grew so large that the acyclicity constraint overflows; bring the columns "
            "to similar scales, or raise the sparsity penalty."
        )
    # Rounding may take a sum of non-negative terms below 0.
    return max(value, 0.0), gradient
