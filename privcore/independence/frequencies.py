"""The statistics G² and χ², summed over strata, and their degrees of freedom.

Degrees of freedom are the sum of (r_b − 1)(c_b − 1) over the strata b, where r_b and c_b count only
the levels that occur in stratum b, so that empty rows and columns do not weaken the test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Tables = NDArray[np.int64]
Values = NDArray[np.float64]


def g_squared_of(tables: Tables) -> Values:
    """G² = 2 Σ n_xyb ln(n_xyb / expected), over the last three axes (strata, x, y); at least 0."""
    counts = tables.astype(np.float64)
    occurs = counts > 0
    # Logarithms of ratios near 1: sums of n ln n would cancel to a few digits near independence.
    ratios = np.divide(counts, _expected(counts), out=np.ones_like(counts), where=occurs)
    return np.asarray(np.maximum(2.0 * (counts * np.log(ratios)).sum(axis=(-3, -2, -1)), 0.0))


def chi_squared_of(tables: Tables) -> Values:
    """χ² = Σ (n_xyb − expected)² / expected, over the last three axes (strata, x, y).

    Cells with expectation 0 are ignored.
    """
    counts = tables.astype(np.float64)
    expected = _expected(counts)
    occurs = expected > 0
    deviation = np.where(occurs, counts - expected, 0.0)
    parts = deviation * deviation / np.where(occurs, expected, 1.0)
    return np.asarray(parts.sum(axis=(-3, -2, -1)))


def _expected(counts: Values) -> Values:
    """Row total times column total over the stratum's total; 0 in empty strata."""
    rows = counts.sum(axis=-1, keepdims=True)
    columns = counts.sum(axis=-2, keepdims=True)
    totals = counts.sum(axis=(-2, -1), keepdims=True)
    return np.asarray(rows * columns / np.where(totals > 0, totals, 1.0))


def degrees_of(tables: Tables) -> NDArray[np.int64]:
    """Degrees of freedom, Σ_b (r_b − 1)(c_b − 1), over the last three axes (strata, x, y)."""
    rows = (tables.sum(axis=-1) > 0).sum(axis=-1)
    columns = (tables.sum(axis=-2) > 0).sum(axis=-1)
    return np.asarray((np.maximum(rows - 1, 0) * np.maximum(columns - 1, 0)).sum(axis=-1))


def g_squared(tables: Tables, n: int) -> float:
    """`g_squared_of` for one table of shape (strata, x, y)."""
    return float(g_squared_of(tables))


def chi_squared(tables: Tables, n: int) -> float:
    """`chi_squared_of` for one table of shape (strata, x, y)."""
    return float(chi_squared_of(tables))


def degrees_of_freedom(tables: Tables) -> int:
    """`degrees_of` for one table of shape (strata, x, y)."""
    return int(degrees_of(tables))
