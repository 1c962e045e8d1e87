"""G² and χ² over strata.

Degrees of freedom count only the levels that occur in a stratum: (r_b − 1)(c_b − 1) summed, so
that empty rows and columns do not make a test look weaker than it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Tables = NDArray[np.int64]


def _expected(tables: Tables) -> NDArray[np.float64]:
    counts = tables.astype(np.float64)
    rows = counts.sum(axis=2, keepdims=True)
    columns = counts.sum(axis=1, keepdims=True)
    totals = counts.sum(axis=(1, 2), keepdims=True)
    expected: NDArray[np.float64] = rows * columns / totals
    return expected


def g_squared(tables: Tables, n: int) -> float:
    """G² = 2 Σ n_xyb ln(n_xyb / expected), summed over strata; never below 0."""
    counts = tables.astype(np.float64)
    rows = counts.sum(axis=2)
    columns = counts.sum(axis=1)
    totals = rows.sum(axis=1)
    # As sums of n ln n: needs no division, and empty cells contribute 0.
    total = xlogy(counts, counts).sum() + xlogy(totals, totals).sum()
    total -= xlogy(rows, rows).sum() + xlogy(columns, columns).sum()
    return max(0.0, 2.0 * float(total))


def chi_squared(tables: Tables, n: int) -> float:
    """χ² = Σ (n_xyb − expected)² / expected, over cells with a positive expectation."""
    expected = _expected(tables)
    occurs = expected > 0
    deviation = np.where(occurs, tables - expected, 0.0)
    return float((deviation * deviation / np.where(occurs, expected, 1.0)).sum())


def degrees_of_freedom(tables: Tables) -> int:
    """Σ_b (levels of x that occur − 1)(levels of y that occur − 1)."""
    rows = (tables.sum(axis=2) > 0).sum(axis=1)
    columns = (tables.sum(axis=1) > 0).sum(axis=1)
    return int(((rows - 1) * (columns - 1)).sum())
