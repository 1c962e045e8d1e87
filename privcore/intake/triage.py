"""Proposes how to use each column of a raw table, with a reason and alternatives.

A proposal is read from the rows, so no guarantee covers it until the owner declares it public, or
buys levels and bounds instead.
"""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from privcore.data.discretise import proposed_intervals
from privcore.errors import DataError, ParameterError
from privcore.intake.proposing import Proposal, leave_out, mostly_labelled, number_column, propose
from privcore.intake.reading import RawTable
from privcore.intake.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema
from privcore.text import short

# Names that a sentence lists.
_MOST_LISTED = 20


def triage(
    raw: RawTable, intervals: int | None = None, *, values: Collection[str] = ()
) -> list[Proposal]:
    """Proposes how to use each column, in the table's order.

    intervals: number of intervals for columns of numbers; if None, `proposed_intervals` for the
    number of columns used.
    values: cells that are values although they look like codes for missing values, such as "99".
    """
    names = [str(name) for name in raw.frame.columns]

    def proposed(name: str, parts: int) -> Proposal:
        cells, labels = raw.frame[name], raw.labels.get(name, ())
        if raw.codes.get(name) and not mostly_labelled(cells, labels):
            # A number of which only a few special codes have labels, such as an age.
            cells, labels = raw.numbers(name), ()
        return propose(name, cells, parts, labels, ordered=name in raw.ordered, values=values)

    return proposals_of(names, len(raw.frame), proposed, intervals)


def proposals_of(
    names: Sequence[str],
    rows: int,
    proposed: Callable[[str, int], Proposal],
    intervals: int | None,
) -> list[Proposal]:
    """The proposal for each column of a table, whether or not the table is in memory.

    proposed: function that returns the proposal for a column, given its name and the number of
    intervals.  intervals: as for `triage`.
    """
    likely = intervals or proposed_intervals(rows, max(len(names), 1))
    first = [proposed(name, likely) for name in names]
    # The number of intervals depends only on the columns used.
    used = max(sum(proposal.used for proposal in first), 1)
    parts = intervals or proposed_intervals(rows, used)
    if parts == likely:
        return first
    return [
        proposed(proposal.name, parts)
        if any(way.schema.kind == "continuous" for way in proposal.ways)
        else proposal
        for proposal in first
    ]


def codes_of(raw: RawTable, proposals: Sequence[Proposal]) -> dict[str, tuple[int, int]]:
    """For each code taken as missing, the number of columns and of rows in which it occurs."""
    codes: dict[str, tuple[int, int]] = {}
    for proposal in proposals:
        for code in proposal.schema.writing.missing_codes:
            columns, rows = codes.get(code, (0, 0))
            held = int((raw.cells(proposal.schema) == code).sum())
            codes[code] = columns + 1, rows + held
    return codes


def proposed_schema(raw: RawTable) -> list[ColumnSchema]:
    """The schemas that `triage` proposes; columns left out have include=False."""
    return [proposal.schema for proposal in triage(raw)]


def number_columns(raw: RawTable) -> list[ColumnSchema]:
    """The schemas of the columns of numbers, used as numbers or as ordered levels."""
    columns = (number_column(name, raw.numbers(name)) for name in raw.names)
    return [column for column in columns if column is not None]


def choose(
    proposals: Sequence[Proposal],
    columns: Collection[str] | None = None,
    drop: Collection[str] = (),
    *,
    kinds: Collection[str] = (),
    at_random: int | None = None,
) -> list[Proposal]:
    """Restricts the proposals to a chosen set of columns.

    columns: columns to use, even if the proposal leaves them out; None uses the proposed columns.
    drop: columns to leave out.  Both arguments hold names, or patterns such as "q*".
    kinds: kinds of columns to use, from `KINDS`; empty for all kinds.  at_random: number of columns
    to draw from the remaining columns, by their names alone; None uses all remaining columns.
    Raises DataError for a name that is not a column, for a wanted column that cannot be used, and
    if fewer than 2 columns are left; ParameterError for an unknown kind, and if at_random is less
    than 2.
    """
    names = [proposal.name for proposal in proposals]
    drop = _matching(drop, names)
    if columns is not None:
        exact = set(columns) & set(names)
        matching = _matching(columns, names)
        # A pattern does not match columns that cannot be used.
        usable = {p.name for p in proposals if any(way.schema.include for way in p.ways)}
        columns = {name for name in matching if name in exact or name in usable}
    chosen = []
    for proposal in proposals:
        requested = columns is not None and proposal.name in columns
        if proposal.name in drop or (columns is not None and not requested):
            chosen.append(replace(proposal, problem="", ways=(leave_out(proposal.name),)))
            continue
        ways = [way for way in proposal.ways if way.schema.include]
        if requested and not ways:
            raise DataError(
                "column-cannot-be-used", name=short(proposal.name), problem=proposal.problem
            )
        chosen.append(replace(proposal, ways=(ways[0],)) if requested else proposal)
    chosen = _narrowed(chosen, kinds, at_random)
    unused = left_out(chosen)
    if unused and sum(proposal.used for proposal in chosen) < 2:
        first, reason = next(iter(unused.items()))
        raise DataError(
            "fewer-than-2-of-columns-used",
            number=len(chosen),
            first=short(first),
            reason_=reason.rstrip("."),
        )
    return chosen


def _matching(wanted: Collection[str], names: Sequence[str]) -> set[str]:
    """The names chosen by name or by pattern; raises DataError if an entry matches no column."""
    matching: set[str] = set()
    for each in wanted:
        fitting = {each} if each in names else set(fnmatch.filter(names, each))
        if not fitting:
            listed = ", ".join(short(name, 20) for name in names[:_MOST_LISTED])
            more = f" and {len(names) - _MOST_LISTED} more" * (len(names) > _MOST_LISTED)
            raise DataError("no-such-column-among", each=short(each), listed=listed, more=more)
        matching |= fitting
    return matching


def _narrowed(
    proposals: Sequence[Proposal], kinds: Collection[str], at_random: int | None
) -> list[Proposal]:
    """The proposals, with columns left out that are of other kinds or not drawn."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ParameterError(
            "no-such-column-kind", unknown=short(unknown[0]), choices=", ".join(KINDS)
        )
    if at_random is not None and at_random < 2:
        raise ParameterError("number-of-columns-draw-but-graph", at_random=at_random)
    kept = [p.name for p in proposals if p.used and (not kinds or kind_of(p.schema) in kinds)]
    if at_random is not None:
        kept = drawn_by_name(kept, at_random)
    return [
        proposal
        if not proposal.used or proposal.name in kept
        else replace(proposal, problem="", ways=(leave_out(proposal.name),))
        for proposal in proposals
    ]


def drawn_by_name(names: Sequence[str], count: int) -> list[str]:
    """Chooses `count` names pseudo-randomly, by the names alone and not by the rows."""

    def place(name: str) -> bytes:
        return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()

    return sorted(names, key=place)[:count]


# Kinds of columns that can be chosen.
KINDS = ("number", "ordered", "levels")


def kind_of(column: ColumnSchema) -> str:
    """The kind of a column, one of `KINDS`."""
    return {"continuous": "number", "ordinal": "ordered", "nominal": "levels"}[column.kind]


def left_out(proposals: Sequence[Proposal]) -> dict[str, str]:
    """Reasons why columns are not used, by name; columns left out by the user are not listed."""
    return {p.name: f"{p.problem}: {p.reason}" for p in proposals if not p.used and p.problem}


def merge_rare(raw: RawTable, schema: Sequence[ColumnSchema], rows: int) -> list[ColumnSchema]:
    """The schema after merging nominal levels with fewer than `rows` rows into "(other)".

    Raises ParameterError unless rows is at least 2.
    """
    if rows < 2:
        raise ParameterError("merge-rare-out-of-range", rows=rows)
    merged = []
    for column in schema:
        if column.include and column.kind == "nominal" and column.levels:
            counts = column.read(raw.cells(column)).value_counts()
            rare = {level for level in column.levels if counts.get(level, 0) < rows}
            kept = [level for level in column.levels if level not in rare]
            if len(rare - {OTHER_LEVEL, MISSING_LEVEL}) > 0:
                own = (level for level in kept if level != OTHER_LEVEL)
                column = replace(column, levels=(*own, OTHER_LEVEL))
        merged.append(column)
    return merged
