"""Compiled loops over the cells of a table and their places in its margins; see `kernels`.

For `likelihood.margins`: the same sums, in the same order, so that no bit differs.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from privcore.arrays import Vector

Places = NDArray[np.int32]


@njit("int32[:, ::1](int64[::1], boolean[:, ::1])", cache=True, nogil=True)
def margin_places(levels: NDArray[np.int64], members: NDArray[np.bool_]) -> Places:
    """The place of each cell (column) in each margin (row).

    members: of each margin and axis, whether the axis is one of the margin's.
    """
    cells = 1
    for size in levels:
        cells *= size
    places = np.zeros((members.shape[0], cells), np.int32)
    for margin in range(members.shape[0]):
        repeats, stride = 1, 1
        for back in range(levels.size):
            axis = levels.size - 1 - back
            size = levels[axis]
            if members[margin, axis]:
                for cell in range(cells):
                    places[margin, cell] += cell // repeats % size * stride
                stride *= size
            repeats *= size
    return places


@njit(
    "int64(float64[::1], int32[:, ::1], float64[::1], int64[::1], float64, int64)",
    cache=True,
    nogil=True,
)
def fit_margins(
    cells: Vector,
    places: Places,
    wanted: Vector,
    starts: NDArray[np.int64],
    enough: float,
    most: int,
) -> int:
    """As `margins.fitted`, of `cells`, in place; the rounds it took.

    wanted: of all margins, one after the other; starts: where each begins, and where the last ends.
    """
    sums = np.empty_like(wanted)
    for round_ in range(most):
        gap = 0.0
        for margin in range(places.shape[0]):
            first, last = starts[margin], starts[margin + 1]
            part, aim, place = sums[first:last], wanted[first:last], places[margin]
            part[:] = 0.0
            for cell in range(cells.size):
                part[place[cell]] += cells[cell]
            for k in range(part.size):
                gap += abs(aim[k] - part[k])
                part[k] = aim[k] / part[k] if part[k] > 0.0 else 0.0
            for cell in range(cells.size):
                cells[cell] *= part[place[cell]]
        if gap < enough:
            return round_ + 1
    return most


@njit("float64[:, ::1](float64[::1], int32[:, ::1], int64[::1])", cache=True, nogil=True)
def margin_products(
    cells: Vector, places: Places, starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """As `margins.products`."""
    products = np.zeros((starts[-1], starts[-1]))
    for one in range(places.shape[0]):
        for other in range(one, places.shape[0]):
            for cell in range(cells.size):
                row = starts[one] + places[one, cell]
                products[row, starts[other] + places[other, cell]] += cells[cell]
    for row in range(products.shape[0]):
        for column in range(row):
            products[row, column] = products[column, row]
    return products
