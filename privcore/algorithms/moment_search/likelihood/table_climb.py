"""Shares of columns given their parents that make noisy counts of cells most likely.

A cell's expectation is a base times one share of each family, a column with its parents.  A step
moves all log-shares along the score, by the information on each alone (Fisher scoring); where that
does not help, a step of expectation and maximisation (Dempster, Laird & Rubin 1977) does.  A
compiled kernel climbs in large tables, and is waited for; numpy does in small ones, and where there
is no kernel.  The two agree up to rounding, so which one it is must not depend on the time.
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
from privcore.kernels import compiled

Codes = NDArray[np.intp]

_LEAST_SHARE = 1e-7
_LEAST_EXPECTED = 1e-9
# No log-share moves further than this in a step.
_LONGEST = 1.5
# Each step that helps makes the next one longer, up to so many times: information bounds how curved
# the likelihood is, and far from its top it is much flatter.
_GROWTH = 1.5
_MOST_STRETCH = 20.0
# A climb ends where steps add less than this to the log-likelihood.
_CONVERGED = 0.005
MOST_STEPS = 60
# For shares on which the counts say nothing.
RIDGE = 0.01
_SMOOTH = 1e-3
# From so many cells a search in numpy takes about as long as waiting for the kernels.
FEW_CELLS = 128


class Layout(NamedTuple):
    """Where the shares of some families are in one vector.

    codes: of each family (row) and cell, the place of its share.  groups: of each share, which
    configuration of parents it belongs to; starts: the first share of each.
    """

    codes: Codes
    groups: Codes
    starts: Codes

    @classmethod
    def of(cls, codes: Sequence[Codes], widths: Sequence[int], sizes: Sequence[int]) -> Layout:
        """codes: per family, from 0.  widths: levels of its column.  sizes: shares."""
        offsets = np.cumsum([0, *sizes[:-1]])
        together = np.stack([c + offset for c, offset in zip(codes, offsets, strict=True)])
        per_group = np.concatenate(
            [np.full(size // width, width) for size, width in zip(sizes, widths, strict=True)]
        )
        starts = np.concatenate([[0], np.cumsum(per_group[:-1])])
        return cls(together, np.repeat(np.arange(len(per_group)), per_group), starts)

    def sums(self, cells: Vector) -> Vector:
        """Over the cells of each share."""
        weights = np.tile(cells, len(self.codes)) if len(self.codes) > 1 else cells
        sums = np.bincount(self.codes.ravel(), weights, len(self.groups))
        return sums.astype(np.float64, copy=False)

    def shares(self, cells: Vector) -> Vector:
        """Probabilities from the counts in cells."""
        return self._normal(self.sums(cells) + _SMOOTH)

    def expected(self, base: Vector, shares: Vector) -> Vector:
        return np.asarray(np.maximum(base * shares[self.codes].prod(axis=0), _LEAST_EXPECTED))

    def scored(self, shares: Vector, slopes: Vector, information: Vector, stretch: float) -> Vector:
        """Shares after a step of scoring.

        slopes, information: of the logarithm of each cell's expectation.  stretch: how many times
        as long as the information says.
        """
        known = self.sums(information) + RIDGE
        step, spread = self.sums(slopes) / known, shares / known
        # Shares of a configuration go on adding up to 1.
        level = self._totals(shares * step) / self._totals(shares * spread)
        step = stretch * (step - level[self.groups] * spread)
        return self._normal(shares * np.exp(np.clip(step, -_LONGEST, _LONGEST)))

    def _totals(self, shares: Vector) -> Vector:
        return np.asarray(np.add.reduceat(shares, self.starts))

    def _normal(self, shares: Vector) -> Vector:
        shares = np.maximum(shares / self._totals(shares)[self.groups], _LEAST_SHARE)
        return np.asarray(shares / self._totals(shares)[self.groups])


class Climbed(NamedTuple):
    """What a climb ends with; expected: of each cell."""

    shares: Vector
    expected: Vector
    found: Likelihood


def climbed(
    likelihood: CellLikelihood,
    base: Vector,
    layout: Layout,
    shares: Vector,
    most_steps: int = MOST_STEPS,
) -> Climbed:
    """The most likely shares near those given, or what leads there after so many steps."""
    kernels = compiled.loaded() if base.size >= FEW_CELLS else None
    if kernels:
        shares, expected, slopes, total = kernels.climb(
            *likelihood.numbers,
            base,
            layout.codes,
            layout.groups,
            shares,
            _LEAST_SHARE,
            _LEAST_EXPECTED,
            _LONGEST,
            _CONVERGED,
            most_steps,
            RIDGE,
            _SMOOTH,
            _GROWTH,
            _MOST_STRETCH,
        )
        return Climbed(shares, expected, Likelihood(total, slopes))
    return _in_numpy(likelihood, base, layout, shares, most_steps)


def _in_numpy(
    likelihood: CellLikelihood, base: Vector, layout: Layout, shares: Vector, most_steps: int
) -> Climbed:
    expected = layout.expected(base, shares)
    found = likelihood.at(expected)
    scoring, stretch, small = True, 1.0, 0
    for _ in range(most_steps):
        if scoring:
            information = expected * expected * cell_information(expected, likelihood.scale)
            moved = layout.scored(shares, expected * found.slopes, information, stretch)
        else:
            moved = layout.shares(completed(expected, found.slopes))
        then = layout.expected(base, moved)
        new = likelihood.at(then)
        if new.total < found.total:
            if not scoring:
                break
            scoring, stretch = stretch > 1, 1.0
            continue
        small = small + 1 if new.total - found.total < _CONVERGED else 0
        shares, expected, found = moved, then, new
        if small >= (2 if scoring else 1):
            break
        if scoring:
            stretch = min(_GROWTH * stretch, _MOST_STRETCH)
        scoring = True
    return Climbed(shares, expected, found)


def completed(expected: Vector, slopes: Vector) -> Vector:
    """What each cell is expected to hold given its noisy count."""
    return np.maximum(expected * (1 + slopes), 0.0)
