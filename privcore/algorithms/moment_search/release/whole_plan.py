"""The release of all combinations of levels at once, from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privcore.algorithms.moment_search.likelihood.cell_likelihood import cell_information
from privcore.rounding import up

# Noise against chance up to which tests find as much as the likelihood of whole graphs.
_LITTLE_NOISE = 0.01


@dataclass(frozen=True)
class WholePlan:
    """n: rows.  cells: of the table.  scale: of the discrete Laplace noise on each."""

    n: int
    cells: int
    scale: float

    @property
    def variance(self) -> float:
        """Variance of the noise on a cell."""
        stop = -math.expm1(-1 / self.scale)
        return 2 * math.exp(-1 / self.scale) / (stop * stop)

    @property
    def noise(self) -> float:
        """Its variance on a pair, as a part of what n balanced rows vary by chance."""
        return self.cells * self.variance / self.n

    @property
    def little_noise(self) -> bool:
        """Whether tests decide, as where tables are released in rounds, or the likelihood."""
        return self.noise <= _LITTLE_NOISE

    @property
    def candidate_order(self) -> int:
        """Most columns that the first search conditions on: each test may lose an edge."""
        return 1 if self.noise > 1 else 2

    @property
    def weight(self) -> float:
        """What is left of the information on balanced and independent columns."""
        expected = self.n / self.cells
        information = cell_information(np.array(expected), self.scale)
        return expected * float(information)


def plan_whole(n: int, levels: Sequence[int], epsilon: float, *, cells: int) -> WholePlan | None:
    """None where the columns have more combinations of levels than `cells`, or there is but one.

    A replaced record leaves one cell and enters another, so that scale 2/ε gives ε.
    """
    size = math.prod(levels)
    if len(levels) < 2 or size > cells:
        return None
    return WholePlan(n, size, up(2 / epsilon))
