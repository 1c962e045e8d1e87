"""Whitening and weighting of a statistic's parts, for compiled tests on noisy moments and tables.

The parts are the whitened covariances that `moment_search.statistic` describes.  Any whitening
gives the same statistic, so a triangular matrix is used.  Eigenvalues are computed only if one may
be below a floor.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numba import types

from privcore.arrays import Matrix, Vector
from privcore.kernels.jit import compiled

# Up to this number of parts, all covariances of the noise are used.
_MOST_TOGETHER = 150
# Up to this size loops are faster than LAPACK and BLAS.
_SMALL = 20
# A matrix of any layout, so that a function is compiled once for all of them.
_ANY = types.Array(types.float64, 2, "A", readonly=True)
_ROWS = types.Array(types.float64, 2, "C")


@compiled(types.boolean(_ROWS, types.float64, _ROWS))
def factor(matrix: Matrix, less: float, root: Matrix) -> bool:
    """Write the Cholesky factor of matrix − less·I into `root`.

    Returns False if matrix − less·I is not positive definite.
    """
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            left = matrix[i, j]
            for k in range(j):
                left -= root[i, k] * root[j, k]
            if i > j:
                root[i, j] = left / root[j, j]
            elif left > less:
                root[i, i] = sqrt(left - less)
            else:
                return False
    return True


@compiled(_ROWS(_ROWS))
def inverted(root: Matrix) -> Matrix:
    """The inverse of a lower triangular matrix."""
    size = root.shape[0]
    inverse = np.zeros((size, size))
    for j in range(size):
        inverse[j, j] = 1 / root[j, j]
        for i in range(j + 1, size):
            total = 0.0
            for k in range(j, i):
                total -= root[i, k] * inverse[k, j]
            inverse[i, j] = total / root[i, i]
    return inverse


@compiled(_ROWS(_ROWS, types.float64))
def whitening(covariance: Matrix, floor: float) -> Matrix:
    """A matrix T with T C Tᵀ = I, after eigenvalues of C below `floor` are raised to `floor`."""
    root = np.zeros(covariance.shape)
    if factor(covariance, floor, root):
        factor(covariance, 0.0, root)
        return inverted(root)
    values, vectors = np.linalg.eigh(covariance)
    for i in range(values.size):
        for j in range(values.size):
            root[i, j] = vectors[j, i] / sqrt(max(values[i], floor))
    return root


@compiled(_ROWS(_ROWS))
def inverse_of(matrix: Matrix) -> Matrix:
    """The inverse of a positive definite matrix."""
    if matrix.shape[0] > _SMALL:
        return np.asarray(np.linalg.inv(matrix).T)
    root = np.zeros(matrix.shape)
    factor(matrix, 0.0, root)
    return _crossed(inverted(root))


@compiled(_ROWS(_ROWS))
def _crossed(root: Matrix) -> Matrix:
    """The product rootᵀ root, for a lower triangular `root`."""
    size = root.shape[0]
    made = np.empty((size, size))
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, size):
                total += root[k, i] * root[k, j]
            made[i, j] = made[j, i] = total
    return made


@compiled(_ROWS(_ANY, _ANY))
def product(one: Matrix, other: Matrix) -> Matrix:
    """The matrix product one @ other.T."""
    if one.size * other.shape[0] > _SMALL**3:
        return np.ascontiguousarray(one) @ np.ascontiguousarray(other.T)
    made = np.empty((one.shape[0], other.shape[0]))
    for i in range(one.shape[0]):
        for j in range(other.shape[0]):
            total = 0.0
            for k in range(one.shape[1]):
                total += one[i, k] * other[j, k]
            made[i, j] = total
    return made


@compiled("UniTuple(float64, 3)(float64[::1], float64[:, ::1])")
def weighed(parts: Vector, covariance: Matrix) -> tuple[float, float, float]:
    """Value, first and second of a statistic with these parts; see `moment_search.statistic`.

    covariance: covariance matrix of the parts, including noise.
    """
    weight = inverse_of(covariance)
    value = first = second = 0.0
    for i in range(parts.size):
        total = 0.0
        for j in range(parts.size):
            total += weight[i, j] * parts[j]
            second += weight[i, j] * weight[i, j]
        value += total * total
        first += weight[i, i]
    return value, first, second


@compiled("UniTuple(float64, 3)(float64[:, ::1], float64[:, :, ::1], float64[:, :, ::1])")
def paired_statistic(parts: Matrix, ones: Any, others: Any) -> tuple[float, float, float]:
    """Value, first and second for a · b parts whose noise has the covariance Σ_k A_k ⊗ B_k.

    ones, others: all A_k and all B_k, shapes (k, a, a) and (k, b, b).  If there are many parts, no
    covariance matrix of all parts is formed: each part is weighted by its own noise, as if the
    noise on different parts were independent, but the mean and variance of the statistic use the
    actual noise.
    """
    a, b = parts.shape
    if a * b <= _MOST_TOGETHER:
        covariance = np.zeros((a * b, a * b))
        for i in range(a * b):
            covariance[i, i] = 1.0
        for k in range(len(ones)):
            for i in range(a):
                for other in range(a):
                    one = ones[k, i, other]
                    for j in range(b):
                        for m in range(b):
                            covariance[i * b + j, other * b + m] += one * others[k, j, m]
        return weighed(parts.copy().reshape(-1), covariance)
    # With C = 1 + N the covariance of the parts and W the weights: the trace of WCW and of its
    # square; off the diagonal only N contributes.
    square, both = np.empty((a, b)), np.empty((b, b))
    value = first = second = 0.0
    for i in range(a):
        for j in range(b):
            own = 1.0
            for k in range(len(ones)):
                own += ones[k, i, i] * others[k, j, j]
            square[i, j] = 1 / (own * own)
            value += square[i, j] * parts[i, j] * parts[i, j]
            first += square[i, j] * own
            second += square[i, j] * square[i, j] * (2 * own - 1)
    turned = np.empty((a, a))
    for k in range(len(ones)):
        for m in range(k + 1):
            for i in range(a):
                for j in range(a):
                    turned[i, j] = ones[k, i, j] * ones[m, i, j]
            for i in range(b):
                for j in range(b):
                    both[j, i] = others[k, i, j] * others[m, i, j]
            apart = product(product(turned, square.T), both)
            total = 0.0
            for i in range(a):
                for j in range(b):
                    total += square[i, j] * apart[i, j]
            second += (1 if m == k else 2) * total
    return value, first, second
