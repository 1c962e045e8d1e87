"""G² and χ² on random blocks of the rows, aggregated so that one record matters little.

One record is in one block, so it changes one block's p-value.  Two ways to make the same decision
from the p-values of an odd number of blocks: the *votes*, how many blocks find the pair
independent, which change by at most 1; and the *median* p-value, with noise scaled to its smooth
sensitivity (Wang, Pang & Song 2020, Appendix F and Algorithm 6).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, xlogy

from privcore.counts import CountSource

Vector = NDArray[np.float64]
Tables = NDArray[np.int64]


def block_p_values(source: CountSource, base: str, x: int, y: int, given: Sequence[int]) -> Vector:
    """p-value of x and y given columns in each block, shape (blocks,).

    source: rows with their block as the last column (`CountSource.blocked`).
    base: "g2" or "chi2".  1 where a block has no table to test (degrees of freedom 0).
    """
    x, y = (x, y) if x < y else (y, x)
    blocks = source.levels[-1]
    columns = (len(source.levels) - 1, *sorted(given), x, y)
    tables = source.table(columns)
    tables = tables.reshape(blocks, -1, *tables.shape[-2:])
    statistic = (_g_squared if base == "g2" else _chi_squared)(tables)
    rows = (tables.sum(axis=3) > 0).sum(axis=2)
    across = (tables.sum(axis=2) > 0).sum(axis=2)
    degrees = (np.maximum(rows - 1, 0) * np.maximum(across - 1, 0)).sum(axis=1)
    tails = chdtrc(np.maximum(degrees, 1), statistic)
    return np.asarray(np.where(degrees > 0, tails, 1.0))


def votes(p_values: Vector, level: float) -> float:
    """How many blocks find the pair independent: p at least the significance level."""
    return float((p_values >= level).sum())


def _g_squared(tables: Tables) -> Vector:
    """As `frequencies.g_squared`, per block; tables (blocks, strata, x, y)."""
    counts = tables.astype(np.float64)
    rows, columns = counts.sum(axis=3), counts.sum(axis=2)
    totals = rows.sum(axis=2)
    sums = xlogy(counts, counts).sum(axis=(1, 2, 3)) + xlogy(totals, totals).sum(axis=1)
    sums -= xlogy(rows, rows).sum(axis=(1, 2)) + xlogy(columns, columns).sum(axis=(1, 2))
    return np.asarray(np.maximum(2.0 * sums, 0.0))


def _chi_squared(tables: Tables) -> Vector:
    """As `frequencies.chi_squared`, per block; tables (blocks, strata, x, y)."""
    counts = tables.astype(np.float64)
    rows = counts.sum(axis=3, keepdims=True)
    columns = counts.sum(axis=2, keepdims=True)
    totals = counts.sum(axis=(2, 3), keepdims=True)
    expected = rows * columns / np.where(totals > 0, totals, 1.0)
    occurs = expected > 0
    deviation = np.where(occurs, counts - expected, 0.0)
    return np.asarray((deviation * deviation / np.where(occurs, expected, 1.0)).sum(axis=(1, 2, 3)))
