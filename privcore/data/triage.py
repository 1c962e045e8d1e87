"""What to do with each column of a raw table: a proposal, its reason, and other ways.

A proposal looks at the rows, so that nothing of it is covered by a guarantee until its owner says
that it is public, or it is bought.  No sentence quotes a cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pandas as pd

from privcore.arrays import Vector
from privcore.data.dates import DateReading, Part, date_format
from privcore.data.discretise import proposed_intervals
from privcore.data.model import MAX_LEVELS, Kind
from privcore.data.reading import RawTable
from privcore.data.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema, parse_numbers
from privcore.errors import DataError, ParameterError
from privcore.text import percent, short

# A column with more levels than this is not used as it is.
MANY_LEVELS = 50
# Levels that are kept where rare ones are merged.
KEPT_LEVELS = 12
# Numbers with at most so many values are ordered levels.
FEW_VALUES = 20
# A column with fewer cells than this part of the rows is left out.
MOST_MISSING = 0.5
# Of a column of which one level has more of the rows than this, little can be seen.
ONE_LEVEL = 0.95
# Distinct among present cells, above which a column names its rows.
_NAMING = 0.9
# Text among numbers, as part of the rows, that counts as missing.
_STRAY = 0.05
# Part of the rows that the most frequent levels must have to be worth keeping.
_WORTH = 0.3
# Fewest cells of which it can be said that all are distinct.
_ENOUGH = 20
_PANDAS_INDEX = {"Unnamed: 0", "__index_level_0__"}
_IDENTIFIER = re.compile(r"(^|[_\W]|(?<=[a-z]))(id|ids|key|uuid|guid|index|number|no|nr)$", re.I)


@dataclass(frozen=True)
class Way:
    """One way to read a column.

    label: in a few words, such as "months" or "leave out".
    """

    label: str
    schema: ColumnSchema


@dataclass(frozen=True)
class Proposal:
    """What is proposed for a column, and why.

    problem: in a word or two, such as "identifier"; empty if the column is used as it stands.
    reason: one sentence.  ways: what may be done; the first is proposed.
    """

    name: str
    problem: str
    reason: str
    ways: tuple[Way, ...]

    @property
    def schema(self) -> ColumnSchema:
        """The column as proposed."""
        return self.ways[0].schema

    @property
    def used(self) -> bool:
        return self.schema.include


def triage(raw: RawTable, intervals: int | None = None) -> list[Proposal]:
    """A proposal for each column, in the table's order.

    intervals: for columns of numbers; None for `proposed_intervals` of the columns that are used.
    """
    names = [str(name) for name in raw.frame.columns]
    return proposals_of(
        names, len(raw.frame), lambda name, parts: propose(name, raw.frame[name], parts), intervals
    )


def proposals_of(
    names: Sequence[str],
    rows: int,
    proposed: Callable[[str, int], Proposal],
    intervals: int | None,
) -> list[Proposal]:
    """The proposal for each column of a table, wherever its cells are.

    proposed: that for a column, by its name and the number of intervals.
    """
    first = [proposed(name, intervals or 2) for name in names]
    if intervals is not None:
        return first
    # What is left out spreads no rows and no noise.
    parts = proposed_intervals(rows, max(sum(proposal.used for proposal in first), 1))
    return [
        proposed(proposal.name, parts)
        if any(way.schema.kind == "continuous" for way in proposal.ways)
        else proposal
        for proposal in first
    ]


def proposed_schema(raw: RawTable, intervals: int | None = None) -> list[ColumnSchema]:
    """The columns as `triage` proposes them; those that are left out have include=False."""
    return [proposal.schema for proposal in triage(raw, intervals)]


def number_columns(raw: RawTable) -> list[ColumnSchema]:
    """The columns that hold numbers and nothing else, as numbers or as ordered levels."""
    columns = []
    for name in raw.names:
        counts = raw.frame[name].value_counts()
        counts = counts[counts > 0]
        distinct = pd.Series(list(counts.index), dtype=object)
        numbers = parse_numbers(distinct)
        if len(numbers) and np.isfinite(numbers).all():
            ways = _numeric(name, distinct, counts.to_numpy().astype(np.float64), numbers, 2).ways
            # The last way but leaving it out: a number that is not cut.
            columns += [way.schema for way in ways if way.schema.include][-1:]
    return columns


def choose(
    proposals: Sequence[Proposal],
    columns: Collection[str] | None = None,
    drop: Collection[str] = (),
) -> list[Proposal]:
    """The proposals for the columns that somebody wants.

    columns: to be used, even where it is proposed to leave them out; None for those proposed.
    drop: to be left out.
    Raises DataError for a name that is no column, and for a wanted column that has no usable form.
    """
    names = [proposal.name for proposal in proposals]
    for wanted in (*(columns or ()), *drop):
        if wanted not in names:
            listed = ", ".join(short(name, 20) for name in names)
            raise DataError(f"There is no column {short(wanted)!r}; there are {listed}.")
    chosen = []
    for proposal in proposals:
        asked = columns is not None and proposal.name in columns
        if proposal.name in drop or (columns is not None and not asked):
            chosen.append(replace(proposal, problem="", ways=(_leave_out(proposal.name),)))
            continue
        ways = [way for way in proposal.ways if way.schema.include]
        if asked and not ways:
            raise DataError(
                f"Column {short(proposal.name)!r} cannot be used ({proposal.problem}); leave it "
                "out."
            )
        chosen.append(replace(proposal, ways=(ways[0],)) if asked else proposal)
    unused = left_out(chosen)
    if unused and sum(proposal.used for proposal in chosen) < 2:
        first, reason = next(iter(unused.items()))
        raise DataError(
            f"Fewer than 2 of the {len(chosen)} columns can be used; {short(first)!r}, for "
            f"example, is left out ({reason.rstrip('.')})."
        )
    return chosen


def left_out(proposals: Sequence[Proposal]) -> dict[str, str]:
    """Why columns are not used, by name; those that were not wanted have no reason."""
    return {p.name: f"{p.problem}: {p.reason}" for p in proposals if not p.used and p.problem}


def merge_rare(raw: RawTable, schema: Sequence[ColumnSchema], rows: int) -> list[ColumnSchema]:
    """The schema with levels of nominal columns that fewer than `rows` rows have in "(other)".

    Raises ParameterError unless rows is at least 2.
    """
    if rows < 2:
        raise ParameterError(f"merge-rare is {rows}; it must be at least 2.")
    merged = []
    for column in schema:
        if column.include and column.kind == "nominal" and column.levels:
            counts = column.read(raw.frame[column.name]).value_counts()
            rare = {level for level in column.levels if counts.get(level, 0) < rows}
            kept = [level for level in column.levels if level not in rare]
            if len(rare - {OTHER_LEVEL, MISSING_LEVEL}) > 0:
                own = (level for level in kept if level != OTHER_LEVEL)
                column = replace(column, levels=(*own, OTHER_LEVEL))
        merged.append(column)
    return merged


def propose(name: str, cells: pd.Series[Any], intervals: int) -> Proposal:
    """A proposal for one column; intervals: into which numbers are cut."""
    return propose_counted(name, cells.value_counts(), len(cells), intervals)


def propose_counted(
    name: str, counts: pd.Series[Any], rows: int, intervals: int, every: int = 1
) -> Proposal:
    """A proposal for a column whose cells are counted.

    counts: rows of each text that a cell holds, by the text.  rows: of the column, with those that
    have no value.  every: of how many rows of the table one is among them.
    """
    # Which levels are the most frequent hangs on no order of the rows.
    counts = counts[counts > 0].sort_index().sort_values(ascending=False, kind="stable")
    distinct, present = pd.Series(list(counts.index), dtype=object), int(counts.sum())
    if present == 0:
        return _left_out(name, "empty", "No row has a value, so there is nothing to test.")
    numbers = parse_numbers(distinct)
    rows_of: Vector = counts.to_numpy().astype(np.float64)
    numeric = bool(np.isfinite(numbers).all())
    form = None if numeric else date_format(distinct)
    # Some text among numbers does not make names of them.
    mixed = not numeric and _mostly_numbers(numbers, rows_of)
    gaps = present < rows
    if len(counts) == 1 and not gaps:
        return _left_out(name, "constant", "Every row has the same value.")
    if form is not None:
        proposal = _date(name, form, distinct)
    elif not mixed and _names_rows(name, counts, numbers if numeric else None, every):
        proposal = _named_rows(name, distinct)
    elif numeric:
        proposal = _numeric(name, distinct, rows_of, numbers, intervals)
    else:
        proposal = _text(name, distinct, rows_of, numbers, intervals)
    if gaps:
        proposal = _with_gaps(proposal, (rows - present) / rows, len(counts) == 1)
    return _of_one_level(proposal, distinct, rows_of, rows)


def _of_one_level(
    proposal: Proposal, distinct: pd.Series[Any], counts: Vector, rows: int
) -> Proposal:
    """The proposal, with a word on it where one level as proposed has nearly all rows.

    counts: rows of each distinct cell.
    """
    share = _largest_level(proposal.schema, distinct, counts) / rows if proposal.used else 0.0
    if share <= ONE_LEVEL:
        return proposal
    reason = f"One level has {percent(share)} of the rows, so little can be seen of it."
    if proposal.problem:
        reason = f"{proposal.reason} {reason}"
    return replace(proposal, problem=proposal.problem or "nearly constant", reason=reason)


def _largest_level(schema: ColumnSchema, distinct: pd.Series[Any], counts: Vector) -> float:
    """How many rows the most frequent level has; those without a value are left aside."""
    levels = schema.read(distinct)
    if schema.kind == "continuous":
        numbers = parse_numbers(levels)
        known = np.isfinite(numbers)
        parts = np.searchsorted(np.asarray(schema.cut_points), numbers[known], side="right")
        return float(np.bincount(parts, counts[known]).max())
    held = levels.where(levels.isin(schema.levels), OTHER_LEVEL)[levels.notna()]
    return float(pd.Series(counts)[held.index].groupby(held.to_numpy()).sum().max())


def named_as_identifier(name: str) -> bool:
    """Whether a column is called as identifiers are, such as patient_id."""
    return bool(_IDENTIFIER.search(name))


def _left_out(name: str, problem: str, reason: str, *ways: Way) -> Proposal:
    return Proposal(name, problem, reason, (_leave_out(name), *ways))


def _leave_out(name: str) -> Way:
    return Way("leave out", ColumnSchema(name, "nominal", include=False))


def _names_rows(name: str, counts: pd.Series[Any], numbers: Vector | None, every: int) -> bool:
    """Whether a column names its rows: nearly all of its cells are distinct.

    Whole numbers do so if they also follow on each other, or their column is called an identifier.
    """
    present = int(counts.sum())
    if name in _PANDAS_INDEX and len(counts) == present:
        return True
    if present < _ENOUGH or len(counts) < _NAMING * present:
        return False
    if numbers is None:
        return True
    whole = bool((numbers == np.round(numbers)).all())
    close = float(np.ptp(numbers)) + 1 <= 1.5 * every * len(numbers)
    return whole and (close or named_as_identifier(name))


def _named_rows(name: str, distinct: pd.Series[Any]) -> Proposal:
    words = float(distinct.map(lambda text: len(str(text).split())).mean())
    if words >= 3:
        return _left_out(name, "free text", "Nearly every row has a text of its own.")
    return _left_out(
        name, "identifier", "Nearly every row has a value of its own, as identifiers have."
    )


def _date(name: str, form: str, distinct: pd.Series[Any]) -> Proposal:
    ways = []
    for part in get_args(Part):
        reading = DateReading(form, part)
        levels = reading.levels or tuple(sorted(reading.read(distinct).dropna().unique()))
        if len(levels) > 1:
            label = {"month": "month of the year", "weekday": "day of the week"}.get(part, part)
            kind: Kind = "ordinal" if part in ("quarter", "year") else "nominal"
            schema = ColumnSchema(name, kind, levels, date=reading)
            if len(levels) <= MANY_LEVELS:
                ways.append(Way(label, schema))
    reason = "Dates have too many values to be levels; a part of each can be used."
    return Proposal(name, "date", reason, (*ways, _leave_out(name)))


def _mostly_numbers(numbers: Vector, counts: Vector) -> bool:
    """Whether text, or a number that is not finite, is a slip; counts: rows of each cell."""
    finite = np.isfinite(numbers)
    strays = float(counts[~finite].sum())
    return int(finite.sum()) > FEW_VALUES and strays <= _STRAY * float(counts.sum())


def _numeric(
    name: str, distinct: pd.Series[Any], counts: Vector, numbers: Vector, intervals: int
) -> Proposal:
    order = np.argsort(numbers, kind="stable")
    if len(numbers) <= FEW_VALUES:
        levels = tuple(str(distinct.iloc[k]) for k in order)
        return Proposal(
            name,
            "",
            f"A number with {len(levels)} values, each a level, in their order.",
            (Way("each value", ColumnSchema(name, "ordinal", levels)), _leave_out(name)),
        )
    low, high = float(numbers[order[0]]), float(numbers[order[-1]])
    if low == high or not math.isfinite(4 * max(-low, high)):
        return _left_out(name, "identifier", "Its numbers are too long to compute with.")
    low, high = _outwards(low, high)
    cuts = even_cuts(numbers[order], np.asarray(counts)[order], intervals)
    parts = len(cuts) + 1
    even = ColumnSchema(name, "continuous", bounds=(low, high), cut_points=cuts, bins=parts)
    wide = ColumnSchema(name, "continuous", bounds=(low, high), bins=intervals)
    whole = ColumnSchema(name, "continuous", bounds=(low, high))
    return Proposal(
        name,
        "",
        f"A number with {len(numbers):,} values: cut into {parts} intervals with about as many "
        "rows in each.",
        (
            Way(f"{parts} intervals, even in rows", even),
            Way(f"{intervals} intervals of equal width", wide),
            Way("as a number", whole),
            _leave_out(name),
        ),
    )


def _text(
    name: str, distinct: pd.Series[Any], counts: Vector, numbers: Vector, intervals: int
) -> Proposal:
    rows = float(counts.sum())
    if _mostly_numbers(numbers, counts):
        known = np.flatnonzero(np.isfinite(numbers))
        text = rows - float(counts[known].sum())
        proposal = _numeric(name, distinct.iloc[known], counts[known], numbers[known], intervals)
        ways = tuple(
            replace(way, schema=replace(way.schema, missing=way.schema.include))
            for way in proposal.ways
            if way.label != "as a number"
        )
        return Proposal(
            name,
            "text among numbers",
            f"{text:,.0f} of the rows have no number where the others do; they count as missing.",
            ways,
        )
    levels = tuple(sorted(str(value) for value in distinct))
    each = Way("each value", ColumnSchema(name, "nominal", levels))
    if len(levels) <= MANY_LEVELS:
        return Proposal(name, "", f"{len(levels)} levels.", (each, _leave_out(name)))
    kept = [str(value) for value in distinct.iloc[:KEPT_LEVELS]]
    share = float(counts[:KEPT_LEVELS].sum()) / rows
    merged = Way(
        f"{KEPT_LEVELS} most frequent levels, the rest merged",
        ColumnSchema(name, "nominal", (*sorted(kept), OTHER_LEVEL)),
    )
    others = (each,) if len(levels) <= MAX_LEVELS else ()
    if share < _WORTH:
        reason = f"{len(levels):,} levels, and the most frequent are {share:.0%} of the rows."
        return _left_out(name, "many levels", reason, merged, *others)
    reason = (
        f"{len(levels):,} levels are too many to test; the {KEPT_LEVELS} most frequent are "
        f"{share:.0%} of the rows."
    )
    return Proposal(name, "many levels", reason, (merged, _leave_out(name), *others))


def _with_gaps(proposal: Proposal, share: float, single: bool) -> Proposal:
    """The proposal for a column of which some cells are missing; single: it has one other value."""
    ways = tuple(
        replace(way, schema=replace(way.schema, missing=True)) if way.schema.include else way
        for way in proposal.ways
        if way.label != "as a number"
    )
    reason = (
        f"{proposal.reason} {share:.1%} of the rows have no value, which is a level of its own."
    )
    if share > MOST_MISSING and proposal.used:
        reason = f"{share:.0%} of the rows have no value."
        return Proposal(
            proposal.name,
            "mostly missing",
            reason,
            (_leave_out(proposal.name), *_without_leaving(ways)),
        )
    if not proposal.used:
        reason = proposal.reason
    problem = proposal.problem or ("one value" if single else "")
    return Proposal(proposal.name, problem, reason, ways)


def _without_leaving(ways: tuple[Way, ...]) -> tuple[Way, ...]:
    return tuple(way for way in ways if way.schema.include)


def even_cuts(values: Vector, counts: Vector, parts: int) -> tuple[float, ...]:
    """Round cut points that leave about as many rows in each interval, at least one point.

    values: distinct, increasing, shape (m,), m > 1.  counts: rows of each.
    No interval has less than about half of its even share of the rows, unless there are only two.
    """
    below = np.append(0.0, np.cumsum(counts))
    total = float(below[-1])
    share = total / parts
    cuts: list[float] = []
    start = 0.0
    while len(cuts) < parts - 1:
        # What is left is shared anew, since one value may hold more than a share.
        aim = start + (total - start) / (parts - len(cuts))
        inside = (below > start) & (below - start >= share / 2) & (total - below >= share / 2)
        candidates = np.flatnonzero(inside)
        if not candidates.size:
            break
        best = int(candidates[np.argmin(np.abs(below[candidates] - aim))])
        near = candidates[np.abs(below[candidates] - below[best]) <= share / 10]
        cuts.append(round_number(float(values[near[0] - 1]), float(values[near[-1]])))
        start = float(below[np.searchsorted(values, cuts[-1], side="left")])
    if not cuts:
        most = int(np.argmax(counts))
        at = most + 1 if most + 1 < len(values) else most
        cuts = [round_number(float(values[at - 1]), float(values[at]))]
    return tuple(cuts)


def round_number(low: float, high: float) -> float:
    """The number with the fewest digits above `low` and at most `high`."""
    for power in range(math.ceil(math.log10(max(abs(low), abs(high)))) + 1, -330, -1):
        for step in (5, 2, 1):
            # Powers of ten are exact as divisors where they are not as factors.
            unit = float(f"{step}e{power}")
            number = float(f"{(math.floor(low / unit) + 1) * unit:.15g}")
            if low < number <= high:
                return number
        if 10.0**power < (high - low) * 1e-3:
            break
    return high


def _outwards(low: float, high: float) -> tuple[float, float]:
    """Bounds with two digits of their distance that hold the given ones, low < high."""
    unit = 10.0 ** (math.floor(math.log10(high - low)) - 1)
    down, up = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    # Dividing and multiplying may leave dust such as 0.30000000000000004.
    low_text, high_text = float(f"{down:.15g}"), float(f"{up:.15g}")
    return (low_text if low_text <= low else low), (high_text if high_text >= high else high)
