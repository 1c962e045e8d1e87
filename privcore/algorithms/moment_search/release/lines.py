"""Columns with levels, measured in few numbers each: a line, or a few groups.

First the counts of each column by itself get noise, a small part of the budget.  They say how far
apart the levels of a line are, and which levels of others are grouped.  Rows are then short lists
of numbers, shortened to a public length, whose second moments get the rest.
Proof: docs/proofs/moment_search.md, statement 7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from privcore.algorithms.moment_search.margins import nearest_probabilities
from privcore.arrays import Vector
from privcore.counts import Bases, CountSource
from privcore.independence.lines import basis_of, coordinates
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.gaussian import planned_sigma
from privcore.privacy.mechanisms.moment_release import (
    CENTRED_SHARE,
    weighted_sensitivity,
    with_noise,
)
from privcore.rounding import down

# Of μ², for the counts of each column.
_COUNTS_SHARE = 0.1
# How long rows may be, in standard deviations of their columns, over √p.
_RADIUS = 0.9


@dataclass(frozen=True)
class LinesPlan:
    """Gaussian-DP parameters of the two releases, and what else is fixed.

    n: rows.  levels, ordered: as of `CountSource`.  radius: how long rows may be, in standard
    deviations of their columns, over √p.
    """

    n: int
    levels: tuple[int, ...]
    ordered: tuple[int, ...]
    mu_counts: float
    mu_moments: float
    radius: float

    @property
    def further(self) -> LinesPlan:
        """All of μ for the moments, in the coordinates of a run before."""
        mu = down(math.hypot(self.mu_counts, self.mu_moments))
        return replace(self, mu_counts=0.0, mu_moments=mu)

    @property
    def columns(self) -> int:
        """How many numbers a row is."""
        return sum(self.coordinates)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """How many numbers each column is measured in."""
        return tuple(map(coordinates, self.levels, self.ordered))

    @property
    def longest(self) -> float:
        """Length of a row, where each coordinate has mean 0 and variance 1."""
        return self.radius * math.sqrt(self.columns)

    @property
    def shares(self) -> tuple[float, ...]:
        """Parts of μ² of the releases."""
        squares = self.mu_counts**2, self.mu_moments**2
        return tuple(square / sum(squares) for square in squares if square)

    @property
    def counts_sigma(self) -> float:
        """A replaced record leaves one level of each column and enters another."""
        return planned_sigma(math.sqrt(2 * len(self.levels)), self.mu_counts)

    @property
    def moments_sigma(self) -> float:
        """Rows in the unit ball."""
        return planned_sigma(weighted_sensitivity(1.0, self.n, CENTRED_SHARE), self.mu_moments)

    @property
    def correlation_noise(self) -> float:
        """Standard deviation of the noise on a correlation."""
        return self.moments_sigma * self.longest**2


def plan_lines(
    n: int, levels: Sequence[int], ordered: Sequence[int], mu: float, *, radius: float | None
) -> LinesPlan:
    """mu: of both releases together.  radius: None for the usual one."""
    counts, moments = (down(mu * math.sqrt(s)) for s in (_COUNTS_SHARE, 1 - _COUNTS_SHARE))
    in_order = tuple(ordered) or (0,) * len(levels)
    return LinesPlan(n, tuple(levels), in_order, counts, moments, radius or _RADIUS)


def release_counts(source: CountSource, sigma: float, noise: NoiseSource) -> tuple[Vector, ...]:
    """Counts of the levels of each column."""
    exact = [source.table([c]).astype(np.float64) for c in range(len(source.levels))]
    noisy = noise.gaussian_array(np.concatenate(exact), sigma)
    return tuple(np.split(noisy, np.cumsum(source.levels)[:-1]))


def bases_of(counts: Sequence[Vector], plan: LinesPlan) -> Bases:
    """Coordinates of the levels of each column, by noisy counts; rows of length 1 are the longest.

    Rarer levels than noise can tell from none would be far out: none has a smaller share.
    """
    bases = []
    for own, ordered in zip(counts, plan.ordered, strict=True):
        shares = nearest_probabilities(own, min(plan.counts_sigma / plan.n, 0.5 / len(own)))
        bases.append(basis_of(shares, ordered) / plan.longest)
    return tuple(bases)


def release_lines(source: CountSource, bases: Bases, plan: LinesPlan, noise: NoiseSource) -> Vector:
    """Noisy second moments of the coordinates, as `KeptLines` has them."""
    exact = source.coded(bases, 1.0)
    weight = np.ones(len(exact))
    weight[0] = CENTRED_SHARE
    return with_noise(exact * np.outer(weight, weight), plan.moments_sigma, noise)
