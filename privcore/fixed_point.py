"""Rows in fixed point, so that sums over them are exact: in any order, and by any kernel.

Every number of a row is rounded to a multiple of a power of two that is fixed by the public number
of rows.  Products of two such numbers then add up to less than 2⁵⁰ of their own units, which
floating point holds without rounding.  Each row is rounded by operations on its own numbers alone,
one after the other, so that what becomes of it does not depend on where it stands.
Proof: docs/proofs/fixed_point.md.
"""

from __future__ import annotations

import math

import numpy as np

from privcore.arrays import Matrix, Vector

_BITS = 50
# More than what the few operations on a row are rounded by.
_HAIR = 2.0**-40


def step_of(n: int, factors: int = 2) -> float:
    """The grid's step for sums over n rows of products of so many numbers up to 1."""
    return float(2.0 ** -max((_BITS - max(n - 1, 0).bit_length()) // factors, 1))


def on_grid(values: Matrix, step: float) -> Matrix:
    """Each number's nearest multiple of the step."""
    return np.asarray(np.rint(values / step) * step)


def lengths(rows: Matrix) -> Vector:
    """Euclidean norms, shape (rows,)."""
    return np.asarray(np.sqrt(sum_of_columns(rows * rows)))


def sum_of_columns(rows: Matrix) -> Vector:
    """Sums of each row, shape (rows,), added from the first column to the last."""
    total = np.zeros(len(rows))
    for column in range(rows.shape[1]):
        total += rows[:, column]
    return total


def within(rows: Matrix, radius: float, step: float) -> Matrix:
    """Rows on the grid whose norm is at most `radius`, longer ones shortened; none left [−1, 1].

    Rounding lengthens a row by half a step in every column at most.
    """
    room = radius * (1 - _HAIR) - step / 2 * math.sqrt(rows.shape[1])
    shrink = np.minimum(1.0, max(room, 0.0) / np.maximum(lengths(rows), 1e-300))
    return on_grid(rows * shrink[:, None], step)


def moment_sums(rows: Matrix, multiplicities: Vector | None = None) -> Matrix:
    """Σ (1, x)(1, x)ᵀ over rows on the grid, each so many times, shape (p + 1, p + 1); exact."""
    full = np.column_stack((np.ones(len(rows)), rows))
    left = full if multiplicities is None else full * multiplicities[:, None]
    return np.asarray(left.T @ full)


def of_means(sensitivity: float, n: int) -> float:
    """A sensitivity of means over n rows, with what the means are rounded by.

    Their sums are exact; each is divided and weighted with at most three roundings.
    """
    return sensitivity * (1 + n * 2.0**-50)
