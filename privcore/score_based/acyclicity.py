"""How far weights are from a directed acyclic graph (Zheng et al. 2018, Theorem 1).

h(W) = tr(exp(W∘W)) − d, which is 0 if and only if no closed walk has a weight other than 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

from privcore.errors import DataError

Matrix = NDArray[np.float64]


def acyclicity(weights: Matrix) -> tuple[float, Matrix]:
    """h(W) and its gradient exp(W∘W)ᵀ∘2W, shape (d, d); both without units.

    Raises DataError if the exponential overflows, which weights above about 20 on a cycle do.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        exponential = expm(weights * weights)
        gradient = np.asarray(exponential.T * 2 * weights)
    value = float(np.trace(exponential)) - len(weights)
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        raise DataError(
            "The weights grew so large that the acyclicity constraint overflows; bring the columns "
            "to similar scales, or raise the sparsity penalty."
        )
    # Rounding may take a sum of non-negative terms below 0.
    return max(value, 0.0), gradient
