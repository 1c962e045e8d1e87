"""A table whose levels, bounds and cut points are not public until a domain is bought."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from privcore.data import Column, Dataset
from privcore.data.model import BOUGHT, code_type
from privcore.data.questions import OpenQuestion
from privcore.errors import DataError, ParameterError
from privcore.intake import Missing, RawTable, build_dataset, refusals
from privcore.intake.coding import DROPPED, column_of, used_columns
from privcore.intake.private_domain import DomainPlan, buy_domain, plan_domain
from privcore.intake.private_domain.buying import cell_numbers
from privcore.intake.private_domain.plan import MOST_LEVELS
from privcore.intake.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema
from privcore.intake.writing import PLAIN
from privcore.privacy.mechanisms import NoiseSource
from privcore.releases.private_domain import PlannedPurchase, Purchase, UnboughtTable


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
            raise ParameterError(
                "A bought domain does not support values missing at random; make missing values a "
                "level of their own (--missing level)."
            )
        if raw.unit.rows > 1:
            raise ParameterError(
                f"A bought domain protects one row, but here one {raw.unit.noun} has up to "
                f"{raw.unit.rows:,} rows; state levels, bounds and cut points in the schema, or "
                f"keep one row of each {raw.unit.noun}."
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
            raise DataError(refusals.gaps(gaps))
        if missing == "drop":
            cells = cells.dropna(subset=strict)
            if len(cells) < 2:
                raise DataError(refusals.too_few_left(len(cells)))
        # From the setting alone: whether there were any is private.
        notes = (DROPPED,) if missing == "drop" and strict else ()
        cells = cells.reset_index(drop=True)
        stated = cls(name, tuple(used), cells, missing, purchase, notes, true_edges, raw.questions)
        if not stated.bought:
            raise DataError(
                "Every column of the schema already has levels or bounds, so there is nothing to "
                "buy; leave out --buy-domain."
            )
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
