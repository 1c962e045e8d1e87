"""The statistics G² and χ², summed over strata, and their degrees of freedom.

Degrees of freedom are the sum of (r_b − 1)(c_b − 1) over the strata b, where r_b and c_b count only
the levels that occur in stratum b, so that empty rows and columns do not weaken the test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privcore import kernels

Tables = NDArray[np.int64]


def tested(tables: Tables, base: str) -> tuple[float, int]:
    """G² (base "g2") or χ² ("chi2") of tables of shape (strata, x, y), and degrees of freedom.

    G² = 2 Σ n_xyb ln(n_xyb / expected), and χ² = Σ (n_xyb − expected)² / expected over the cells
    with an expectation above 0.
    """
    strata, rx, ry = tables.shape
    flat, sums = plain(tables).ravel(), np.empty(rx + ry, dtype=np.int64)
    result: tuple[float, int] = kernels.tables.statistic(flat, strata, rx, ry, base == "g2", sums)
    return result


def plain(tables: Tables) -> Tables:
    """The tables in the memory layout that the kernels need."""
    if tables.dtype == np.int64 and tables.flags.carray:
        return tables
    return np.require(tables, np.int64, ("C", "W"))


def g_squared(tables: Tables, n: int) -> float:
    """G² of tables of shape (strata, x, y); at least 0."""
    return tested(tables, "g2")[0]


def chi_squared(tables: Tables, n: int) -> float:
    """χ² of tables of shape (strata, x, y)."""
    return tested(tables, "chi2")[0]


def degrees_of_freedom(tables: Tables) -> int:
    """Degrees of freedom, Σ_b (r_b − 1)(c_b − 1), of tables of shape (strata, x, y)."""
    return tested(tables, "chi2")[1]
