"""Rounds rows to fixed point: sums over rows are then exact in any order and with any BLAS kernel.

Every number in a row is rounded to a multiple of a step.  The step is a power of two that depends
only on the public number of rows.  Sums of products of two such numbers are then at most 2⁵⁰
squared steps, so floating point represents the sums exactly.  Each row is rounded by a fixed
sequence of operations on the row's own numbers, so the result does not depend on the row's
position.
Proof: docs/proofs/fixed_point.md.
"""

from __future__ import annotations

import math

import numpy as np

from privcore.arrays import Matrix, Vector

_BITS = 50
# An upper bound on the relative rounding error of the few operations on a row.
_HAIR = 2.0**-40


def step_of(n: int, factors: int = 2) -> float:
    """Grid step for exact sums over n rows of products of `factors` numbers in [−1, 1]."""
    return float(2.0 ** -max((_BITS - max(n - 1, 0).bit_length()) // factors, 1))


def on_grid(values: Matrix, step: float) -> Matrix:
    """Each number, rounded to the nearest multiple of the step."""
    return np.asarray(np.rint(values / step) * step)


def lengths(rows: Matrix) -> Vector:
    """Euclidean norm of each row, shape (rows,)."""
    return np.asarray(np.sqrt(sum_of_columns(rows * rows)))


def sum_of_columns(rows: Matrix) -> Vector:
    """Sum of each row, shape (rows,), added from the first column to the last."""
    total = np.zeros(len(rows))
    for column in range(rows.shape[1]):
        total += rows[:, column]
    return total


def within(rows: Matrix, radius: float, step: float) -> Matrix:
    """Rows shortened to norm at most `radius` and rounded to the grid; entries stay in [−1, 1].

    Rows are first shortened to a norm slightly below `radius`, since rounding moves each entry by
    up to half a step.
    """
    room = radius * (1 - _HAIR) - step / 2 * math.sqrt(rows.shape[1])
    shrink = np.minimum(1.0, max(room, 0.0) / np.maximum(lengths(rows), 1e-300))
    return on_grid(rows * shrink[:, None], step)


def moment_sums(rows: Matrix, multiplicities: Vector | None = None) -> Matrix:
    """Exact sum of (1, x)(1, x)ᵀ over rows x, shape (p + 1, p + 1).

    rows: rows on the grid.  multiplicities: how often each row counts; by default, once.
    """
    full = np.column_stack((np.ones(len(rows)), rows))
    left = full if multiplicities is None else full * multiplicities[:, None]
    return np.asarray(left.T @ full)


def of_means(sensitivity: float, n: int) -> float:
    """The sensitivity of means over n rows, increased by the rounding error of the means.

    The sums are exact; dividing and weighting them adds at most three rounding errors.
    """
    return sensitivity * (1 + n * 2.0**-50)
