"""A quadratic test statistic in which parts with more noise have less weight.

The sample covariances of two columns are transformed into parts that are independent under the null
hypothesis: they are whitened by the sampling covariance, then rotated so that the covariance of the
noise is diagonal too. Part k then has variance 1 + v_k, where v_k comes from the noise, and gets
weight w_k = 1/(1 + v_k). The statistic is Σ w_k z_k², where z_k is part k divided by its standard
deviation. The null distribution is approximated by a scaled χ² distribution with the same mean and
variance (Satterthwaite 1946). Without noise every weight is 1, and the statistic follows a χ²
distribution.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammainccinv

from privcore.arrays import Vector
from privcore.independence.score import LEAST_RESIDUAL


class Statistic(NamedTuple):
    """A weighted statistic of a test of x and y.

    value: Σ w z². first, second: Σ w and Σ w². residual_share: the share of the variance of x that
    the conditioning set does not explain, times the same share for y. If the residual share is
    close to 0, as when y is a function of the conditioning set, the test has no information.
    """

    value: float
    first: float
    second: float
    residual_share: float = 1.0

    @property
    def scale(self) -> float:
        return self.second / self.first

    @property
    def dof(self) -> float:
        """Degrees of freedom of the approximating χ², at most the number of parts."""
        return self.first * self.first / self.second

    @property
    def informative(self) -> bool:
        """Whether a non-significant result is informative."""
        return self.residual_share >= LEAST_RESIDUAL

    @property
    def p_value(self) -> float:
        """The p-value; 1 if the test has no information."""
        if self.second <= 0:
            return 1.0
        return float(gammaincc(self.dof / 2, self.value / self.scale / 2))

    @property
    def noncentrality(self) -> float:
        """Estimated noncentrality of the χ², at least 0; 0 if the test has no information."""
        return max(self.value / self.scale - self.dof, 0.0) if self.second else 0.0


class Statistics(NamedTuple):
    """The statistics of several tests; each field has shape (tests,)."""

    value: Vector
    first: Vector
    second: Vector
    residual_share: Vector

    def copy(self) -> Statistics:
        """A copy with its own arrays, which can be changed."""
        return Statistics(*(field.copy() for field in self))

    def put(self, k: int, statistic: Statistic) -> None:
        for field, number in zip(self, statistic, strict=True):
            field[k] = number

    def one(self, k: int) -> Statistic:
        return Statistic(*(float(field[k]) for field in self))

    @property
    def informative(self) -> NDArray[np.bool_]:
        """Whether a non-significant result is informative, for each test."""
        return self.residual_share >= LEAST_RESIDUAL

    @property
    def p_values(self) -> Vector:
        """The p-value of each test; 1 if a test has no information."""
        known = self.second > 0
        first, second = (np.where(known, field, 1.0) for field in (self.first, self.second))
        p_values = gammaincc(first * first / second / 2, self.value / (second / first) / 2)
        return np.where(known, p_values, 1.0)


@lru_cache(maxsize=10_000)
def chi_squared_quantile(dof: float, level: float) -> float:
    """The value that χ² with `dof` degrees of freedom exceeds with probability `level`."""
    return 2 * float(gammainccinv(dof / 2, level))


def cell_information(expected: Vector, scale: float) -> Vector:
    """Approximate Fisher information about each expectation m.

    The information is 1/b² for m = 0 and close to 1/(m + 2b²) for large m.
    """
    noise = scale * scale
    return np.asarray(1 / (expected + noise * (1 + expected / (expected + noise))))
