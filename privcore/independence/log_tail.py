"""Logarithms of p-values too small for floating point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaln

from privcore.arrays import Vector

SMALLEST = 1e-290
_TERMS = 500


def log_chi2_tail(degrees: NDArray[np.int64], values: Vector) -> Vector:
    """log P(X > value) for chi-squared variables, shape (k,); 0 for 0 degrees of freedom.

    A probability that underflows is computed by Legendre's continued fraction for the incomplete
    gamma function (DLMF 8.9.2), evaluated by Lentz's method.
    """
    tails = np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), values), 1.0)
    logs: Vector = np.log(np.maximum(tails, SMALLEST))
    small = tails < SMALLEST
    if small.any():
        logs[small] = _continued(degrees[small] / 2, values[small] / 2)
    return logs


def _continued(a: Vector, x: Vector) -> Vector:
    b = x + 1 - a
    d = 1 / b
    c = np.full_like(x, np.inf)
    fraction = d.copy()
    for k in range(1, _TERMS):
        term = -k * (k - a)
        b = b + 2
        d = 1 / (term * d + b)
        c = b + term / c
        factor = c * d
        fraction *= factor
        if (np.abs(factor - 1) < 1e-14).all():
            break
    logs: Vector = a * np.log(x) - x - gammaln(a) + np.log(fraction)
    return logs
