"""Rows in fixed point, so that sums over them are exact: in any order, and by any kernel.

Every number of a row is rounded to a multiple of a power of two that is fixed by the public number
of rows.  Sums of products of two such numbers then stay below 2⁵⁰ of their units, which floating
point represents exactly.  Each row is rounded by operations on its own numbers alone, in sequence,
so the result does not depend on the row's position.
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
    """The grid's step for sums over n rows of products of this many numbers up to 1."""
    return float(2.0 ** -max((_BITS - max(n - 1, 0).bit_length()) // factors, 1))


def on_grid(values: Matrix, step: float) -> Matrix:
    """The nearest multiple of the step to each number."""
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
    """Rows rounded to the grid and shortened to norm at most `radius`; entries stay in [−1, 1].

    Rounding adds at most half a step per column to the length of a row.
    """
    room = radius * (1 - _HAIR) - step / 2 * math.sqrt(rows.shape[1])
    shrink = np.minimum(1.0, max(room, 0.0) / np.maximum(lengths(rows), 1e-300))
    return on_grid(rows * shrink[:, None], step)


def moment_sums(rows: Matrix, multiplicities: Vector | None = None) -> Matrix:
    """Σ (1, x)(1, x)ᵀ over rows on the grid with multiplicities, shape (p + 1, p + 1); exact."""
    full = np.column_stack((np.ones(len(rows)), rows))
    left = full if multiplicities is None else full * multiplicities[:, None]
    return np.asarray(left.T @ full)


def of_means(sensitivity: float, n: int) -> float:
    """A sensitivity of means over n rows, increased by the rounding error of the means.

    The sums are exact; dividing and weighting take at most three roundings.
    """
    return sensitivity * (1 + n * 2.0**-50)
