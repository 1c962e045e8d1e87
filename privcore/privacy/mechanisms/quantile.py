"""Quantiles on a public grid, selected privately by the number of records that must change.

Neighbouring data sets differ in one of m values. Proofs: docs/proofs/dp_quantile.md, and for cut
points docs/proofs/bought_domain.md.
"""

from __future__ import annotations

import math

import numpy as np

from privcore.arrays import Vector
from privcore.errors import ParameterError
from privcore.privacy.mechanisms.noise import NoiseSource
from privcore.privacy.mechanisms.selection import select


def private_quantile(
    values: Vector, q: float, grid: Vector, epsilon: float, noise: NoiseSource
) -> float:
    """A grid value near the value with rank ⌈q·m⌉ of m, under ε-DP.

    With probability 1 − β its rank is wrong by at most (2/ε) ln(g/β), for g grid values. Raises
    ParameterError unless 0 < q ≤ 1, 0 < ε < ∞ and the grid increases.
    """
    return chosen_quantile(quantile_utilities(values, q, grid), grid, epsilon, noise)


def chosen_quantile(utilities: Vector, grid: Vector, epsilon: float, noise: NoiseSource) -> float:
    """`private_quantile` from given `quantile_utilities`, for many runs on the same data.

    Raises ParameterError unless 0 < ε < ∞.
    """
    if not 0 < epsilon < math.inf:
        raise ParameterError(f"The ε of a quantile is {epsilon}; it must be a number above 0.")
    return float(grid[select(utilities, epsilon, noise, "permute-and-flip")])


def quantile_utilities(values: Vector, q: float, grid: Vector) -> Vector:
    """Per grid value, minus the least number of values to replace to make it the quantile.

    values: shape (m,), m ≥ 1; each is first moved to the nearest grid value, so that many equal
    values between two grid values still count for one of them. grid: shape (g,), increasing. Shape
    (g,); one replaced value changes each utility by at most 1. Raises like `private_quantile`.
    """
    if not 0 < q <= 1:
        raise ParameterError(f"The quantile is {q}; it must be above 0 and at most 1.")
    if grid.size == 0 or not (np.diff(grid) > 0).all():
        raise ParameterError("The grid for a quantile must be numbers in increasing order.")
    rank = max(math.ceil(q * values.size), 1)
    cells = np.searchsorted((grid[:-1] + grid[1:]) / 2, values)
    counts = np.bincount(cells, minlength=grid.size)
    at_most = np.cumsum(counts)
    below = at_most - counts
    missing = np.maximum(rank - at_most, below - (rank - 1))
    return np.asarray(-np.maximum(missing, 0), dtype=np.float64)


def cut_utilities(values: Vector, part: int, parts: int, grid: Vector) -> Vector:
    """Utility of each grid value as a cut with part/parts of `values` below it.

    The utility is minus |parts · (number of values below) − part · m|, a whole number of
    sensitivity `parts`, even if a replaced record may have no value, so that m changes. Unlike a
    quantile, the best cut separates equal values from others if their share allows it. values:
    shape (m,), m ≥ 0. grid: shape (g,), increasing. The result has shape (g,).
    """
    below = np.searchsorted(np.sort(values), grid, side="left").astype(np.int64)
    return -np.abs(parts * below - part * values.size).astype(np.float64)
