"""Splits the ε and δ of a bought domain over its columns, using public facts alone.

The number of rows and the columns used are public, as are the kind of each column, its number of
intervals, and whether its missing values have a level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from privcore.data.discretise import MAX_INTERVALS
from privcore.errors import DataError, ParameterError
from privcore.intake.schema import ColumnSchema
from privcore.privacy.accounting.composition import Event, rho_for
from privcore.privacy.mechanisms.selection import StableHistogram
from privcore.releases.private_domain import PROOF
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
        raise ParameterError(f"The ε of a bought domain is {epsilon}; it must be above 0.")
    if not 0 < delta < 1:
        raise ParameterError(
            f"The δ of a bought domain is {delta}; it must be above 0 and below 1, because a value "
            "that only one row has may be released. If δ is 0, raise delta."
        )
    if not columns:
        raise DataError("Every column already has levels or bounds, so there is nothing to buy.")
    for column in columns:
        _check(column)
    levelled = sum(column.kind != "continuous" for column in columns)
    hiding = _HIDING * delta / levelled if levelled else 0.0
    # The thresholds' share, as it adds up, with a margin for the rounding of the sum.
    left = (delta - hiding * levelled) * (1 - 1e-12)
    enough = min(epsilon, delta) > _LEAST
    rho = rho_for(epsilon, left) / len(columns) * (1 - 1e-12) if enough else 0.0
    if not rho > _LEAST:
        raise ParameterError(
            f"ε = {epsilon:g} and δ = {delta:g} are too small for the levels and bounds of "
            f"{len(columns)} columns; give the domain a larger share."
        )
    histogram = StableHistogram.proven(rho, hiding) if levelled else None
    return DomainPlan(epsilon, delta, rows, tuple(columns), histogram, hiding, rho)


def _check(column: ColumnSchema) -> None:
    name = short(column.name)
    if column.has_domain:
        raise DataError(f"Column {name!r} already has levels or bounds; do not buy them.")
    bins = column.bins if column.kind == "continuous" else None
    if bins is not None and not 2 <= bins <= MAX_INTERVALS:
        raise DataError(
            f"Column {name!r} is to be cut into {bins} intervals; choose from 2 to {MAX_INTERVALS}."
        )
