"""Gradients of the least-squares loss with bounded sensitivity to one record.

The gradient for record x is g = −x(x − Wᵀx)ᵀ. The diagonal of g is left out, since no column has a
weight on itself.

Proven: each record's g is clipped to the Euclidean norm C before the mean over n rows is taken.
Replacing one record moves the mean by the difference of two vectors of norm at most C, divided by
n. This is at most 2C/n in L2, for any rows.

Published (NOLEAKS, Ma et al. 2022): the entries of the *mean* gradient are clipped to [−s, s], and
the change is claimed to be at most √(d(d − 1))·2s/n.  One record may change every entry of the mean
by up to 2s, so only √(d(d − 1))·2s holds for unbounded rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.gradients.least_squares import least_squares
from privcore.arrays import Matrix, Vector
from privcore.fixed_point import of_means, on_grid, step_of, sum_of_columns

# Rows per block: few enough for a processor's cache.
_BLOCK = 1 << 13
# Bits kept of a row's values: far more than the noise leaves.
_ROW_BITS = 24
# Rounding error of the difference of squared norms, relative to |x| times |residual|, for up to
# 1,000 columns.
_CANCELLED = 2.0**-20
# More than the rounding error of the few other operations on a row.
_HAIR = 2.0**-40


def scaled_blocks(
    rows: Matrix, multiplicities: Vector, widths: Vector | float, centre: Vector | float
) -> Iterator[tuple[Matrix, Vector]]:
    """Yield blocks of scaled rows (x − centre)·width, with the multiplicities of the rows.

    Blocks avoid a second copy of all rows in memory. Values are rounded to 24 bits of the largest
    possible value for |x| ≤ 1.
    """
    most = float(np.max(np.abs(widths) * (1 + np.abs(centre))))
    step = math.ldexp(1.0, max(math.frexp(most)[1] - _ROW_BITS, -1000))
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        yield on_grid((rows[part] - centre) * widths, step), multiplicities[part]


def clipped_mean(
    rows: Matrix,
    multiplicities: Vector,
    weights: Matrix,
    clip: float,
    widths: Vector | float = 1.0,
    centre: Vector | float = 0.0,
) -> Matrix:
    """Mean over the rows of the clipped gradients, shape (d, d), zero diagonal.

    rows: unique rows, shape (u, d); multiplicities: how often each row occurs, shape (u,).
    clip: C, in squared units of the scaled columns.
    widths, centre: public or previously released numbers, by which each column is first converted
        to (x − centre)·width.
    """
    total, n = np.zeros(weights.shape), int(multiplicities.sum())
    step = step_of(n)
    # The norm of half a step in every column.
    half = step / 2 * math.sqrt(len(weights))
    for x, times in scaled_blocks(rows, multiplicities, widths, centre):
        residual = residuals_of(x, weights)
        # |g|² without the diagonal, without forming the (d, d) matrix of each record.
        squares, residuals = x * x, residual * residual
        whole = sum_of_columns(squares) * sum_of_columns(residuals)
        norm = np.sqrt(np.maximum(whole - sum_of_columns(squares * residuals), 0.0))
        # Includes the rounding error of both factors; docs/proofs/fixed_point.md.
        bound = norm + np.sqrt(whole) * (half + _CANCELLED)
        most = clip * (1 - half * (1 + half) - _HAIR)
        share = np.minimum(1.0, most / np.maximum(bound, 1e-300))
        length = np.sqrt(sum_of_columns(residuals))
        left = on_grid(x * (length * share / clip)[:, None], step)
        right = on_grid(residual / np.maximum(length, 1e-300)[:, None], step)
        total -= (left * times[:, None]).T @ right
    np.fill_diagonal(total, 0.0)
    return np.asarray(clip * total / n)


def residuals_of(x: Matrix, weights: Matrix) -> Matrix:
    """Residuals x − Wᵀx of the rows, computed exactly after rounding W to about 20 bits.

    Because the computation is exact, the residual of a row does not depend on the position of the
    row or on the BLAS kernel. x: rows from `scaled_blocks`.
    """
    largest = math.frexp(float(np.abs(weights).max(initial=0.0)))[1]
    bits = 52 - _ROW_BITS - 1 - len(weights).bit_length()
    return np.asarray(x - x @ on_grid(weights, math.ldexp(1.0, max(largest - bits, -1000))))


def clipped_sensitivity(clip: float, n: int) -> float:
    """Largest L2 change of `clipped_mean` when one of n rows is replaced."""
    return of_means(2 * clip / n, n)


def published_gradient(moments: Matrix, weights: Matrix, clip: float) -> Matrix:
    """The mean gradient with its entries clipped to [−s, s], shape (d, d), zero diagonal."""
    gradient = np.clip(least_squares(moments, weights)[1], -clip, clip)
    np.fill_diagonal(gradient, 0.0)
    return gradient


def published_sensitivity(nodes: int, clip: float, n: int) -> float:
    """The sensitivity √(d(d − 1))·2s/n that the authors claim for `published_gradient`.

    The claim does not hold for unbounded rows.
    """
    return math.sqrt(nodes * (nodes - 1)) * 2 * clip / n


def release_gradient(gradient: Matrix, noisy: Vector) -> Matrix:
    """A matrix with the off-diagonal entries `noisy`, given row by row, and a zero diagonal."""
    result = np.zeros(gradient.shape)
    result[off_diagonal(len(gradient))] = noisy
    return result


def off_diagonal(nodes: int) -> NDArray[np.bool_]:
    """Mask of the off-diagonal entries of a weight matrix, shape (d, d)."""
    return ~np.eye(nodes, dtype=bool)
