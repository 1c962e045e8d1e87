"""Tables with fixed margins by iterative proportional fitting (Deming & Stephan 1940).

Starting from equal probabilities, the fitting leads to the distribution of maximum entropy with
these margins, a log-linear model with one term per margin (Darroch & Ratcliff 1972).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore import kernels
from privcore.arrays import Integers, Matrix

Axes = tuple[int, ...]
# Fitting ends when the margins are this close, or after this number of rounds: margins that were
# corrected one by one may be inconsistent.
_ENOUGH = 1e-5
_MOST_ROUNDS = 40
LIMITS = (_ENOUGH, _MOST_ROUNDS)


def fitted(start: Matrix, margins: Mapping[Axes, Matrix]) -> Matrix:
    """The table with the given margins that is nearest to `start` in relative entropy.

    margins: the margin for each tuple of ascending axes; the sum of each margin is 1.
    """
    cells, layout = start.flatten(), layout_of(start.shape, tuple(margins))
    wanted = np.concatenate([margin.reshape(-1) for margin in margins.values()])
    kernels.margins.fit_margins(cells, *layout, wanted, *LIMITS)
    return cells.reshape(start.shape)


def margin(table: Matrix, axes: Axes) -> Matrix:
    """The margin of a table for these axes: sums over all other axes."""
    others = tuple(axis for axis in range(table.ndim) if axis not in axes)
    return np.asarray(table.sum(axis=others))


def nearest_probabilities(counts: Matrix, least: float) -> Matrix:
    """The table of probabilities, each at least `least`, that is nearest to the counts.

    The counts are divided by their sum and compared with the table by least squares. The
    probability added to small cells is taken evenly from all other cells, so that the sum is 1.
    """
    flat = counts.reshape(-1) / counts.sum() - least
    total = 1 - least * flat.size
    ordered = np.sort(flat)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, flat.size + 1)
    over = excess[np.flatnonzero(ordered > excess)[-1]]
    return np.asarray((np.maximum(flat - over, 0.0) + least).reshape(counts.shape))


class Layout(NamedTuple):
    """The layout of a table's margins.

    levels: number of levels of each axis. members: for each margin (row) and axis (column), whether
    the margin has this axis. starts: offset of the first cell of each margin, then the end of the
    last margin.
    """

    levels: Integers
    members: NDArray[np.bool_]
    starts: Integers


@lru_cache(maxsize=4096)
def layout_of(shape: tuple[int, ...], margins: tuple[Axes, ...]) -> Layout:
    sizes = [math.prod(shape[axis] for axis in axes) for axes in margins]
    members = [[axis in axes for axis in range(len(shape))] for axes in margins]
    return Layout(np.array(shape, np.int64), np.array(members), np.cumsum([0, *sizes]))
