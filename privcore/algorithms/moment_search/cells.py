"""The likelihood of noisy cell counts, given their expectations under a model.

A count with expectation m is a Poisson variable plus discrete Laplace noise of scale b. This
likelihood contains twice as much information about small cells as a likelihood with normal noise of
the same variance. Cells that are empty under every model do not affect the comparison of models.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from privcore import kernels
from privcore.arrays import Vector
from privcore.kernels.arguments import Noisy

# Below this expectation the Poisson distribution is summed exactly; above it, or if the noise is
# much wider than the error, a normal distribution approximates the Poisson distribution.
_SUMMED = 10.0
_WIDE = 5.0
# A Poisson count with expectation `_SUMMED` is larger with probability below 1e-15.
_LARGEST = 45
# Less likely counts use the normal distribution, whose logarithm does not underflow.
_LEAST = 1e-200


class Likelihood(NamedTuple):
    """The log-likelihood of noisy cell counts.

    total: sum over all cells. slopes: derivative with respect to the expectation of each cell.
    """

    total: float
    slopes: Vector


class CellLikelihood:
    """The likelihood of noisy counts.

    counts: noisy whole numbers, shape (cells,).  scale: the scale b of the noise, positive.
    """

    def __init__(self, counts: Vector, scale: float) -> None:
        self.scale = float(scale)
        # Probability of the noise between each true count and the noisy one, scaled in each cell so
        # that the largest is 1.
        distance = np.abs(counts[:, None] - np.arange(_LARGEST + 1))
        nearest = distance.min(axis=1)
        self.noisy = Noisy(
            counts,
            np.exp((nearest[:, None] - distance) / scale),
            np.log(np.tanh(0.5 / scale)) - nearest / scale,
            self.scale,
            _SUMMED if scale < _WIDE else 0.0,
            _LEAST,
        )

    def at(self, expected: Vector) -> Likelihood:
        """The log-likelihood given these expectations; expected: positive, shape (cells,)."""
        slopes = np.empty_like(expected)
        return Likelihood(kernels.cells.cells_likelihood(self.noisy, expected, slopes), slopes)


def cell_information(expected: Vector, scale: float) -> Vector:
    """Approximate Fisher information about each expectation m.

    The information is 1/b² for m = 0 and close to 1/(m + 2b²) for large m.
    """
    noise = scale * scale
    return np.asarray(1 / (expected + noise * (1 + expected / (expected + noise))))
