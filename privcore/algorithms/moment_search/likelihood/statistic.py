"""A quadratic statistic whose parts are weighted by how little of their variance is noise.

A covariance is turned into parts that are independent under the null: whitened by the sampling
variance, and rotated so that the variance of the noise is diagonal too.  Part k then has variance
1 + v_k, where v_k is the noise's share, and weight w_k = 1/(1 + v_k); the statistic Σ w_k z_k²
with z_k standard normal is compared with a scaled χ² of the same mean and variance (Satterthwaite
1946).  Without noise every weight is 1, and the statistic is χ² itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammainccinv

from privcore.arrays import Matrix, Vector

# Given what explains nearly all of x or y, as the inputs of a gate do, no test says anything.
_LEAST_LEFT = 0.05
# Of so many parts the covariances of the noise are all used.
MOST_TOGETHER = 512
_NUMBERS_AT_ONCE = 1 << 22


class Statistic(NamedTuple):
    """value: Σ w z².  first, second: Σ w and Σ w².

    among: how many tests a search chose this one from; its p-value is that of the best of them.
    left: the part of the variances of x and y, multiplied, that what is given leaves unexplained.
    Where it is next to nothing, as given the inputs of a gate, no test says anything.
    """

    value: float
    first: float
    second: float
    left: float = 1.0
    among: int = 1

    @property
    def scale(self) -> float:
        return self.second / self.first

    @property
    def dof(self) -> float:
        """Degrees of freedom of the matching χ², at most the number of parts."""
        return self.first * self.first / self.second

    @property
    def informative(self) -> bool:
        """Whether the test says anything, if it finds nothing."""
        return self.left >= _LEAST_LEFT

    @property
    def p_value(self) -> float:
        """Probability of a value as large under independence; 1 where there is nothing to see."""
        return min(self.among * self.alone, 1.0)

    @property
    def alone(self) -> float:
        """The p-value of a test that was not chosen among others."""
        if self.second <= 0:
            return 1.0
        return float(gammaincc(self.dof / 2, self.value / self.scale / 2))

    @property
    def noncentrality(self) -> float:
        """Noncentrality of the χ², unbiased but for the cut at 0; 0 without information."""
        return max(self.value / self.scale - self.dof, 0.0) if self.second else 0.0


NOTHING = Statistic(0.0, 0.0, 0.0, 0.0)


class Statistics(NamedTuple):
    """Several of them, each field of shape (tests,)."""

    value: Vector
    first: Vector
    second: Vector
    left: Vector

    def one(self, k: int) -> Statistic:
        value, first, second, left = (float(field[k]) for field in self)
        return Statistic(value, first, second, left)

    @property
    def informative(self) -> NDArray[np.bool_]:
        """As of `Statistic`."""
        return self.left >= _LEAST_LEFT

    @property
    def p_values(self) -> Vector:
        """As `Statistic.alone`."""
        known = self.second > 0
        first, second = (np.where(known, field, 1.0) for field in (self.first, self.second))
        p_values = gammaincc(first * first / second / 2, self.value / (second / first) / 2)
        return np.where(known, p_values, 1.0)


def chosen_among(columns: int, others: int) -> int:
    """How many tests an edge was chosen from, by how many other parents its effect has.

    Where there are k > 1 in all, any k of p − 1 might have been chosen for any of the p columns,
    and all k edges may come from one such choice by chance: beside what the procedure of Benjamini
    and Hochberg does about p(p − 1)/2 pairs, a factor of 2 C(p − 2, k − 1) is due.
    """
    return 2 * comb(columns - 2, others) if others else 1


def chi_squared_quantile(dof: float, level: float) -> float:
    """What χ² of so many degrees of freedom exceeds with probability `level`."""
    return 2 * float(gammainccinv(dof / 2, level))


def statistic(parts: Matrix, noise: Matrix, left: float) -> Statistic:
    """Statistic of covariances whose sampling covariance is the identity in their units.

    parts: shape (..., m); noise: the noise's covariance of each m, shape (..., m, m).
    left: see `Statistic`.
    """
    # Along each direction of noise λ a part's square over its variance is χ², and its weight
    # 1/(1 + λ) comes on top.
    value, first, second = (float(field.sum()) for field in _each(parts, noise))
    return Statistic(value, first, second, left)


def _each(parts: Matrix, noise: Matrix) -> tuple[Vector, Vector, Vector]:
    """value, first and second of each m parts."""
    weight = np.linalg.inv(np.eye(noise.shape[-1]) + noise)
    weighted = (weight @ parts[..., None])[..., 0]
    squares = (weight * weight).sum(axis=(-2, -1))
    return (weighted * weighted).sum(axis=-1), np.trace(weight, axis1=-2, axis2=-1), squares


def paired_statistic(
    parts: Matrix, terms: Sequence[tuple[Matrix, Matrix]], left: float
) -> Statistic:
    """One statistic of all groups of parts; see `paired_statistics`."""
    each = paired_statistics(parts, terms, np.full(len(parts), left))
    value, first, second = (float(field.sum()) for field in each[:3])
    return Statistic(value, first, second, left)


def paired_statistics(
    parts: Matrix, terms: Sequence[tuple[Matrix, Matrix]], left: Vector
) -> Statistics:
    """Statistics of groups of covariances whose noise has the covariance Σ A ⊗ B.

    parts: shape (groups, a, b), in units in which their sampling covariance is the identity.
    terms: A of shape (groups, a, a) and B of (groups, b, b), with diagonals of at least 0; 1 in the
    place of the groups where they have one in common.

    With many parts no matrix of all pairs is formed, which would have (ab)² entries: each part is
    weighed by its own noise, as if that of different parts were independent.  Mean and variance
    of the statistic are those with the noise as it is, so that its p-value means the same.
    """
    groups, a, b = parts.shape
    if a * b <= MOST_TOGETHER:
        total = sum(one[:, :, None, :, None] * other[:, None, :, None, :] for one, other in terms)
        noise = np.broadcast_to(total, (groups, a, b, a, b)).reshape(groups, a * b, a * b)
        return Statistics(*_each(parts.reshape(groups, -1), noise), left)
    own = [np.diagonal(one, axis1=1, axis2=2) for pair in terms for one in pair]
    noise = np.zeros(parts.shape)
    for x, y in zip(own[::2], own[1::2], strict=True):
        noise += x[:, :, None] * y[:, None, :]
    weight = 1 / (1 + noise)
    # With C = 1 + N the covariance of the parts and W the weights, of WCW: trace, and that of its
    # square, in which off the diagonal only N is.
    square = weight * weight
    first = (square * (1 + noise)).sum(axis=(1, 2))
    second = (square * square * (1 + 2 * noise)).sum(axis=(1, 2))
    for k, (one, other) in enumerate(terms):
        for m, (again, opposite) in enumerate(terms[: k + 1]):
            both = (one * again) @ square @ (other * opposite).swapaxes(1, 2)
            second += (2 - (m == k)) * (square * both).sum(axis=(1, 2))
    return Statistics((square * parts * parts).sum(axis=(1, 2)), first, second, left)


def at_once(a: int, b: int) -> int:
    """How many groups of a × b parts to take, for matrices of some tens of megabytes."""
    size = (a * b) ** 2 if a * b <= MOST_TOGETHER else (a + b) ** 2
    return max(_NUMBERS_AT_ONCE // size, 1)


def whitening(sampling: Matrix, floor: float) -> Matrix:
    """W with Wᵀ sampling W = 1, shape (..., a, a); eigenvalues are at least `floor`."""
    values, vectors = np.linalg.eigh(sampling)
    return np.asarray(vectors / np.sqrt(np.maximum(values, floor))[..., None, :])
