"""One noisy release of the second moments of rows of bounded norm, with little spent on means.

Released: the mean over the rows of the products of (a, x) with itself, upper triangle without the
constant a².  With a well below the rows' norm the means cost almost nothing; they get more
noise for it, but covariances depend on them only through products of two means.
Sensitivity and proof: docs/proofs/weighted_moments.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from privcore.arrays import Matrix
from privcore.fixed_point import of_means
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.privacy.mechanisms.second_moments import upper_triangle

# a, as a share of the largest norm R: the means then add an eighth to the sensitivity.
MEAN_SHARE = 0.5


class NoisyMoments(NamedTuple):
    """sigma: noisy covariances, shape (p, p), its eigenvalues at least `scale`, the noise's σ."""

    sigma: Matrix
    scale: float


def weighted_sensitivity(radius: float, n: int) -> float:
    """Largest L2 change of the released numbers when one of n rows of norm ≤ R is replaced."""
    a = MEAN_SHARE * radius
    return of_means(math.sqrt(2) * (radius * radius + a * a / 2) / n, n)


def release_moments(
    moments: Matrix, n: int, radius: float, epsilon: float, delta: float, noise: NoiseSource
) -> NoisyMoments:
    """Covariances with Gaussian noise, (ε, δ)-DP.

    moments: mean of (1, x)(1, x)ᵀ over n rows of norm at most `radius`, shape (p + 1, p + 1).
    """
    p = len(moments) - 1
    weight = np.ones(p + 1)
    weight[0] = MEAN_SHARE * radius
    scale = planned_sigma(weighted_sensitivity(radius, n), planned_mu(epsilon, delta))
    rows, columns = upper_triangle(p, centred=True)
    noisy = noise.gaussian_array((moments * np.outer(weight, weight))[rows, columns], scale)
    products = np.empty((p + 1, p + 1))
    products[rows, columns] = noisy
    products[columns, rows] = noisy
    means = products[0, 1:] / weight[0]
    values, vectors = np.linalg.eigh(products[1:, 1:] - np.outer(means, means))
    # Without a floor noise could make the loss fall without end along some direction.
    raised = np.maximum(values, scale)
    return NoisyMoments(np.asarray((vectors * raised) @ vectors.T), scale)
