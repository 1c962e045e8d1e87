"""How likely noisy counts of cells are, given what a model expects of them.

A count of expectation m is a Poisson one and carries discrete Laplace noise of scale b.  That tells
twice as much of small cells as normal noise of the same variance would, and where no
model expects anything the noise does not distinguish models.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, log_ndtr

from privcore.arrays import Matrix, Vector

_LOG_ROOT_2_PI = 0.5 * float(np.log(2 * np.pi))
# Below this expectation the Poisson law is summed up, above it is taken as normal; and so it is
# where the noise is much wider than what it would be wrong by.
_SUMMED = 10.0
_WIDE = 5.0
# A Poisson count of that expectation is larger with probability below 1e-15.
_LARGEST = 45
# What is less likely than that is left to the normal law, whose logarithm does not fail.
_LEAST = 1e-200


class Likelihood(NamedTuple):
    """total: log-likelihood of all cells.  slopes: its derivative in each expectation."""

    total: float
    slopes: Vector


class CellLikelihood:
    """counts: noisy, whole numbers, shape (cells,).  scale: b, positive."""

    def __init__(self, counts: Vector, scale: float) -> None:
        self._counts, self.scale = counts, scale
        self._summed = _SUMMED if scale < _WIDE else 0.0
        true = np.arange(_LARGEST + 1)
        # Probability of the noise that turns each true count into the noisy one, up to a factor
        # of each cell that keeps the largest at 1.
        distance = np.abs(counts[:, None] - true)
        nearest = distance.min(axis=1)
        self._noise = np.exp((nearest[:, None] - distance) / scale)
        self._factor = np.log(np.tanh(0.5 / scale)) - nearest / scale
        self._true, self._log_factorials = true, gammaln(true + 1)

    @property
    def numbers(self) -> tuple[Vector, Matrix, Vector, float, float, float]:
        """What a compiled loop needs to do as `at`."""
        return self._counts, self._noise, self._factor, self.scale, self._summed, _LEAST

    def at(self, expected: Vector) -> Likelihood:
        """expected: positive, shape (cells,)."""
        logs, slopes = _normal(self._counts, expected, self.scale)
        few = np.flatnonzero(expected < self._summed)
        if few.size:
            m = expected[few][:, None]
            chances = np.exp(self._true * np.log(m) - m - self._log_factorials)
            likely = (chances * self._noise[few]).sum(axis=1)
            # The derivative of a Poisson probability of x is that of x − 1 less that of x.
            before = (chances[:, :-1] * self._noise[few, 1:]).sum(axis=1)
            sure = likely > _LEAST
            few, likely, before = few[sure], likely[sure], before[sure]
            logs[few] = np.log(likely) + self._factor[few]
            slopes[few] = before / likely - 1
        return Likelihood(float(logs.sum()), slopes)


def _normal(counts: Vector, expected: Vector, scale: float) -> tuple[Vector, Vector]:
    """Log-likelihoods and slopes with m the variance of a normal count.

    With d the count less m, the density is (A + B)/2b with A = exp(m/2b² − d/b) Φ(d/√m − √m/b), and
    B the same of −d.  Its slope in d is (B − A)/b, and its second one (A + B − 2b N)/b² with N the
    normal density at d; half of that is its slope in the variance.
    """
    spread = np.sqrt(expected)
    apart = (counts - expected) / scale
    steep = spread / scale
    ahead = apart / steep
    middle = 0.5 * steep * steep
    above = middle - apart + log_ndtr(ahead - steep)
    below = middle + apart + log_ndtr(-ahead - steep)
    both = np.logaddexp(above, below)
    normal = np.exp(-0.5 * ahead * ahead - _LOG_ROOT_2_PI - both) * 2 / steep
    shift = np.exp(above - both) - np.exp(below - both)
    slopes = shift / scale + 0.5 * (1 - normal) / (scale * scale)
    return both - float(np.log(2 * scale)), slopes


def cell_information(expected: Vector, scale: float) -> Vector:
    """About Fisher's information on each expectation: 1/b² of empty cells, 1/(m + 2b²) of full."""
    noise = scale * scale
    return np.asarray(1 / (expected + noise * (1 + expected / (expected + noise))))
