"""Noisy means and mean squares of columns in −1 … 1, released once for centring and scaling.

Replacing one record of p columns changes the p means and p mean squares together by at most 2√p/n
in L2 norm, which is also the bound for the means alone (docs/proofs/clipped_gradients.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from privcore.arrays import Matrix, Vector
from privcore.fixed_point import of_means, on_grid, step_of
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.gaussian import planned_sigma
from privcore.privacy.mechanisms.no_noise import width_of


class Columns(NamedTuple):
    """Noisy means in [−1, 1] and variances in (0, 1], shape (p,); `scale` is the σ of the noise."""

    means: Vector
    variances: Vector
    scale: float


def columns_sensitivity(columns: int, n: int) -> float:
    """Largest L2 change in the means and mean squares when one of n rows is replaced."""
    return of_means(2 * math.sqrt(columns) / n, n)


def release_columns(rows: Matrix, multiplicities: Vector, mu: float, noise: NoiseSource) -> Columns:
    """Release the means and variances of columns with Gaussian noise, under μ-Gaussian DP.

    rows: unique rows in [−1, 1], shape (u, p). multiplicities: number of times that each row
    occurs, shape (u,).
    """
    columns, n = rows.shape[1], int(multiplicities.sum())
    scale = planned_sigma(columns_sensitivity(columns, n), mu)
    rows = on_grid(rows, step_of(n))
    exact = np.concatenate((multiplicities @ rows, multiplicities @ (rows * rows))) / n
    noisy = noise.gaussian_array(exact, scale)
    means = np.clip(noisy[:columns], -1, 1)
    # Without a floor noise could make a column's variance 0, or less.
    floor = min(width_of(noise, scale), 1.0)
    variances = np.clip(noisy[columns:] - means * means, floor, 1)
    return Columns(means, variances, scale)
