"""The distance score of EM-PC: how many records stand between a test and another verdict.

Xu, Yuan & Wu 2017, Equation 5 asks for the smallest number of records to change; the authors'
code removes records greedily instead.  The result is not a distance: one replaced record can
change it by 8 (docs/proofs/em_pc.md), which is why only the published form uses it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, xlogy

from privcore.independence.frequencies import degrees_of_freedom, g_squared

Tables = NDArray[np.int64]

# Far from the boundary, this share of the removals so far is removed at once, so that thousands
# of removals take a few hundred steps; the last step is halved until it is exact.
_STRIDE = 32


def greedy_distance(tables: Tables, level: float) -> int:
    """Signed number of removals after which G²'s p-value crosses `level`.

    Positive where the pair counts as independent (p ≥ level).  Each removal is the one that moves
    G² most towards the boundary.  If it is never crossed, the number of records that could go.
    """
    left = tables.copy()
    independent = _independent(left, level)
    removed = 0
    while left.sum() > 2:
        gain = _change(left) if independent else -_change(left)
        gain[left == 0] = -np.inf
        cell = np.unravel_index(int(np.argmax(gain)), left.shape)
        step = max(1, min(int(left[cell]) - 1, removed // _STRIDE))
        left[cell] -= step
        removed += step
        if _independent(left, level) != independent:
            while step > 1:
                # Go back half of the last step, unless that undoes the crossing.
                back = step // 2
                left[cell] += back
                if _independent(left, level) == independent:
                    left[cell] -= back
                else:
                    removed -= back
                step -= back
            break
    return removed if independent else -removed


def p_value(tables: Tables) -> float:
    """G²'s p-value; 1 where nothing can be tested."""
    degrees = degrees_of_freedom(tables)
    return float(chdtrc(degrees, g_squared(tables, 0))) if degrees > 0 else 1.0


def _independent(tables: Tables, level: float) -> bool:
    return p_value(tables) >= level


def _change(tables: Tables) -> NDArray[np.float64]:
    """By how much G² grows when one record of each cell is removed; shape of the tables."""
    cells = _drop(tables)
    rows = _drop(tables.sum(axis=2, keepdims=True))
    columns = _drop(tables.sum(axis=1, keepdims=True))
    totals = _drop(tables.sum(axis=(1, 2), keepdims=True))
    return np.asarray(2.0 * (cells - rows - columns + totals))


def _drop(counts: Tables) -> NDArray[np.float64]:
    """(n − 1) ln(n − 1) − n ln n, and 0 at n = 0."""
    values = counts.astype(np.float64)
    fewer = np.maximum(values - 1, 0)
    return np.asarray(xlogy(fewer, fewer) - xlogy(values, values))
