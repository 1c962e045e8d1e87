"""One noisy release of the second moments of rows of bounded norm, with a small budget for means.

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

from privcore.arrays import Matrix, Vector
from privcore.fixed_point import of_means
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.privacy.mechanisms.no_noise import width_of
from privcore.privacy.mechanisms.second_moments import upper_triangle
from privcore.rounding import up

# a, as a share of the largest norm R: the means then add a quarter to the sensitivity.
MEAN_SHARE = 0.5
# For rows that were centred before, so that their means are small.
CENTRED_SHARE = 0.3
# Variance of the noise on squares, as a multiple of that on products of two columns.
SQUARES = 2.0


class NoisyMoments(NamedTuple):
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
) -> NoisyMoments:
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
    return NoisyMoments(np.asarray((vectors * raised) @ vectors.T), scale)
