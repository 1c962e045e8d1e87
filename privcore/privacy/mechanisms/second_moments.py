"""Sensitivities of the first and second moments of bounded rows.

Rows x lie in [−1, 1]^p after scaling by public bounds. If `centred`, the moments of (1, x) are
released: p means and the p(p+1)/2 mean products of the upper triangle, from which covariances are
computed afterwards. Otherwise only the products are released, and the means are taken as 0. A
sensitivity bounds the change when one of n rows is replaced, including the rounding error of the
means (docs/proofs/fixed_point.md). Proofs: docs/proofs/second_moments.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.fixed_point import of_means


def l1_sensitivity(p: int, n: int, *, centred: bool) -> float:
    """L1 sensitivity of the released numbers; the bound is tight for every p unless `centred`."""
    products = p * (p + 1) / 2
    return of_means((products + p + p / (2 * (p + 1)) if centred else products) / n, n)


def l2_sensitivity(p: int, n: int, *, centred: bool, radius: float | None = None) -> float:
    """L2 sensitivity of the released numbers; radius: a bound on the norm of rows, or None."""
    box = (p + 1) / n if centred else p / n
    if radius is None:
        return of_means(box, n)
    square = radius * radius
    if not centred:
        row = math.sqrt(2) * square
    elif square >= 0.5:
        row = math.sqrt(2 * square * square + 2 * square + 0.5)
    else:
        row = 2 * radius
    return of_means(min(box, row / n), n)


def upper_triangle(p: int, *, centred: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row and column positions of the released numbers in the (p+1, p+1) moments of (1, x)."""
    rows, columns = np.triu_indices(p + 1)
    kept = columns > 0 if centred else rows > 0
    return rows[kept], columns[kept]


def positive(matrix: Matrix, floor: float) -> Matrix:
    """The matrix, with eigenvalues below the larger of `floor` and 10⁻¹² raised to this number."""
    values, vectors = np.linalg.eigh(matrix)
    raised = np.maximum(values, max(floor, 1e-12))
    return np.asarray((vectors * raised) @ vectors.T)
