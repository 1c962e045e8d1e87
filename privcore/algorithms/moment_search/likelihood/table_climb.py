"""Probabilities of columns given their parents that make noisy counts of cells most likely.

A cell's expectation is a base times one probability of each family, a column with its parents.  A
step moves their logarithms along the score, by the information on each alone (Fisher scoring);
where that does not help, a step of expectation and maximisation (Dempster, Laird & Rubin 1977)
does.  `kernels.dag_fits` takes the same steps, and agrees up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.moment_search.likelihood.cell_likelihood import (
    CellLikelihood,
    Likelihood,
    cell_information,
)
from privcore.arrays import Vector

Codes = NDArray[np.intp]

_LEAST_PROBABILITY = 1e-7
_LEAST_EXPECTED = 1e-9
# No log-probability moves further than this in a step.
_LONGEST = 1.5
# Each step that helps makes the next one longer, up to so many times: information bounds how curved
# the likelihood is, and far from its top it is much flatter.
_GROWTH = 1.5
_MOST_STRETCH = 20.0
# A climb ends where steps add less than this to the log-likelihood.
_CONVERGED = 0.005
MOST_STEPS = 60
# For probabilities on which the counts say nothing.
RIDGE = 0.01
_SMOOTH = 1e-3
# What the compiled climb needs of these, in its order.
NUMBERS = (
    MOST_STEPS,
    _CONVERGED,
    _LEAST_PROBABILITY,
    _LEAST_EXPECTED,
    _LONGEST,
    RIDGE,
    _SMOOTH,
    _GROWTH,
    _MOST_STRETCH,
)


class Layout(NamedTuple):
    """Where the probabilities of some families are in one vector.

    codes: of each family (row) and cell, the place of its probability.  groups: of each one, which
    configuration of parents it belongs to; starts: the first one of each.
    """

    codes: Codes
    groups: Codes
    starts: Codes

    @classmethod
    def of(cls, codes: Sequence[Codes], widths: Sequence[int], sizes: Sequence[int]) -> Layout:
        """codes: per family, from 0.  widths: levels of its column.  sizes: probabilities."""
        offsets = np.cumsum([0, *sizes[:-1]])
        together = np.stack([c + offset for c, offset in zip(codes, offsets, strict=True)])
        per_group = np.concatenate(
            [np.full(size // width, width) for size, width in zip(sizes, widths, strict=True)]
        )
        starts = np.concatenate([[0], np.cumsum(per_group[:-1])])
        return cls(together, np.repeat(np.arange(len(per_group)), per_group), starts)

    def sums(self, cells: Vector) -> Vector:
        """Sums over the cells of each probability."""
        weights = np.tile(cells, len(self.codes)) if len(self.codes) > 1 else cells
        sums = np.bincount(self.codes.ravel(), weights, len(self.groups))
        return sums.astype(np.float64, copy=False)

    def probabilities(self, cells: Vector) -> Vector:
        """Probabilities from the counts in cells."""
        return self._normal(self.sums(cells) + _SMOOTH)

    def expected(self, base: Vector, probabilities: Vector) -> Vector:
        return np.asarray(
            np.maximum(base * probabilities[self.codes].prod(axis=0), _LEAST_EXPECTED)
        )

    def scored(
        self, probabilities: Vector, slopes: Vector, information: Vector, stretch: float
    ) -> Vector:
        """Shares after a step of scoring.

        slopes, information: of the logarithm of each cell's expectation.  stretch: how many times
        as long as the information says.
        """
        known = self.sums(information) + RIDGE
        step, spread = self.sums(slopes) / known, probabilities / known
        # Shares of a configuration go on adding up to 1.
        level = self._totals(probabilities * step) / self._totals(probabilities * spread)
        step = stretch * (step - level[self.groups] * spread)
        return self._normal(probabilities * np.exp(np.clip(step, -_LONGEST, _LONGEST)))

    def _totals(self, probabilities: Vector) -> Vector:
        return np.asarray(np.add.reduceat(probabilities, self.starts))

    def _normal(self, probabilities: Vector) -> Vector:
        probabilities = np.maximum(
            probabilities / self._totals(probabilities)[self.groups], _LEAST_PROBABILITY
        )
        return np.asarray(probabilities / self._totals(probabilities)[self.groups])


class Climbed(NamedTuple):
    """What a climb ends with; expected: of each cell."""

    probabilities: Vector
    expected: Vector
    likelihood: Likelihood


def climbed(
    likelihood: CellLikelihood, base: Vector, layout: Layout, probabilities: Vector
) -> Climbed:
    """The most likely probabilities near the start, in numpy."""
    expected = layout.expected(base, probabilities)
    reached = likelihood.at(expected)
    scoring, stretch, small = True, 1.0, 0
    for _ in range(MOST_STEPS):
        if scoring:
            information = expected * expected * cell_information(expected, likelihood.scale)
            moved = layout.scored(probabilities, expected * reached.slopes, information, stretch)
        else:
            moved = layout.probabilities(completed(expected, reached.slopes))
        then = layout.expected(base, moved)
        new = likelihood.at(then)
        if new.total < reached.total:
            if not scoring:
                break
            scoring, stretch = stretch > 1, 1.0
            continue
        small = small + 1 if new.total - reached.total < _CONVERGED else 0
        probabilities, expected, reached = moved, then, new
        if small >= (2 if scoring else 1):
            break
        if scoring:
            stretch = min(_GROWTH * stretch, _MOST_STRETCH)
        scoring = True
    return Climbed(probabilities, expected, reached)


def completed(expected: Vector, slopes: Vector) -> Vector:
    """What each cell is expected to hold given its noisy count."""
    return np.maximum(expected * (1 + slopes), 0.0)
