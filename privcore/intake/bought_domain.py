"""Domains bought from the rows with noise.

Splits the ε and δ of a bought domain over its columns, using public facts alone.

The number of rows and the columns used are public, as are the kind of each column, its number of
intervals, and whether its missing values have a level.

Releases the levels, bounds and cut points of a table's columns with noise ("buys" them).

The result is a valid domain for any rows: values too rare to be released become "(other)", and
numbers come from a public grid.  Everything after the noise is post-processing.

A table whose levels, bounds and cut points are not public until a domain is bought.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from privcore.arrays import Vector
from privcore.data import Column, Dataset
from privcore.data.discretise import MAX_INTERVALS
from privcore.data.model import BOUGHT, OpenQuestion, code_type
from privcore.errors import DataError, ParameterError
from privcore.intake import Missing, RawTable, build_dataset
from privcore.intake.coding import (
    DROPPED,
    column_of,
    refused_gaps,
    used_columns,
)
from privcore.intake.numbers_and_dates import PLAIN
from privcore.intake.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema, parse_numbers
from privcore.privacy.accounting.composition import Event, rho_for
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.selection import (
    StableHistogram,
    cut_utilities,
    quantile_utilities,
    select,
)
from privcore.releases.private_domain import PROOF, PlannedPurchase, Purchase, UnboughtTable
from privcore.text import short

# Most levels of a column that are released, in addition to the reserved ones.
MOST_LEVELS = 10
# Share of δ for values that occur in one row; the rest is for the composition.
_HIDING = 0.5
# Least ε, δ and ρ: with less, the noise would far exceed any number of rows.
_LEAST = 1e-15


@dataclass(frozen=True)
class DomainPlan:
    """The steps of one purchase; together they are (epsilon, delta)-DP.

    rows: number of rows of the table.  columns: schemas of the columns to be bought.  histogram:
    the mechanism for each column with levels, None if there is no such column.  hiding: δ per
    column with levels, for values that occur in one row.  rho: ρ per column.
    """

    epsilon: float
    delta: float
    rows: int
    columns: tuple[ColumnSchema, ...]
    histogram: StableHistogram | None
    hiding: float
    rho: float
    proof = PROOF

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to be bought."""
        return tuple(column.name for column in self.columns)

    def selection_epsilon(self, column: ColumnSchema) -> float:
        """ε of each selection for a numeric column by the exponential mechanism (ρ = ε²/8)."""
        # Slightly less, so that rounding never makes the steps' ρ exceed the column's.
        return math.sqrt(8 * self.rho / selections(column)) * (1 - 1e-12)

    @property
    def events(self) -> tuple[Event, ...]:
        """The steps as listed in certificates, so that others can check them."""
        steps = []
        if self.histogram is not None:
            levelled = sum(column.kind != "continuous" for column in self.columns)
            rho = 1 / self.histogram.sigma**2
            steps.append(Event("zcdp", rho, levelled, self.hiding))
        steps += [
            Event("exponential", self.selection_epsilon(column), selections(column))
            for column in self.columns
            if column.kind == "continuous"
        ]
        return tuple(steps)


def selections(column: ColumnSchema) -> int:
    """Number of selections for a numeric column: one per inner cut point, or one per bound."""
    return 2 if column.bins is None else column.bins - 1


def plan_domain(
    columns: Sequence[ColumnSchema], rows: int, epsilon: float, delta: float
) -> DomainPlan:
    """Split (ε, δ) evenly over the columns to be bought.

    columns: schemas without levels, bounds or cut points.
    Raises ParameterError for ε and δ that are impossible or too small; DataError if there are no
    columns, if a column already has levels, bounds or cut points, and for impossible numbers of
    intervals.
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError("domain-epsilon-not-positive", epsilon=epsilon)
    if not 0 < delta < 1:
        raise ParameterError("domain-delta-too-large", delta=delta)
    if not columns:
        raise DataError("every-column-already-levels-bounds-there")
    for column in columns:
        _check(column)
    levelled = sum(column.kind != "continuous" for column in columns)
    hiding = _HIDING * delta / levelled if levelled else 0.0
    # The thresholds' share, as it adds up, with a margin for the rounding of the sum.
    left = (delta - hiding * levelled) * (1 - 1e-12)
    enough = min(epsilon, delta) > _LEAST
    rho = rho_for(epsilon, left) / len(columns) * (1 - 1e-12) if enough else 0.0
    if not rho > _LEAST:
        raise ParameterError("domain-too-poor", epsilon=epsilon, delta=delta, number=len(columns))
    histogram = StableHistogram.proven(rho, hiding) if levelled else None
    return DomainPlan(epsilon, delta, rows, tuple(columns), histogram, hiding, rho)


def _check(column: ColumnSchema) -> None:
    name = short(column.name)
    if column.has_domain:
        raise DataError("column-already-levels-bounds", name=name)
    bins = column.bins if column.kind == "continuous" else None
    if bins is not None and not 2 <= bins <= MAX_INTERVALS:
        raise DataError(
            "column-cut-into-intervals", name=name, bins=bins, max_intervals=MAX_INTERVALS
        )


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


@dataclass(frozen=True, eq=False)
class StatedTable(UnboughtTable):
    """A table in which the levels, bounds or cuts of some or all columns are not yet public.

    schema: schemas of the columns used; for a column to be bought, only its kind, `bins` and
    `missing` are public.  cells: the cells of these columns as text, shape (n, p); in a column of
    numbers, a cell without a number is missing.  missing: as for `build_dataset`.  purchase: the
    budget of the domain.  notes: as for a `Dataset`.
    """

    name: str
    schema: tuple[ColumnSchema, ...]
    cells: pd.DataFrame
    missing: Missing
    purchase: Purchase
    notes: tuple[str, ...] = ()
    true_edges: tuple[tuple[str, str], ...] | None = None
    questions: tuple[OpenQuestion, ...] = ()
    most_levels = MOST_LEVELS

    @classmethod
    def state(
        cls,
        raw: RawTable,
        schema: Sequence[ColumnSchema],
        *,
        name: str,
        purchase: Purchase,
        missing: Missing = "refuse",
        true_edges: tuple[tuple[str, str], ...] | None = None,
    ) -> StatedTable:
        """Read a table as `build_dataset` does, except for the columns to be bought.

        In a column of numbers, a cell without a finite number is missing.  With "level", every
        column to be bought that will have levels or cut points gets a level for missing values,
        even if none is missing.
        Raises the errors of `build_dataset`, and ParameterError for values missing at random and
        for units with several rows, because a purchase protects one row.  All errors are raised
        before anything is charged: once a domain is bought, `with_domain` succeeds for any rows.
        """
        if missing == "available":
            raise ParameterError("domain-not-for-missing")
        if raw.unit.rows > 1:
            raise ParameterError(
                "bought-domain-protects-one-row-but", noun=raw.unit.noun, rows=raw.unit.rows
            )
        used = used_columns(schema, raw.names, missing, raw.unit)
        cells = pd.DataFrame({column.name: column.read(raw.cells(column)) for column in used})
        used = [replace(column, date=None, writing=PLAIN) for column in used]
        for column in used:
            if column.kind == "continuous":
                cells.loc[np.isnan(cell_numbers(cells[column.name])), column.name] = None
        if missing == "level":
            used = [_with_gaps(column) for column in used]
        strict = [column.name for column in used if not column.has_missing_level]
        gaps = {str(k): int(v) for k, v in cells[strict].isna().sum().items() if v}
        if gaps and missing == "refuse":
            raise refused_gaps(gaps)
        if missing == "drop":
            cells = cells.dropna(subset=strict)
            if len(cells) < 2:
                raise DataError("all-rows-dropped", rows=len(cells))
        # From the setting alone: whether there were any is private.
        notes = (DROPPED,) if missing == "drop" and strict else ()
        cells = cells.reset_index(drop=True)
        stated = cls(name, tuple(used), cells, missing, purchase, notes, true_edges, raw.questions)
        if not stated.bought:
            raise DataError("every-column-of-schema-already-levels")
        # Raises errors about columns that already have levels or bounds.
        stated.with_domain([_simplest(column) for column in stated.bought])
        return stated

    @property
    def n(self) -> int:
        return len(self.cells)

    @property
    def bought(self) -> tuple[ColumnSchema, ...]:
        """The columns whose levels, bounds or cut points are to be bought."""
        return tuple(column for column in self.schema if not column.has_domain)

    @property
    def caveats(self) -> tuple[str, ...]:
        """Sentences that limit the guarantee, as for a `Dataset` with public levels and bounds."""
        return self.notes

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Names of the columns whose schema the owner has not confirmed."""
        return tuple(column.name for column in self.schema if not column.declared)

    def canonical(self) -> Iterator[bytes]:
        """Yields column names and rows in a canonical order, to recognise the same data again."""
        names = sorted(self.cells.columns)
        cells = self.cells[names].astype(object)
        rows = cells.where(cells.notna(), None).itertuples(index=False, name=None)
        for row in (names, *sorted(rows, key=repr)):
            yield (json.dumps(list(row)) + "\n").encode()

    @property
    def bought_cells(self) -> Mapping[str, pd.Series[Any]]:
        """The cells of each column that is to be bought."""
        return {column.name: self.cells[column.name] for column in self.bought}

    def plan(self, epsilon: float, delta: float) -> PlannedPurchase:
        """As `plan_domain` does for the columns to be bought, with the same errors."""
        return plan_domain(self.bought, self.n, epsilon, delta)

    def buy(self, plan: PlannedPurchase, noise: NoiseSource) -> Dataset:
        """Buy the domain, and return the data set coded with this domain.

        plan: made by `plan`.
        """
        assert isinstance(plan, DomainPlan)
        return self.with_domain(buy_domain(self.bought_cells, plan, noise))

    def with_domain(self, domain: Sequence[ColumnSchema]) -> Dataset:
        """The data set under a bought domain; domain: the schemas of the bought columns.

        Values outside the levels become "(other)", and numbers outside the bounds are moved to the
        nearer bound.
        """
        known = {column.name: column for column in domain}
        dataset = build_dataset(
            RawTable(self.cells, "", ""),
            [known.get(column.name, column) for column in self.schema],
            name=self.name,
            missing=self.missing,
            true_edges=self.true_edges,
        )
        return replace(dataset, notes=self.notes, source=BOUGHT)

    def largest(self) -> Dataset:
        """A data set with n identical rows, under the largest domain that can be bought.

        The data set depends on public facts only.
        """
        domain = {column.name: _largest(column) for column in self.bought}
        columns = [column_of(domain.get(column.name, column)) for column in self.schema]
        values = tuple(_alike(column, self.n) for column in columns)
        return Dataset(self.name, tuple(columns), values, self.true_edges, BOUGHT, self.notes)


def _with_gaps(column: ColumnSchema) -> ColumnSchema:
    """A column that is to be bought, with a level for missing values if it can have one."""
    levelled = column.kind != "continuous" or column.bins is not None
    return replace(column, missing=True) if levelled and not column.has_domain else column


def _simplest(column: ColumnSchema) -> ColumnSchema:
    if column.kind != "continuous":
        return replace(column, levels=(OTHER_LEVEL, MISSING_LEVEL), declared=True)
    if column.bins is not None:
        return replace(column, bins=None, cut_points=(0.0,), declared=True)
    return replace(column, bounds=(0.0, 1.0), declared=True)


def _largest(column: ColumnSchema) -> ColumnSchema:
    simple = _simplest(column)
    if simple.levels:
        shown = tuple(f"level {k}" for k in range(1, MOST_LEVELS + 1))
        return replace(simple, levels=(*shown, OTHER_LEVEL))
    if simple.cut_points:
        parts = column.bins or 2
        return replace(simple, cut_points=tuple(map(float, range(1, parts))))
    return simple


def _alike(column: Column, rows: int) -> np.ndarray[Any, Any]:
    if column.bounds is not None:
        return np.full(rows, column.bounds[0])
    return np.zeros(rows, dtype=code_type(len(column.levels)))
