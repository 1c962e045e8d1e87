"""Quantiles selected privately from a public grid, by the number of values that must change.

Neighbouring data sets differ in one of m values. Proofs: docs/proofs/dp_quantile.md for quantiles,
and docs/proofs/bought_domain.md for cut points.
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
    """Select a grid value near the value with rank ⌈q·m⌉ among the m values, under ε-DP.

    With probability 1 − β, the rank of the result is off by at most (2/ε) ln(g/β), for g grid
    values. Raises ParameterError unless 0 < q ≤ 1, 0 < ε < ∞ and the grid increases.
    """
    return chosen_quantile(quantile_utilities(values, q, grid), grid, epsilon, noise)


def chosen_quantile(utilities: Vector, grid: Vector, epsilon: float, noise: NoiseSource) -> float:
    """`private_quantile` from precomputed `quantile_utilities`, for many runs on the same data.

    Raises ParameterError unless 0 < ε < ∞.
    """
    if not 0 < epsilon < math.inf:
        raise ParameterError(f"The ε of a quantile is {epsilon}; it must be a number above 0.")
    return float(grid[select(utilities, epsilon, noise, "permute-and-flip")])


def quantile_utilities(values: Vector, q: float, grid: Vector) -> Vector:
    """Utility of each grid value as the quantile, shape (g,).

    The utility is minus the smallest number of values that must be replaced to make the grid value
    the quantile. One replaced value changes each utility by at most 1. Each value is first moved to
    the nearest grid value, since many equal values between two grid values would otherwise leave
    both with a low utility. values: shape (m,), m ≥ 1. grid: shape (g,), increasing. Raises
    ParameterError unless 0 < q ≤ 1 and the grid increases.
    """
    if not 0 < q <= 1:
        raise ParameterError(f"The quantile is {q}; it must be above 0 and at most 1.")
    if grid.size == 0 or not (np.diff(grid) > 0).all():
        raise ParameterError("The grid for a quantile must contain numbers in increasing order.")
    rank = max(math.ceil(q * values.size), 1)
    cells = np.searchsorted((grid[:-1] + grid[1:]) / 2, values)
    counts = np.bincount(cells, minlength=grid.size)
    at_most = np.cumsum(counts)
    below = at_most - counts
    missing = np.maximum(rank - at_most, below - (rank - 1))
    return np.asarray(-np.maximum(missing, 0), dtype=np.float64)


def cut_utilities(values: Vector, part: int, parts: int, grid: Vector) -> Vector:
    """Utility of each grid value as a cut with part/parts of `values` below it, shape (g,).

    The utility is −|parts · (number of values below) − part · m|, an integer with sensitivity
    `parts`. This sensitivity holds even if values may be missing, so that a replaced record can
    change m. Equal values are never on both sides of a cut, whereas a quantile can be one of many
    equal values. values: shape (m,), m ≥ 0. grid: shape (g,), increasing.
    """
    below = np.searchsorted(np.sort(values), grid, side="left").astype(np.int64)
    return -np.abs(parts * below - part * values.size).astype(np.float64)
