"""Groups of arguments of the loops.  They use only numpy, so numba need not be loaded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Integers, Matrix, Vector


class Packed(NamedTuple):
    """Rows of several projections, fewest first; the last has all columns.

    codes: flat, column after column; starts: where each projection begins; sizes: its rows.
    weights: flat, the multiplicity of each row; weight_starts: as starts.
    places: (projections, p), the position of each column in the projection, -1 if absent.
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
    """Noisy counts of cells, and precomputed parts of their likelihoods; see `CellLikelihood`.

    noise: probability of the noise that turns each true count (columns) into that of the cell, up
    to exp(`factor`).  scale: of the noise.  summed: below this expectation the Poisson distribution
    is summed; counts less likely than `least` use the normal distribution.
    """

    counts: Vector
    noise: Matrix
    factor: Vector
    scale: float
    summed: float
    least: float


class Near(NamedTuple):
    """Precomputed parts of the scores of families near a fit.

    cells: expectation, information in rows, and expectation times slope of each cell.  places: the
    level of each column (row) in each cell.  code, room: work arrays with a number per cell, and
    three numbers per configuration.
    """

    cells: Matrix
    places: Integers
    levels: Integers
    code: Integers
    room: Matrix
