"""Compiled loops that locate the cells of a table in margins and fit the margins; see `kernels`.

See `moment_search.log_linear`.  Sums are added in a fixed order, so repeated fits are equal bit for
bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Vector
from privcore.kernels.jit import compiled

Places = NDArray[np.int32]


@compiled("int32[:, ::1](int64[::1], boolean[:, ::1])")
def margin_places(levels: NDArray[np.int64], members: NDArray[np.bool_]) -> Places:
    """The position of each cell (column) in each margin (row).

    members: whether each axis belongs to each margin.
    """
    places = np.zeros((members.shape[0], levels.prod()), np.int32)
    for margin in range(members.shape[0]):
        known, stride = 1, 1
        for axis in range(levels.size - 1, -1, -1):
            step = stride if members[margin, axis] else 0
            for cell in range(known, known * levels[axis]):
                places[margin, cell] = places[margin, cell - known] + step
            known *= levels[axis]
            if members[margin, axis]:
                stride *= levels[axis]
    return places


@compiled(
    "int64(float64[::1], int64[::1], boolean[:, ::1], int64[::1], float64[::1], float64, int64)"
)
def fit_margins(
    cells: Vector,
    levels: NDArray[np.int64],
    members: NDArray[np.bool_],
    starts: NDArray[np.int64],
    wanted: Vector,
    enough: float,
    most: int,
) -> int:
    """Fit `cells`, in place, by iterative proportional fitting; returns the number of rounds.

    wanted: the target margins, one after the other. starts: position at which each margin begins,
    and the end of the last margin. enough: fitting ends if the absolute deviations add up to less
    than this. most: maximum number of rounds.
    """
    places, sums = margin_places(levels, members), np.empty_like(wanted)
    margins = places.shape[0]
    ratios = np.ones(1)
    before = np.zeros(cells.size, np.int32)
    for round_ in range(most):
        gap = 0.0
        for margin in range(margins):
            first, last = starts[margin], starts[margin + 1]
            part, aim, place = sums[first:last], wanted[first:last], places[margin]
            part[:] = 0.0
            # Scale the cells to the last margin, and sum them for this one.
            for cell in range(cells.size):
                cells[cell] *= ratios[before[cell]]
                part[place[cell]] += cells[cell]
            for k in range(part.size):
                gap += abs(aim[k] - part[k])
                part[k] = aim[k] / part[k] if part[k] > 0.0 else 0.0
            ratios, before = part.copy(), place
        if gap < enough:
            most = round_ + 1
            break
    for cell in range(cells.size):
        cells[cell] *= ratios[before[cell]]
    return most
