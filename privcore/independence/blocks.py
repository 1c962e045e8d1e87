"""G² and χ² on random blocks of the rows, aggregated so that one record matters little.

One record is in one block, so it changes one block's p-value.  Two ways to make the same decision
from the p-values of an odd number of blocks: the *votes*, how many blocks find the pair
independent, which change by at most 1; and the *median* p-value, with noise scaled to its smooth
sensitivity (Wang, Pang & Song 2020, Appendix F and Algorithm 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from scipy.special import chdtrc

from privcore.arrays import Vector
from privcore.counts import MAX_CELLS, CountSource
from privcore.independence.frequencies import chi_squared_of, degrees_of, g_squared_of


def fits(source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
    """Whether `block_p_values` can be asked for: their table has all strata of every block."""
    columns = (len(source.levels) - 1, *conditioning_set, x, y)
    return prod(source.levels[c] for c in columns) <= MAX_CELLS


def block_p_values(
    source: CountSource, base: str, x: int, y: int, conditioning_set: Sequence[int]
) -> Vector:
    """p-value of x and y given columns in each block, shape (blocks,).

    source: rows with their block as the last column (`CountSource.blocked`).
    base: "g2" or "chi2".  1 where a block has no table to test (degrees of freedom 0).
    """
    x, y = (x, y) if x < y else (y, x)
    blocks = source.levels[-1]
    columns = (len(source.levels) - 1, *sorted(conditioning_set), x, y)
    tables = source.table(columns)
    tables = tables.reshape(blocks, -1, *tables.shape[-2:])
    statistic = (g_squared_of if base == "g2" else chi_squared_of)(tables)
    degrees = degrees_of(tables)
    tails = chdtrc(np.maximum(degrees, 1), statistic)
    return np.asarray(np.where(degrees > 0, tails, 1.0))


def votes(p_values: Vector, level: float) -> float:
    """How many blocks find the pair independent: p at least the significance level."""
    return float((p_values >= level).sum())
