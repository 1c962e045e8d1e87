"""First and second moments of bounded rows, released with Gaussian noise.

Sensitivities of the first and second moments of bounded rows.

Rows x lie in [−1, 1]^p after scaling by public bounds. If `centred`, the moments of (1, x) are
released: p means and the p(p+1)/2 mean products of the upper triangle, from which covariances are
computed afterwards. Otherwise only the products are released, and the means are taken as 0. A
sensitivity bounds the change when one of n rows is replaced, including the rounding error of the
means (docs/proofs/fixed_point.md). Proofs: docs/proofs/second_moments.md.

Noisy means and mean squares of columns in −1 … 1, released once for centring and scaling.

Replacing one record of p columns changes the p means and p mean squares together by at most 2√p/n
in L2 norm, which is also the bound for the means alone (docs/proofs/clipped_gradients.md).

One noisy release of the second moments of rows of bounded norm, with a small budget for means.

The release is the upper triangle of the mean of (a, x)(a, x)ᵀ over the rows, without the constant
a². If a is well below the norm of the rows, the means cost almost nothing. In return the means get
more noise, but covariances depend on the means only through products of two means.

Squares get √2 times as much noise as products. With squares divided by √2, the L2 change in the
released numbers is proportional to the change in the symmetric matrix, and the sensitivity is
R² + a². With equal noise on all numbers, the sensitivity would be √2 (R² + a²/2). Proof:
docs/proofs/weighted_moments.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix, Vector
from privcore.fixed_point import of_means, on_grid, step_of
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.privacy.mechanisms.no_noise import width_of
from privcore.rounding import up


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


class ColumnMoments(NamedTuple):
    """Noisy means in [−1, 1] and variances in (0, 1], shape (p,); `scale` is the σ of the noise."""

    means: Vector
    variances: Vector
    scale: float


def columns_sensitivity(columns: int, n: int) -> float:
    """Largest L2 change in the means and mean squares when one of n rows is replaced."""
    return of_means(2 * math.sqrt(columns) / n, n)


def release_columns(
    rows: Matrix, multiplicities: Vector, mu: float, noise: NoiseSource
) -> ColumnMoments:
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
    return ColumnMoments(means, variances, scale)


# a, as a share of the largest norm R: the means then add a quarter to the sensitivity.
MEAN_SHARE = 0.5
# For rows that were centred before, so that their means are small.
CENTRED_SHARE = 0.3
# Variance of the noise on squares, as a multiple of that on products of two columns.
SQUARES = 2.0


class MomentRelease(NamedTuple):
    """Noisy covariances of shape (p, p).

    sigma: the covariances; all eigenvalues are at least `scale`, the σ of the noise.
    """

    sigma: Matrix
    scale: float


def weighted_sensitivity(radius: float, n: int, share: float = MEAN_SHARE) -> float:
    """Largest L2 change in the released numbers when a row is replaced, with squares divided by √2.

    radius: R, the largest norm of a row. n: number of rows. share: a/R, at most 1.
    """
    a = share * radius
    return of_means((radius * radius + a * a) / n, n)


def with_noise(products: Matrix, sigma: float, noise: NoiseSource) -> Vector:
    """Noisy upper triangle of the mean of (a, x)(a, x)ᵀ, without a², as a vector.

    products: the exact mean, shape (p + 1, p + 1). sigma: σ of the noise on products of two columns
    and on means; the noise on squares is √2 times as large.
    """
    rows, columns = upper_triangle(len(products) - 1, centred=True)
    noisy, square = products[rows, columns], rows == columns
    noisy[~square] = noise.gaussian_array(noisy[~square], sigma)
    noisy[square] = noise.gaussian_array(noisy[square], up(math.sqrt(SQUARES) * sigma))
    return np.asarray(noisy)


def release_moments(
    moments: Matrix, n: int, radius: float, epsilon: float, delta: float, noise: NoiseSource
) -> MomentRelease:
    """Release covariances with Gaussian noise, under (ε, δ)-DP.

    moments: mean of (1, x)(1, x)ᵀ over n rows of norm at most `radius`, shape (p + 1, p + 1).
    """
    p = len(moments) - 1
    weight = np.ones(p + 1)
    weight[0] = MEAN_SHARE * radius
    scale = planned_sigma(weighted_sensitivity(radius, n), planned_mu(epsilon, delta))
    rows, columns = upper_triangle(p, centred=True)
    noisy = with_noise(moments * np.outer(weight, weight), scale, noise)
    products = np.empty((p + 1, p + 1))
    products[rows, columns] = noisy
    products[columns, rows] = noisy
    means = products[0, 1:] / weight[0]
    values, vectors = np.linalg.eigh(products[1:, 1:] - np.outer(means, means))
    # Without a floor, noise could make the loss unbounded below in some direction.
    scale = width_of(noise, scale)
    raised = np.maximum(values, scale)
    return MomentRelease(np.asarray((vectors * raised) @ vectors.T), scale)
