"""A quadratic statistic whose parts are weighted by how little of their variance is noise.

A covariance is turned into parts that are independent under the null: whitened by the sampling
variance, and rotated so that the variance of the noise is diagonal too. Part k then has variance 1
+ v_k, where v_k comes from the noise, and weight w_k = 1/(1 + v_k); the statistic Σ w_k z_k² with
z_k standard normal is compared with a scaled χ² of the same mean and variance (Satterthwaite 1946).
Without noise every weight is 1, and the statistic is χ² itself.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammainccinv

from privcore.arrays import Vector

# If the conditioning set explains nearly all of x or y, as the inputs of a gate do, a test has no
# information.
_LEAST_LEFT = 0.05


class Statistic(NamedTuple):
    """A weighted statistic.

    value: Σ w z². first, second: Σ w and Σ w². among: number of tests that this one was chosen from
    as the best; its p-value accounts for the choice. left: the product of the shares of the
    variances of x and y that the conditioning set leaves unexplained. If left is close to 0, as it
    is given the inputs of a gate, the test has no information.
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
        """Whether a non-significant result is informative."""
        return self.left >= _LEAST_LEFT

    @property
    def p_value(self) -> float:
        """Probability of a value as large under independence; 1 if the test has no information."""
        return min(self.among * self.alone, 1.0)

    @property
    def alone(self) -> float:
        """The p-value without a correction for choosing among tests."""
        if self.second <= 0:
            return 1.0
        return float(gammaincc(self.dof / 2, self.value / self.scale / 2))

    @property
    def noncentrality(self) -> float:
        """Noncentrality of the χ², unbiased but for the cut at 0; 0 without information."""
        return max(self.value / self.scale - self.dof, 0.0) if self.second else 0.0


class Statistics(NamedTuple):
    """Several statistics, each field of shape (tests,)."""

    value: Vector
    first: Vector
    second: Vector
    left: Vector

    def copy(self) -> Statistics:
        """A copy that can be changed."""
        return Statistics(*(field.copy() for field in self))

    def put(self, k: int, statistic: Statistic) -> None:
        for field, number in zip(self, statistic[:4], strict=True):
            field[k] = number

    def one(self, k: int) -> Statistic:
        value, first, second, left = (float(field[k]) for field in self)
        return Statistic(value, first, second, left)

    @property
    def informative(self) -> NDArray[np.bool_]:
        """See `Statistic`."""
        return self.left >= _LEAST_LEFT

    @property
    def p_values(self) -> Vector:
        """As `Statistic.alone`."""
        known = self.second > 0
        first, second = (np.where(known, field, 1.0) for field in (self.first, self.second))
        p_values = gammaincc(first * first / second / 2, self.value / (second / first) / 2)
        return np.where(known, p_values, 1.0)


@lru_cache(maxsize=10_000)
def chi_squared_quantile(dof: float, level: float) -> float:
    """The value that χ² of this many degrees of freedom exceeds with probability `level`."""
    return 2 * float(gammainccinv(dof / 2, level))
