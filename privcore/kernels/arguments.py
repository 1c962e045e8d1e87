"""Groups of arguments for the compiled loops.  This module does not load numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Integers, Matrix, Vector


class Packed(NamedTuple):
    """Unique rows of several projections of a data set, in order of size; the last has all columns.

    codes: levels, flat, column after column. starts: position in `codes` at which each projection
    begins. sizes: number of rows of each projection. weights: multiplicity of each row, flat.
    weight_starts: position in `weights` at which each projection begins. places: position of each
    column in each projection, -1 if absent, shape (projections, p). levels: number of levels of
    each column, shape (p,).
    """

    codes: NDArray[np.uint16]
    starts: Integers
    sizes: Integers
    weights: Integers
    weight_starts: Integers
    places: Integers
    levels: Integers


class Noisy(NamedTuple):
    """Noisy counts of cells, and precomputed parts of their likelihoods; see `CellLikelihood`.

    noise: for each cell (row) and each true count (column), the probability of the noise between
    the true and the noisy count, divided by exp(`factor`).  scale: of the noise.  summed: below
    this expectation the Poisson distribution is summed; counts less likely than `least` use the
    normal distribution.
    """

    counts: Vector
    noise: Matrix
    factor: Vector
    scale: float
    summed: float
    least: float


class Near(NamedTuple):
    """Precomputed parts of the scores of families near a fit.

    cells: expectation, effective rows, and expectation times slope (rows) of each cell (column).
    places: level of each column (row) in each cell.  levels: number of levels of each column.
    code, room: work arrays with one number per cell, and with three numbers per configuration of a
    family.
    """

    cells: Matrix
    places: Integers
    levels: Integers
    code: Integers
    room: Matrix
