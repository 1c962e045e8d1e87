"""The least-squares loss of a linear structural equation model, from second moments alone.

With rows x and x ≈ Wᵀx + noise, the mean over the rows of ½|x − Wᵀx|² is
½ tr((I − W)ᵀ M (I − W)), where M is the mean of xxᵀ: the rows are not needed
(Zheng et al. 2018, Section 3.1).
"""

from __future__ import annotations

import numpy as np

from privcore.arrays import Matrix


def least_squares(moments: Matrix, weights: Matrix) -> tuple[float, Matrix]:
    """The loss, in squared units of the columns, and its gradient −M(I − W), shape (d, d).

    moments: M, symmetric positive semi-definite, shape (d, d).
    weights: W[i, j] is the weight of the edge i → j, shape (d, d).
    """
    residual = np.eye(len(weights)) - weights
    product = moments @ residual
    return 0.5 * float((residual * product).sum()), -product


def linearised(gradient: Matrix, at: Matrix, step: float, weights: Matrix) -> tuple[float, Matrix]:
    """Local model ⟨g, W − A⟩ + |W − A|²/(2 step) of a loss, and the gradient of this model.

    gradient: g, the gradient of the loss at A.
    """
    moved = weights - at
    value = float((gradient * moved).sum() + (moved * moved).sum() / (2 * step))
    return value, gradient + moved / step
