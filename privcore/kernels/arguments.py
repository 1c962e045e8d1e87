"""What loops take together.  Of numpy alone, so that these can be made without loading numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Integers, Matrix, Vector


class Packed(NamedTuple):
    """Rows of several projections, fewest first; the last has all columns.

    codes: flat, column after column; starts: where each projection begins; sizes: its rows.
    weights: flat, how many records each row stands for; weight_starts: as starts.
    places: (projections, p), the position of each column in the projection, -1 where it lacks it.
    levels: of each column, (p,).
    """

    codes: NDArray[np.uint16]
    starts: Integers
    sizes: Integers
    weights: Integers
    weight_starts: Integers
    places: Integers
    levels: Integers


class Noisy(NamedTuple):
    """Noisy counts of cells, and what their likelihoods are made of; see `CellLikelihood`.

    noise: probability of the noise that turns each true count (columns) into that of the cell, up
    to exp(`factor`).  scale: of the noise.  summed: below this expectation the Poisson law is
    summed up; what is less likely than `least` is left to the normal law.
    """

    counts: Vector
    noise: Matrix
    factor: Vector
    scale: float
    summed: float
    least: float


class Near(NamedTuple):
    """What scores of families near a fit are made of.

    cells: expectation, information in rows, and expectation times slope of each cell.  places: the
    level of each column (row) in each cell.  code, room: for a number of each cell, and for three
    of each configuration.
    """

    cells: Matrix
    places: Integers
    levels: Integers
    code: Integers
    room: Matrix
