"""The compiled climb to the probabilities that make noisy counts most likely; see `kernels`.

A cell's expectation is n times one probability of each family, a column with its parents.  A step
moves their logarithms along the score, by the information on each alone (Fisher scoring); where
that does not help, a step of expectation and maximisation (Dempster, Laird & Rubin 1977) does.

Probabilities of all families are in one vector.  codes: of each family (row) and cell, the place of
its probability.  groups: of each one, which configuration of parents it belongs to.
"""

from __future__ import annotations

from math import exp

import numpy as np
from numba import float64, int64, types

from privcore.arrays import Integers, Matrix, Vector
from privcore.kernels.arguments import Noisy
from privcore.kernels.cells import NOISY, cells_likelihood
from privcore.kernels.jit import compiled

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
# For probabilities on which the counts say nothing.
_RIDGE = 0.01
_SMOOTH = 1e-3


@compiled("void(float64, int64[:, ::1], float64[::1], float64[::1])")
def expect(n: float, codes: Integers, probabilities: Vector, expected: Vector) -> None:
    """The expectation of each cell."""
    expected[:] = 1.0
    for family in range(codes.shape[0]):
        for cell in range(expected.size):
            expected[cell] *= probabilities[codes[family, cell]]
    for cell in range(expected.size):
        expected[cell] = max(n * expected[cell], _LEAST_EXPECTED)


@compiled("void(float64[::1], int64[:, ::1], float64[::1])")
def sum_cells(cells: Vector, codes: Integers, sums: Vector) -> None:
    """Sums over the cells of each probability."""
    sums[:] = 0.0
    for family in range(codes.shape[0]):
        for cell in range(cells.size):
            sums[codes[family, cell]] += cells[cell]


@compiled("void(float64[::1], int64[::1], float64[::1])")
def sum_groups(probabilities: Vector, groups: Integers, totals: Vector) -> None:
    totals[:] = 0.0
    for place in range(probabilities.size):
        totals[groups[place]] += probabilities[place]


@compiled("void(float64[::1], int64[::1], float64[::1])")
def normalise(probabilities: Vector, groups: Integers, totals: Vector) -> None:
    """Make those of a configuration add up to 1; totals: room for those of the groups."""
    sum_groups(probabilities, groups, totals)
    for place in range(probabilities.size):
        probabilities[place] = max(probabilities[place] / totals[groups[place]], _LEAST_PROBABILITY)
    sum_groups(probabilities, groups, totals)
    for place in range(probabilities.size):
        probabilities[place] /= totals[groups[place]]


@compiled("void(float64[::1], int64[:, ::1], int64[::1], float64[::1], float64[::1])")
def count_shares(
    cells: Vector, codes: Integers, groups: Integers, shares: Vector, totals: Vector
) -> None:
    """The probabilities from the counts in cells; totals: see `normalise`."""
    sum_cells(cells, codes, shares)
    shares += _SMOOTH
    normalise(shares, groups, totals)


@compiled("void(float64[::1], float64, float64[::1])")
def count_rows(expected: Vector, scale: float, rows: Vector) -> None:
    """The rows that each cell is worth: m² times the information on its expectation m."""
    wide = scale * scale
    for cell in range(expected.size):
        m = expected[cell]
        rows[cell] = m * m / (m + wide * (1.0 + m / (m + wide)))


@compiled(
    "void(float64[::1], float64[::1], float64[::1], int64[:, ::1], int64[::1], float64, float64,"
    "float64[::1], float64[:, ::1], float64[::1])"
)
def score(
    probabilities: Vector,
    expected: Vector,
    slopes: Vector,
    codes: Integers,
    groups: Integers,
    scale: float,
    stretch: float,
    cells: Vector,
    room: Matrix,
    moved: Vector,
) -> None:
    """A step of scoring, `stretch` times as long as the information says.

    cells, room: for a number of each cell and for four of each probability.  moved: what the
    probabilities become.
    """
    known, spread, across, along = room[0], room[1], room[2], room[3]
    count_rows(expected, scale, cells)
    sum_cells(cells, codes, known)
    for cell in range(expected.size):
        cells[cell] = expected[cell] * slopes[cell]
    sum_cells(cells, codes, moved)
    across[:] = 0.0
    along[:] = 0.0
    for place in range(probabilities.size):
        moved[place] /= known[place] + _RIDGE
        spread[place] = probabilities[place] / (known[place] + _RIDGE)
        across[groups[place]] += probabilities[place] * moved[place]
        along[groups[place]] += probabilities[place] * spread[place]
    # Shares of a configuration go on adding up to 1.
    for place in range(probabilities.size):
        group = groups[place]
        step = stretch * (moved[place] - across[group] / along[group] * spread[place])
        moved[place] = probabilities[place] * exp(min(max(step, -_LONGEST), _LONGEST))
    normalise(moved, groups, known)


@compiled(
    types.Tuple((float64[::1], float64[::1], float64[::1], float64))(
        NOISY, float64, int64[:, ::1], int64[::1], float64[::1], int64
    )
)
def climb(
    noisy: Noisy, n: float, codes: Integers, groups: Integers, start: Vector, most_steps: int
) -> tuple[Vector, Vector, Vector, float]:
    """The most likely probabilities near the start, expectations, slopes and log-likelihood."""
    probabilities, moved = start.copy(), np.empty_like(start)
    expected, then = np.empty_like(noisy.counts), np.empty_like(noisy.counts)
    slopes, new = np.empty_like(expected), np.empty_like(expected)
    cells, room = np.empty_like(expected), np.empty((4, start.size))
    expect(n, codes, probabilities, expected)
    reached = cells_likelihood(noisy, expected, slopes)
    scoring, stretch, small = True, 1.0, 0
    for _ in range(most_steps):
        if scoring:
            score(
                probabilities,
                expected,
                slopes,
                codes,
                groups,
                noisy.scale,
                stretch,
                cells,
                room,
                moved,
            )
        else:
            for cell in range(cells.size):
                cells[cell] = max(expected[cell] * (1.0 + slopes[cell]), 0.0)
            count_shares(cells, codes, groups, moved, room[0])
        expect(n, codes, moved, then)
        total = cells_likelihood(noisy, then, new)
        if total < reached:
            if not scoring:
                break
            scoring, stretch = stretch > 1.0, 1.0
            continue
        small = small + 1 if total - reached < _CONVERGED else 0
        reached = total
        probabilities, moved = moved, probabilities
        expected, then = then, expected
        slopes, new = new, slopes
        if small >= (2 if scoring else 1):
            break
        if scoring:
            stretch = min(_GROWTH * stretch, _MOST_STRETCH)
        scoring = True
    return probabilities, expected, slopes, reached
