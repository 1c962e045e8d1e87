"""The compiled climb to the probabilities that make noisy counts most likely; see `kernels`.

For `likelihood.table_climb`: the same steps, and most sums in the same order.
"""

from __future__ import annotations

from math import exp

import numpy as np
from numba import njit
from numpy.typing import NDArray

from privcore.arrays import Vector
from privcore.kernels.cells import cells_likelihood

Codes = NDArray[np.int64]


@njit(
    "void(float64[::1], int64[:, ::1], float64[::1], float64, float64[::1])",
    cache=True,
    nogil=True,
)
def expect(
    base: Vector, codes: Codes, probabilities: Vector, least: float, expected: Vector
) -> None:
    """As `Layout.expected`."""
    expected[:] = 1.0
    for family in range(codes.shape[0]):
        for cell in range(base.size):
            expected[cell] *= probabilities[codes[family, cell]]
    for cell in range(base.size):
        expected[cell] = max(base[cell] * expected[cell], least)


@njit("void(float64[::1], int64[:, ::1], float64[::1])", cache=True, nogil=True)
def sum_cells(cells: Vector, codes: Codes, sums: Vector) -> None:
    """As `Layout.sums`."""
    sums[:] = 0.0
    for family in range(codes.shape[0]):
        for cell in range(cells.size):
            sums[codes[family, cell]] += cells[cell]


@njit("void(float64[::1], int64[::1], float64[::1])", cache=True, nogil=True)
def sum_groups(probabilities: Vector, groups: Codes, totals: Vector) -> None:
    totals[:] = 0.0
    for place in range(probabilities.size):
        totals[groups[place]] += probabilities[place]


@njit("void(float64[::1], int64[::1], float64, float64[::1])", cache=True, nogil=True)
def normalise(probabilities: Vector, groups: Codes, least: float, totals: Vector) -> None:
    """As `Layout._normal`; totals: room for those of the groups."""
    sum_groups(probabilities, groups, totals)
    for place in range(probabilities.size):
        probabilities[place] = max(probabilities[place] / totals[groups[place]], least)
    sum_groups(probabilities, groups, totals)
    for place in range(probabilities.size):
        probabilities[place] /= totals[groups[place]]


@njit(
    "void(float64[::1], float64[::1], float64[::1], int64[:, ::1], int64[::1], float64, float64,"
    "float64, float64, float64[::1], float64[:, ::1], float64[::1])",
    cache=True,
    nogil=True,
)
def score(
    probabilities: Vector,
    expected: Vector,
    slopes: Vector,
    codes: Codes,
    groups: Codes,
    scale: float,
    ridge: float,
    longest: float,
    stretch: float,
    cells: Vector,
    room: NDArray[np.float64],
    moved: Vector,
) -> None:
    """As `Layout.scored`, but that `moved` does not add up to 1 yet.

    cells, room: for a number of each cell and for four of each probability.
    """
    known, spread, across, along = room[0], room[1], room[2], room[3]
    wide = scale * scale
    for cell in range(expected.size):
        m = expected[cell]
        cells[cell] = m * m / (m + wide * (1.0 + m / (m + wide)))
    sum_cells(cells, codes, known)
    for cell in range(expected.size):
        cells[cell] = expected[cell] * slopes[cell]
    sum_cells(cells, codes, moved)
    across[:] = 0.0
    along[:] = 0.0
    for place in range(probabilities.size):
        moved[place] /= known[place] + ridge
        spread[place] = probabilities[place] / (known[place] + ridge)
        across[groups[place]] += probabilities[place] * moved[place]
        along[groups[place]] += probabilities[place] * spread[place]
    for place in range(probabilities.size):
        group = groups[place]
        step = stretch * (moved[place] - across[group] / along[group] * spread[place])
        moved[place] = probabilities[place] * exp(min(max(step, -longest), longest))


@njit(
    "Tuple((float64[::1], float64[::1], float64[::1], float64))("
    "float64[::1], float64[:, ::1], float64[::1], float64, float64, float64,"
    "float64[::1], int64[:, ::1], int64[::1], float64[::1],"
    "int64, float64, float64, float64, float64, float64, float64, float64, float64)",
    cache=True,
    nogil=True,
)
def climb(
    counts: Vector,
    noise: NDArray[np.float64],
    factor: Vector,
    scale: float,
    summed: float,
    least: float,
    base: Vector,
    codes: Codes,
    groups: Codes,
    probabilities: Vector,
    most_steps: int,
    converged: float,
    least_share: float,
    least_expected: float,
    longest: float,
    ridge: float,
    smooth: float,
    growth: float,
    most_stretch: float,
) -> tuple[Vector, Vector, Vector, float]:
    """The result of `table_climb.climbed`: probabilities, expectations, slopes and log-likelihood.

    counts to least: of the likelihood.  base to probabilities: as there.  The rest:
    `table_climb.NUMBERS`.
    """
    probabilities, moved = probabilities.copy(), np.empty_like(probabilities)
    expected, then = np.empty_like(base), np.empty_like(base)
    slopes, new = np.empty_like(base), np.empty_like(base)
    cells, room = np.empty_like(base), np.empty((4, probabilities.size))
    expect(base, codes, probabilities, least_expected, expected)
    reached = cells_likelihood(counts, noise, factor, scale, summed, least, expected, slopes)
    scoring, stretch, small = True, 1.0, 0
    for _ in range(most_steps):
        if scoring:
            score(
                probabilities,
                expected,
                slopes,
                codes,
                groups,
                scale,
                ridge,
                longest,
                stretch,
                cells,
                room,
                moved,
            )
        else:
            for cell in range(base.size):
                cells[cell] = max(expected[cell] * (1.0 + slopes[cell]), 0.0)
            sum_cells(cells, codes, moved)
            moved += smooth
        normalise(moved, groups, least_share, room[0])
        expect(base, codes, moved, least_expected, then)
        total = cells_likelihood(counts, noise, factor, scale, summed, least, then, new)
        if total < reached:
            if not scoring:
                break
            scoring, stretch = stretch > 1.0, 1.0
            continue
        small = small + 1 if total - reached < converged else 0
        reached = total
        probabilities, moved = moved, probabilities
        expected, then = then, expected
        slopes, new = new, slopes
        if small >= (2 if scoring else 1):
            break
        if scoring:
            stretch = min(growth * stretch, most_stretch)
        scoring = True
    return probabilities, expected, slopes, reached
