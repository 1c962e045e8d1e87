"""Compiled tests of independence on noisy moments, after linear regression.

Each test computes the covariances of the codes of x and y, whitens them by the sampling variance,
and weights each whitened covariance by its noise; see `noisy_parts`.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numba import float64, int64, types

from privcore.arrays import Integers, Matrix
from privcore.kernels.jit import compiled
from privcore.kernels.noisy_parts import factor, inverse_of, paired_statistic, product, whitening

# Smallest variance distinct from 0.
_TINY = 1e-9


@compiled("UniTuple(float64[:, ::1], 2)(float64[:, ::1], int64[::1], float64)")
def _regression(moments: Matrix, known: Integers, unsure: float) -> tuple[Matrix, Matrix]:
    """The inverse P of the moments M of the conditioning columns, and 2P − PMP.

    An eigenvalue below the noise has no information, and its inverse would be huge, so P raises
    such eigenvalues to a floor.
    """
    condition = np.empty((known.size, known.size))
    for i in range(known.size):
        for j in range(known.size):
            condition[i, j] = moments[known[i], known[j]]
    least = max(3 * unsure, _TINY)
    root = np.zeros(condition.shape)
    if factor(condition, least, root):
        inverse = inverse_of(condition)
        return inverse, inverse
    values, vectors = np.linalg.eigh(condition)
    scaled, twice = np.empty_like(vectors), np.empty_like(vectors)
    for i in range(values.size):
        for j in range(values.size):
            larger = max(values[j], least)
            scaled[i, j] = vectors[i, j] / larger
            twice[i, j] = vectors[i, j] * (2 / larger - values[j] / larger**2)
    return product(scaled, vectors), product(twice, vectors)


class Regressed(NamedTuple):
    """The codes of a column, regressed on the conditioning columns.

    products: moments of the codes with the conditioning columns. slopes: regression coefficients.
    projection: maps another column's `products` to the moments that the conditioning columns
    explain. residuals: covariance of the residuals. residual_share:
    residual share of the variance.
    """

    products: Matrix
    slopes: Matrix
    projection: Matrix
    residuals: Matrix
    residual_share: float


_MATRIX = float64[:, ::1]
_REGRESSED = types.NamedTuple((_MATRIX, _MATRIX, _MATRIX, _MATRIX, float64), Regressed)


@compiled(_REGRESSED(_MATRIX, int64, int64, int64[::1], _MATRIX, _MATRIX))
def _regressed(
    moments: Matrix, first: int, last: int, known: Integers, inverse: Matrix, twice: Matrix
) -> Regressed:
    """Regress the codes of a column on the conditioning columns.

    first, last: positions of the codes in `moments`. known: positions of the conditioning columns.
    inverse, twice: see `_regression`.
    """
    size = last - first
    products, residuals = np.empty((size, known.size)), np.empty((size, size))
    for i in range(size):
        for j in range(known.size):
            products[i, j] = moments[first + i, known[j]]
    projection = product(products, twice)
    explained = product(projection, products)
    variance = residual_variance = 0.0
    for i in range(size):
        for j in range(size):
            symmetric = (explained[i, j] + explained[j, i]) / 2
            residuals[i, j] = moments[first + i, first + j] - symmetric
        variance += moments[first + i, first + i] - moments[0, first + i] ** 2
        residual_variance += residuals[i, i]
    residual_share = max(residual_variance, 0.0) / max(variance, _TINY)
    return Regressed(products, product(products, inverse), projection, residuals, residual_share)


@compiled("float64[:, :, ::1](float64[:, ::1], float64[:, ::1], int64[::1])")
def _entering(whiten: Matrix, slopes: Matrix, ends: Integers) -> Matrix:
    """EEᵀ for the column itself, for the constant 1 and for each conditioning column.

    E is the matrix that multiplies the noise on the codes of the column in question.
    """
    entering = np.empty((ends.size, *whiten.shape))
    turned = product(whiten, slopes.T)
    for k in range(ends.size):
        part = turned[:, ends[k - 1] : ends[k]] if k else whiten[:, :]
        own = product(part, part)
        for i in range(own.shape[0]):
            for j in range(own.shape[0]):
                entering[k, i, j] = own[i, j]
    return entering


@compiled(
    "float64[:, ::1](float64[:, ::1], int64[::1], float64[:, ::1], float64, int64[::1], int64,"
    "int64[::1])"
)
def linear_tests(
    moments: Matrix,
    starts: Integers,
    variances: Matrix,
    n: float,
    xs: Integers,
    y: int,
    condition: Integers,
) -> Matrix:
    """Linear tests of column y with each column in `xs`, given the columns in `condition`.

    Returns value, first, second and residual_share of `moment_search.statistic`, shape (tests, 4).
    moments: second moments of 1 and the codes of all columns.  starts: position of the first code
    of each column, and the end of the last column.  variances: noise variance of the moments for
    each pair of columns, where index 0 stands for the constant 1.
    """
    size, unsure = condition.size, 0.0
    groups, ends = np.zeros(1 + size, np.int64), np.zeros(2 + size, np.int64)
    ends[1] = 1
    for k in range(size):
        groups[k + 1] = condition[k] + 1
        ends[k + 2] = ends[k + 1] + starts[condition[k] + 1] - starts[condition[k]]
        unsure = max(unsure, sqrt(variances[0, condition[k] + 1]) / n)
    known = np.zeros(ends[-1], np.int64)
    for k in range(size):
        for place in range(ends[k + 1], ends[k + 2]):
            known[place] = starts[condition[k]] + place - ends[k + 1]
    inverse, twice = _regression(moments, known, unsure)
    first_y, last_y = starts[y], starts[y + 1]
    of_y = _regressed(moments, first_y, last_y, known, inverse, twice)
    made, noise = np.zeros((xs.size, 4)), np.empty((2 + size, 2 + size))
    for test in range(xs.size):
        x = xs[test]
        passed = x == y
        for k in range(size):
            passed = passed or x == condition[k]
        if passed:
            continue
        floor = max(sqrt(variances[x + 1, y + 1]) / n, _TINY)
        first, last = starts[x], starts[x + 1]
        of_x = _regressed(moments, first, last, known, inverse, twice)
        whiten_x, whiten_y = whitening(of_x.residuals, floor), whitening(of_y.residuals, floor)
        # To first order, the noise N enters the covariance as (1, −B_x) N (1, −B_y)ᵀ.
        noise[0, 0] = variances[x + 1, y + 1]
        for k in range(groups.size):
            noise[0, k + 1] = variances[x + 1, groups[k]]
            noise[k + 1, 0] = variances[groups[k], y + 1]
            for m in range(groups.size):
                noise[k + 1, m + 1] = variances[groups[k], groups[m]]
        by_x = _entering(whiten_x, of_x.slopes, ends)
        by_y = _entering(whiten_y, of_y.slopes, ends)
        weighted = np.zeros(by_y.shape)
        for k in range(len(noise)):
            for m in range(len(noise)):
                for i in range(last_y - first_y):
                    for j in range(last_y - first_y):
                        weighted[k, i, j] += noise[k, m] / n * by_y[m, i, j]
        covariance = product(of_x.projection, of_y.products)
        for i in range(last - first):
            for j in range(last_y - first_y):
                covariance[i, j] = sqrt(n) * (moments[first + i, first_y + j] - covariance[i, j])
        # T_x C T_yᵀ
        parts = product(whiten_x, product(whiten_y, covariance))
        made[test, 0], made[test, 1], made[test, 2] = paired_statistic(parts, by_x, weighted)
        made[test, 3] = of_x.residual_share * of_y.residual_share
    return made
