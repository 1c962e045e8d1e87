"""The distance score of EM-PC: how many records stand between a test and another verdict.

Xu, Yuan & Wu 2017, Equation 5 is the smallest number of records to change; the authors'
code removes records greedily instead.  The result is not a distance: one replaced record can
change it by 8 (docs/proofs/em_pc.md), which is why only the published form uses it.  A compiled
kernel goes the same way on a stratum at a time; of equal gains both take the first cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, xlog1py, xlogy

from privcore.independence.frequencies import degrees_of_freedom, g_squared
from privcore.independence.order_scan import critical_values
from privcore.kernels import compiled

Tables = NDArray[np.int64]

# Far from the boundary, this share of the removals so far is removed at once, so that thousands
# of removals take a few hundred steps; the last step is halved until it is exact.
_STRIDE = 32
# Above these degrees of freedom numpy does it.
_DEGREES = 4096
# What a removal costs in numpy, in visits of a row.
_VISITS = 30_000


def greedy_distance(tables: Tables, level: float) -> int:
    """Signed number of removals after which G²'s p-value crosses `level`.

    Positive where the pair counts as independent (p ≥ level).  Each removal is the one that moves
    G² most towards the boundary.  If it is never crossed, the number of records that could go.
    """
    if kernels := compiled.ready():
        strata, rx, ry = tables.shape
        # Few sizes, so that critical values are made once for most tables.
        size = 1 << int(strata * (rx - 1) * (ry - 1)).bit_length()
        critical = critical_values(level, min(size, _DEGREES))
        left = np.array(tables, dtype=np.int64, order="C")
        distance, clear = kernels.greedy_removals(left, critical, _STRIDE)
        if clear:
            return int(distance)
    return _in_numpy(tables, level)


def _in_numpy(tables: Tables, level: float) -> int:
    left = tables.copy()
    independent = _independent(left, level)
    removed = 0
    while left.sum() > 2:
        compiled.note(_VISITS)
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
    rows, columns, totals = (
        np.broadcast_to(tables.sum(axis=axes, keepdims=True), tables.shape)
        for axes in (2, 1, (1, 2))
    )
    of_rows, of_columns, of_totals = _drop(rows), _drop(columns), _drop(totals)
    gain = (_drop(tables) + of_totals) - (of_rows + of_columns)
    # Equal counts cancel, so that cells that gain the same have the same bits.
    gain = np.where(tables == rows, of_totals - of_columns, gain)
    gain = np.where(tables == columns, of_totals - of_rows, gain)
    return np.asarray(2.0 * gain)


def _drop(counts: Tables) -> NDArray[np.float64]:
    """(n − 1) ln(n − 1) − n ln n, and 0 at n = 0; without differences of large numbers."""
    values = np.maximum(counts, 1).astype(np.float64)
    return np.asarray(xlog1py(values - 1, -1 / values) - xlogy(1, values))
