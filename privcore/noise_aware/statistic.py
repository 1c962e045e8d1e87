"""A quadratic statistic whose parts are weighted by how little of their variance is noise.

A covariance is turned into parts that are independent under the null: whitened by the sampling
variance, and rotated so that the variance of the noise is diagonal too.  Part k then has variance
1 + v_k, where v_k is the noise's share, and weight w_k = 1/(1 + v_k); the statistic Σ w_k z_k²
with z_k standard normal is compared with a scaled χ² of the same mean and variance (Satterthwaite
1946).  Without noise every weight is 1, and the statistic is χ² itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammainccinv

Matrix = NDArray[np.float64]


class Statistic(NamedTuple):
    """value: Σ w z².  first, second: Σ w and Σ w².

    left: the part of the variances of x and y, multiplied, that what is given leaves unexplained.
    Where it is next to nothing, as given the inputs of a gate, no test says anything.
    """

    value: float
    first: float
    second: float
    left: float = 1.0

    @property
    def scale(self) -> float:
        return self.second / self.first

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the matching χ², at most the number of parts."""
        return self.first * self.first / self.second

    @property
    def p_value(self) -> float:
        """Probability of a value as large under independence; 1 where there is nothing to see."""
        if self.second <= 0:
            return 1.0
        return float(gammaincc(self.freedom / 2, self.value / self.scale / 2))

    def gain(self, level: float) -> float:
        """By how much χ² exceeds its quantile at the significance level; −1 if nothing is seen."""
        if self.second <= 0:
            return -1.0
        quantile = 2 * float(gammainccinv(self.freedom / 2, level))
        return self.value / self.scale - quantile


NOTHING = Statistic(0.0, 0.0, 0.0, 0.0)


def statistic(
    covariance: Matrix, x: Whitening, y: Whitening, noise: Matrix | float, left: float
) -> Statistic:
    """Of covariances, shape (..., a, b), in units in which their sampling variance is that of one.

    x, y: the whitening of either side; noise: variance of the noise on one number, in the
    same units, a number or shape (..., 1, 1).  left: see `Statistic`.
    """
    parts = x.transform.swapaxes(-1, -2) @ covariance @ y.transform
    shares = noise * x.noise[..., :, None] * y.noise[..., None, :]
    weights = 1 / (1 + shares)
    # A part's square over its variance is χ²; its weight comes on top.
    value = float((parts * parts * weights * weights).sum())
    return Statistic(value, float(weights.sum()), float((weights * weights).sum()), left)


class Whitening(NamedTuple):
    """transform: columns that whiten and separate, (..., a, a); noise: variances of the noise
    along them, for noise of variance 1 on each number, (..., a)."""

    transform: Matrix
    noise: Matrix


def whitening(sampling: Matrix, noise: Matrix, floor: float) -> Whitening:
    """Of sampling and noise covariances, shape (..., a, a); eigenvalues are at least `floor`."""
    values, vectors = np.linalg.eigh(sampling)
    scaled = vectors / np.sqrt(np.maximum(values, floor))[..., None, :]
    shares, rotation = np.linalg.eigh(scaled.swapaxes(-1, -2) @ noise @ scaled)
    return Whitening(scaled @ rotation, np.maximum(shares, 0))
