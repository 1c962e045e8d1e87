"""Groups of arguments for the compiled loops.  This module does not load numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Integers, Matrix, Vector


class Packed(NamedTuple):
    """Unique rows of several projections of a data set.

    The projections are in order of size, and the last projection has all columns.

    codes: levels in all projections as a flat array, column after column. starts: position in
    `codes` at which each projection begins. sizes: number of rows of each projection. weights:
    multiplicities of the rows of all projections as a flat array. weight_starts: position in
    `weights` at which each projection begins. places: position of each column in each projection,
    -1 if absent, shape (projections, p). levels: number of levels of each column, shape (p,).
    """

    codes: NDArray[np.uint16]
    starts: Integers
    sizes: Integers
    weights: Integers
    weight_starts: Integers
    places: Integers
    levels: Integers


class Noisy(NamedTuple):
    """Noisy counts of cells, and precomputed parts of their likelihoods; see `full_table`.

    noise: for each cell (row) and each true count (column), the probability of the noise between
    the true and the noisy count, divided by exp(`factor`).  scale: scale of the noise.  summed:
    expectation below which the Poisson distribution is summed.  least: likelihood below which a
    normal distribution is used instead.
    """

    counts: Vector
    noise: Matrix
    factor: Vector
    scale: float
    summed: float
    least: float


class Near(NamedTuple):
    """Precomputed parts of the scores of families near a fit.

    cells: three rows with the expectation, the effective number of rows, and the expectation times
    the slope of each cell.  places: level of each column (row) in each cell.  levels: number of
    levels of each column.  code: work array with one number per cell.  room: work array with three
    numbers per configuration of a family.
    """

    cells: Matrix
    places: Integers
    levels: Integers
    code: Integers
    room: Matrix
