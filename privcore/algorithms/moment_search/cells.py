"""How likely noisy counts of cells are, given what a model expects of them.

A count of expectation m is a Poisson one and carries discrete Laplace noise of scale b.  That tells
twice as much of small cells as normal noise of the same variance would, and where no
model expects anything the noise does not distinguish models.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from privcore import kernels
from privcore.arrays import Vector
from privcore.kernels.arguments import Noisy

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
        self.scale = float(scale)
        # Probability of the noise that turns each true count into the noisy one, up to a factor
        # of each cell that keeps the largest at 1.
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
        """expected: positive, shape (cells,)."""
        slopes = np.empty_like(expected)
        return Likelihood(kernels.cells.cells_likelihood(self.noisy, expected, slopes), slopes)


def cell_information(expected: Vector, scale: float) -> Vector:
    """About Fisher's information on each expectation: 1/b² of empty cells, 1/(m + 2b²) of full."""
    noise = scale * scale
    return np.asarray(1 / (expected + noise * (1 + expected / (expected + noise))))
