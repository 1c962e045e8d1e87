"""Fisher's z of partial correlations, from second moments (Kalisch & Bühlmann 2007)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privcore.arrays import Matrix, Vector
from privcore.counts import MomentSource
from privcore.independence.score import Score

# Residual variances below this share of the variance count as 0: the conditioning set determines
# the column, and the residual is rounding error.
_DETERMINED = 1e-10


def covariance(moments: Matrix) -> Matrix:
    """Covariances, shape (p, p), from the moments of (1, x), shape (p + 1, p + 1)."""
    means = moments[0, 1:]
    return np.asarray(moments[1:, 1:] - np.outer(means, means))


def partial_correlation(sigma: Matrix, x: int, y: int, conditioning_set: Sequence[int]) -> float:
    """Partial correlation of x and y given the conditioning set, in [−1, 1].

    The result is 0 if the conditioning set determines x or y. sigma: a symmetric positive
    semi-definite matrix.
    """
    pair = np.array([x, y])
    block = sigma[pair[:, None], pair]
    if conditioning_set:
        rest = np.array(conditioning_set)
        across = sigma[pair[:, None], rest]
        # Least squares, so that collinear columns in the conditioning set do no harm.
        solved = np.linalg.lstsq(sigma[rest[:, None], rest], across.T, rcond=_DETERMINED)[0]
        block = block - across @ solved
    if block[0, 0] <= _DETERMINED * sigma[x, x] or block[1, 1] <= _DETERMINED * sigma[y, y]:
        return 0.0
    r = float(block[0, 1]) / math.sqrt(float(block[0, 0] * block[1, 1]))
    return min(max(r, -1.0), 1.0)


def residual(
    sigma: Matrix, means: Vector, mean_share: float, column: int, others: Sequence[int]
) -> Vector:
    """Weights w, shape (p + 1,), for which w · (mean_share, x) is a column's regression residual.

    The regression is on the columns `others`. Raises LinAlgError if one of these columns is a
    linear combination of the rest.
    """
    weights = np.zeros(len(means) + 1)
    weights[1 + column] = 1.0
    if len(others):
        known = np.array(others)
        weights[1 + known] = -np.linalg.solve(sigma[known[:, None], known], sigma[known, column])
    weights[0] = -float(weights[1:] @ means) / mean_share
    return weights


def fisher_z(correlation: float, n: int, order: int) -> float:
    """Fisher's z: √(n − k − 3) artanh(r) for a conditioning set of k = `order` columns.

    The result is nearly standard normal if the true correlation is 0. The result is 0 if n is too
    small for a test.
    """
    dof = n - order - 3
    if dof <= 0:
        return 0.0
    # Short of ±1, so that exact dependence is a very large number, not an infinite one.
    return math.sqrt(dof) * math.atanh(min(max(correlation, -1 + 1e-15), 1 - 1e-15))


@dataclass(frozen=True)
class MomentScore(Score):
    """A score for numeric columns or coded levels, computed from second moments."""

    @property
    def needs_levels(self) -> bool:
        return False

    def fits(self, source: MomentSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
        return True

    def value(self, source: MomentSource, x: int, y: int, conditioning_set: Sequence[int]) -> float:
        x, y = (x, y) if x < y else (y, x)
        ordered = tuple(sorted(conditioning_set))

        def compute() -> float:
            sigma = covariance(source.moments())
            return fisher_z(partial_correlation(sigma, x, y, ordered), source.n, len(ordered))

        return source.remember((self.name, x, y, ordered), compute)
