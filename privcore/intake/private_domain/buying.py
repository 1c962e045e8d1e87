"""Releases the levels, bounds and cut points of a table's columns with noise ("buys" them).

The result is a valid domain for any rows: values too rare to be released become "(other)", and
numbers come from a public grid.  Everything after the noise is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from privcore.arrays import Vector
from privcore.intake.private_domain.plan import MOST_LEVELS, DomainPlan
from privcore.intake.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema, parse_numbers
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.selection import cut_utilities, quantile_utilities, select

# The grid: 0, and for absolute values from 2^−30 to 2^63, 512 numbers per doubling.
_LOWEST, _HIGHEST, _STEPS = -30, 63, 512
# Number of rows outside a bound, in units of 2/ε of its selection.  It outweighs the many grid
# points beyond all rows, which would otherwise be selected.
_RANK = 13.0


def buy_domain(
    cells: Mapping[str, pd.Series[Any]], plan: DomainPlan, noise: NoiseSource
) -> list[ColumnSchema]:
    """Releases the levels, bounds or cut points of the plan's columns.

    The release is (plan.epsilon, plan.delta)-DP, and succeeds whatever the cells contain.
    cells: for each column name, plan.rows cells as text, None where missing.
    """
    return [bought_column(column, cells[column.name], plan, noise) for column in plan.columns]


def bought_column(
    column: ColumnSchema, cells: pd.Series[Any], plan: DomainPlan, noise: NoiseSource
) -> ColumnSchema:
    """Releases the levels, bounds or cut points of one of the plan's columns."""
    if column.kind == "continuous":
        numbers = cell_numbers(cells)
        return bought_numbers(column, numbers[~np.isnan(numbers)], plan, noise)
    return bought_levels(column, level_counts(cells), plan, noise)


def level_counts(cells: pd.Series[Any]) -> dict[str, int]:
    """Number of cells with each value, without missing values and names of reserved levels."""
    owner, distinct = pd.factorize(cells)
    counts = np.bincount(owner[owner >= 0], minlength=len(distinct)).tolist()
    return {
        str(value): count
        for value, count in zip(distinct, counts, strict=True)
        if value not in (MISSING_LEVEL, OTHER_LEVEL)
    }


def cell_numbers(cells: pd.Series[Any]) -> Vector:
    """The cells as floats, NaN where they hold no finite number; shape (n,)."""
    owner, distinct = pd.factorize(cells)
    # A missing cell has position −1, so it gets the last entry.
    numbers = np.append(parse_numbers(pd.Series(distinct, dtype=object)), np.nan)[owner]
    return np.where(np.isfinite(numbers), numbers, np.nan)


def bought_levels(
    column: ColumnSchema, counts: Mapping[str, int], plan: DomainPlan, noise: NoiseSource
) -> ColumnSchema:
    """Releases the levels of a column, at most `MOST_LEVELS` of them, and adds "(other)".

    Levels are sorted as text, or by number if all levels of an ordinal column are numbers.  If no
    level is released, "(missing)" is added, so that there are always at least two levels.
    """
    if plan.histogram is None:
        raise ValueError("the plan has no column with levels")
    shown = plan.histogram.shown(counts, noise)
    kept = sorted(shown, key=lambda level: (-shown[level], level))[:MOST_LEVELS]
    levels = (*_ordered(kept, column.kind), OTHER_LEVEL)
    if len(levels) < 2:
        levels = (*levels, MISSING_LEVEL)
    return replace(column, levels=levels, declared=True)


def _ordered(levels: list[str], kind: str) -> list[str]:
    if kind != "ordinal":
        return sorted(levels)
    numbers = parse_numbers(pd.Series(levels, dtype=object))
    if not np.isfinite(numbers).all():
        return sorted(levels)
    return [level for _, level in sorted(zip(numbers.tolist(), levels, strict=True))]


def bought_numbers(
    column: ColumnSchema, numbers: Vector, plan: DomainPlan, noise: NoiseSource
) -> ColumnSchema:
    """Releases cut points that divide the numbers evenly, or bounds with few numbers outside.

    numbers: finite, shape (m,).  For cut points, m may be smaller than the number of rows.
    """
    grid, epsilon = public_grid(), plan.selection_epsilon(column)
    if column.bins is not None:
        parts = column.bins
        chosen = [
            # Utilities of sensitivity `parts`.
            select(cut_utilities(numbers, part, parts, grid), epsilon / parts, noise, "exponential")
            for part in range(1, parts)
        ]
        cuts = tuple(float(grid[k]) for k in sorted(set(chosen)))
        return replace(column, bins=None, cut_points=cuts, declared=True)
    rank = max(min(plan.rows // 4, math.ceil(2 * _RANK / epsilon)), 1)
    first, last = sorted(
        select(_ranked(numbers, share, plan.rows, grid), epsilon, noise, "exponential")
        for share in (rank / plan.rows, (plan.rows + 1 - rank) / plan.rows)
    )
    if first == last:
        first, last = max(first - 1, 0), min(last + 1, grid.size - 1)
    return replace(column, bounds=(float(grid[first]), float(grid[last])), declared=True)


def rows_off(column: ColumnSchema, plan: DomainPlan) -> int:
    """Bound on the rank error of a bought cut point, as a number of rows.

    The bound holds with probability at least 0.9.  It is computed from public facts alone
    (McSherry & Talwar 2007, for the exponential mechanism).
    """
    grid = public_grid().size
    return math.ceil(2 * math.log(grid / 0.1) / plan.selection_epsilon(column))


def _ranked(numbers: Vector, share: float, rows: int, grid: Vector) -> Vector:
    """`quantile_utilities` of one number per row; missing numbers are set to 0."""
    whole = np.concatenate((numbers, np.zeros(rows - numbers.size)))
    return quantile_utilities(whole, min(share, 1.0), grid)


@cache
def public_grid() -> Vector:
    """The grid from which bounds and cut points are chosen, increasing; independent of the rows."""
    mantissas = np.arange(_STEPS, 2 * _STEPS) / _STEPS
    powers = np.arange(_LOWEST, _HIGHEST)[:, None]
    positive = np.append(np.ldexp(mantissas, powers).ravel(), 2.0**_HIGHEST)
    grid = np.concatenate((-positive[::-1], [0.0], positive))
    grid.flags.writeable = False
    return grid
