"""Gradients of the least-squares loss that one record can change only so much.

The gradient of record x is g = −x(x − Wᵀx)ᵀ; its diagonal is left out, as the weights have none.

Proven: each record's g is scaled down to the Euclidean norm C before the mean over n rows is
taken.  Replacing one record moves the mean by the difference of two vectors of norm at most C,
divided by n: at most 2C/n in L2, whatever the rows are.

Published (NOLEAKS, Ma et al. 2022): the entries of the *mean* gradient are cut to [−s, s], and the
change is called at most √(d(d − 1))·2s/n.  One record may change every entry of the mean by
up to 2s, so only √(d(d − 1))·2s holds for unbounded rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privcore.score_based.least_squares import least_squares

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# Rows worked on at a time: few enough to stay in a processor's cache.
_BLOCK = 1 << 13


class RowSource(Protocol):
    """Where the rows themselves can be had."""

    def rows(self) -> tuple[Matrix, Vector]:
        """Unique rows in [−1, 1] by public bounds, (u, d), and their multiplicities, (u,)."""
        ...


def scaled_blocks(
    rows: Matrix, multiplicities: Vector, widths: Vector | float, centre: Vector | float
) -> Iterator[tuple[Matrix, Vector]]:
    """(x − centre)·width of some rows at a time, so that no second copy of them is held, and their
    multiplicities."""
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        yield (rows[part] - centre) * widths, multiplicities[part]


def clipped_mean(
    rows: Matrix,
    multiplicities: Vector,
    weights: Matrix,
    clip: float,
    widths: Vector | float = 1.0,
    centre: Vector | float = 0.0,
) -> Matrix:
    """Mean over the rows of their clipped gradients, shape (d, d), zero diagonal.

    rows: unique rows, shape (u, d); multiplicities: how often each occurs, shape (u,).
    clip: C, in squared units of the scaled columns.
    widths, centre: each column becomes (x − centre)·width first, by numbers that are public or
        were released before.
    """
    total = np.zeros(weights.shape)
    for x, times in scaled_blocks(rows, multiplicities, widths, centre):
        residual = x - x @ weights
        # |g|² without the diagonal, without forming the (d, d) matrix of each record.
        squares, residuals = x * x, residual * residual
        norm = squares.sum(axis=1) * residuals.sum(axis=1) - (squares * residuals).sum(axis=1)
        norm = np.sqrt(np.maximum(norm, 0.0))
        share = np.minimum(1.0, clip / np.maximum(norm, 1e-300))
        total -= (x * (share * times)[:, None]).T @ residual
    np.fill_diagonal(total, 0.0)
    return np.asarray(total / multiplicities.sum())


def clipped_sensitivity(clip: float, n: int) -> float:
    """Largest L2 change of `clipped_mean` when one of n rows is replaced."""
    return 2 * clip / n


def published_gradient(moments: Matrix, weights: Matrix, clip: float) -> Matrix:
    """The mean gradient with its entries cut to [−s, s], shape (d, d), zero diagonal."""
    gradient = np.clip(least_squares(moments, weights)[1], -clip, clip)
    np.fill_diagonal(gradient, 0.0)
    return gradient


def published_sensitivity(nodes: int, clip: float, n: int) -> float:
    """√(d(d − 1))·2s/n, which does not bound the change of `published_gradient`."""
    return math.sqrt(nodes * (nodes - 1)) * 2 * clip / n


def release_gradient(gradient: Matrix, noisy: Vector) -> Matrix:
    """The matrix with its off-diagonal entries, row by row, replaced by `noisy`, (d(d − 1),)."""
    result = np.zeros(gradient.shape)
    result[off_diagonal(len(gradient))] = noisy
    return result


def off_diagonal(nodes: int) -> NDArray[np.bool_]:
    """Where a weight may be, shape (d, d)."""
    return ~np.eye(nodes, dtype=bool)
