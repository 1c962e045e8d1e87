"""Proposes how to use one column, with a reason and alternatives.

A proposal is read from the rows, so no guarantee covers it until the owner declares it public, or
buys levels and bounds instead.  Except for codes of missing values, no sentence quotes a cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from privcore.arrays import Vector
from privcore.data.model import MAX_LEVELS, ONE_LEVEL
from privcore.intake.cells import called_as_persons, names_persons, number_codes, word_codes
from privcore.intake.levels import even_cuts, in_order, outwards
from privcore.intake.numbers_and_dates import (
    PLAIN,
    DateReading,
    Writing,
    any_code,
    date_format,
    in_text_order,
    parts_by_span,
    spelling,
    writing_of,
)
from privcore.intake.schema import OTHER_LEVEL, ColumnSchema, parse_numbers
from privcore.text import counted, percent

# Most levels of a column that is used unchanged.
MANY_LEVELS = 50
# Levels that remain when rare ones are merged.
KEPT_LEVELS = 12
# Numbers with at most this many distinct values are ordered levels.
FEW_VALUES = 20
# A column with values in less than this share of the rows is left out.
MOST_MISSING = 0.5
# Share of distinct values above which a column identifies rows.
_NAMING = 0.9
# Largest share of rows with text among numbers that counts as missing.
_STRAY = 0.05
# Least share of the rows that the most frequent levels must cover for the column to be used.
_LEAST_COVERED = 0.3
# Number of distinct cells, the most frequent first, from which the kind of text is inferred.
_LOOKED_AT = 10_000
# Fewest cells from which distinctness is inferred.
_ENOUGH = 20
# Names that programs give to a column of row numbers.
_ROW_NUMBERS = {
    *("unnamed: 0", "__index_level_0__", "rownames", "row.names", "row_names", "rowname", "index"),
    *("idx", "obs", "row", "rowid", "row_id", "rownum", "row_number", "rownumber", "sl no", "s.no"),
}
_IDENTIFIER = re.compile(
    r"(?i:(^|[_\W])(id|ids|key|uuid|guid|index|number|no|nr))$"
    r"|(?<=[a-z])(I[Dd]s?|Key|UUID|GUID|Index|Number|N[OoRr])$"
)
# Names of survey weights, and names that body weights have as well.
_WEIGHT = re.compile(r"(w|wt|wgt|weight|gewicht|poids|peso)\d?")
_SURVEY_WEIGHT = re.compile(
    r"(final|fnl|sampl\w*|survey|svy|person|per|hh|household|design|analysis|pop\w*|[adfp]|an|psp)"
    r"[_ .-]*(wt|wgt|weight)s?\d*|(wt|wgt|weight)s?[_ .-]*(final|trim\w*|norm\w*|ssall|gtp)|pwgtp"
    r"|weights|gewichtung|hochrechnungsfaktor|pond[eé]ration"
)
WHOSE_ROWS = "whose rows"
# Ways to use a column, in a word or two; the same words everywhere.
LEAVE_OUT, LEVELS, ORDERED, SPELLINGS = "left out", "levels", "levels in order", "each spelling"
MERGED, EVEN, EQUAL, UNCUT = "frequent levels", "intervals", "equal intervals", "number"
_PARTS = {"month": "month of the year", "weekday": "day of the week"}


@dataclass(frozen=True)
class Way:
    """One way to use a column.

    label: a short name for it, such as "intervals", "month of the year" or "left out".
    """

    label: str
    schema: ColumnSchema


@dataclass(frozen=True)
class Proposal:
    """A proposal for how to use a column, and the reason for it.

    problem: a word or two, such as "identifier"; empty if the column is used unchanged.
    reason: one sentence.  ways: all ways to use the column; the first is proposed.
    """

    name: str
    problem: str
    reason: str
    ways: tuple[Way, ...]

    @property
    def schema(self) -> ColumnSchema:
        """The schema of the column as proposed."""
        return self.ways[0].schema

    @property
    def used(self) -> bool:
        return self.schema.include


@dataclass(frozen=True, eq=False)
class _Cells:
    """The distinct values of a column, the most frequent first.

    rows: number of rows with each value.  total: rows of the column, including missing values.
    """

    name: str
    distinct: pd.Series[Any]
    rows: Vector
    total: int

    @property
    def present(self) -> float:
        return float(self.rows.sum())

    @cached_property
    def numbers(self) -> tuple[Vector, bool]:
        """The cells as numbers, and whether all are numbers; codes such as 01307 are not."""
        numbers = parse_numbers(self.distinct)
        numeric = bool(np.isfinite(numbers).all())
        if numeric and any_code(self.distinct):
            return np.full(len(numbers), np.nan), False
        return numbers, numeric

    @property
    def gaps(self) -> float:
        """Share of the rows without a value."""
        return (self.total - self.present) / self.total

    def without(self, codes: Sequence[str]) -> _Cells:
        if not codes:
            return self
        kept = ~self.distinct.isin(codes).to_numpy()
        distinct = self.distinct[kept].reset_index(drop=True)
        return replace(self, distinct=distinct, rows=self.rows[kept])


def _cells(name: str, counts: pd.Series[Any], rows: int) -> _Cells:
    texts, times = np.array(list(counts.index), dtype=object), counts.to_numpy(np.float64)
    texts, times = texts[times > 0], times[times > 0]
    # Sorted, so that ties do not depend on the order of the rows.
    order = in_text_order(texts)
    order = order[np.argsort(-times[order], kind="stable")]
    return _Cells(name, pd.Series(texts[order], dtype=object), times[order], rows)


def propose(
    name: str,
    cells: pd.Series[Any],
    intervals: int,
    labels: Sequence[str] = (),
    *,
    ordered: bool = False,
    values: Collection[str] = (),
) -> Proposal:
    """Proposes how to use one column.

    intervals: number of intervals into which numbers are cut.  labels: all levels in order, if the
    file lists them.  ordered: whether the file declares the levels ordered.
    values: cells that are values although they look like codes for missing values.
    """
    counts = cells.value_counts()
    if labels:
        return _labelled(name, labels, counts, len(cells), ordered)
    return propose_counted(name, counts, len(cells), intervals, values=values)


def mostly_labelled(cells: pd.Series[Any], labels: Collection[str]) -> bool:
    """Whether at least half of the distinct values of a column are among the labels."""
    counts = cells.value_counts()
    present = counts.index[counts > 0]
    return bool(2 * present.isin(list(labels)).sum() >= len(present))


def number_column(name: str, cells: pd.Series[Any]) -> ColumnSchema | None:
    """The schema of a column of numbers, as numbers or ordered levels; None for other columns."""
    held = _cells(name, cells.value_counts(), len(cells))
    held = held.without(_codes(held))
    numbers, numeric = held.numbers
    writing = None if numeric else writing_of(list(held.distinct), held.rows, 1.0)
    if writing is not None:
        numbers = parse_numbers(writing.numbers(held.distinct))
    if not len(numbers) or not np.isfinite(numbers).all():
        return None
    ways = _numeric(held, numbers, 2, writing or PLAIN).ways
    return next((way.schema for way in ways if way.label in (UNCUT, ORDERED)), None)


def propose_counted(
    name: str,
    counts: pd.Series[Any],
    rows: int,
    intervals: int,
    every: int = 1,
    *,
    values: Collection[str] = (),
) -> Proposal:
    """Proposes how to use a column, given the counts of its cells.

    counts: number of rows with each text.  rows: number of rows of the column, including missing
    values.
    every: the counts are from one in `every` rows of the table.  values: as for `propose`.
    """
    cells = _cells(name, counts, rows)
    if not len(cells.distinct):
        return _left_out(name, "empty", "No row has a value, so there is nothing to test.")
    codes = tuple(code for code in _codes(cells) if code not in values)
    cells = cells.without(codes)
    if len(cells.distinct) == 1 and not cells.gaps:
        return _left_out(name, "constant", "Every row has the same value.")
    proposal = _by_values(cells, intervals, every)
    if cells.gaps:
        proposal = _with_gaps(proposal, cells.gaps, len(cells.distinct) == 1)
    return _checked(_with_codes(proposal, codes, counts), cells)


def _by_values(cells: _Cells, intervals: int, every: int) -> Proposal:
    """The proposal from the values alone, before missing values are considered."""
    name, distinct = cells.name, cells.distinct
    if names_persons(name, distinct.to_numpy(), int(cells.present)):
        return _whose_rows(cells, intervals)
    numbers, numeric = cells.numbers
    form = None if numeric else date_format(distinct)
    if form is not None:
        return _date(name, form, distinct)
    # Numbers with some text among them are not names.
    mixed = not numeric and _mostly_numbers(numbers, cells.rows)
    if not mixed and _numbers_rows(name, cells):
        return _left_out(
            name, "row number", "The column numbers the rows and carries no other information."
        )
    if not mixed and _names_rows(name, cells, numbers if numeric else None, every):
        return _named_rows(name, distinct)
    if numeric and _weighs_rows(name, numbers, cells.rows):
        return _left_out(
            name,
            "survey weight",
            "Survey weights are not used: the graph describes the rows, not the population that "
            "they stand for.",
            *_numeric(cells, numbers, intervals).ways[:-1],
        )
    if numeric:
        return _numeric(cells, numbers, intervals)
    writing = None if mixed else writing_of(list(distinct), cells.rows, 1 - _STRAY)
    if writing is not None:
        numbers = parse_numbers(writing.numbers(distinct))
        if np.isfinite(numbers).all():
            return _numeric(cells, numbers, intervals, writing)
        mixed = True
    if mixed:
        return _mixed(cells, numbers, intervals, writing or PLAIN)
    return _text(cells)


def _codes(cells: _Cells) -> tuple[str, ...]:
    """Cells that are codes for a missing value."""
    # A code is frequent, so rare texts are not checked.
    codes = word_codes(list(cells.distinct[:_LOOKED_AT]))
    rest = cells.without(codes)
    numbers, numeric = rest.numbers
    if numeric:
        beyond = number_codes(numbers, rest.rows)
        codes += [str(text) for text in rest.distinct[np.isin(numbers, beyond)]]
    return tuple(sorted(codes))


def _with_codes(proposal: Proposal, codes: Sequence[str], counts: pd.Series[Any]) -> Proposal:
    """The proposal with codes for missing values in every way, and their rows in the reason."""
    if not codes:
        return proposal
    listed = ", ".join(codes[:4]) + (" …" if len(codes) > 4 else "")
    rows = int(counts[list(codes)].sum())
    are = "are" if len(codes) > 1 else "is"
    reason = f"{proposal.reason} {listed} ({counted(rows, 'row')}) {are} taken as missing."
    ways = tuple(
        replace(
            way,
            schema=replace(
                way.schema, writing=replace(way.schema.writing, missing_codes=tuple(codes))
            ),
        )
        for way in proposal.ways
    )
    return replace(proposal, reason=reason, ways=ways)


def _checked(proposal: Proposal, cells: _Cells) -> Proposal:
    """The proposal without ways in which all rows have one level.

    If one level has nearly all rows, the proposal gets a warning.
    """
    shares = [
        _largest_level(way.schema, cells) / cells.total if way.schema.include else 0.0
        for way in proposal.ways
    ]
    ways = tuple(way for way, share in zip(proposal.ways, shares, strict=True) if share < 1)
    if len(ways) < len(proposal.ways):
        proposal = replace(proposal, ways=ways)
        shares = [share for share in shares if share < 1]
        if not any(way.schema.include for way in ways):
            return _left_out(proposal.name, "one level", "All rows fall into one level.")
    if shares[0] <= ONE_LEVEL:
        return proposal
    reason = (
        f"One level has {percent(shares[0])} of the rows, so the column carries little information."
    )
    if proposal.problem:
        reason = f"{proposal.reason} {reason}"
    return replace(proposal, problem=proposal.problem or "nearly constant", reason=reason)


def _largest_level(schema: ColumnSchema, cells: _Cells) -> float:
    """Number of rows of the most frequent level, missing values not counted."""
    levels = schema.read(cells.distinct)
    if schema.kind == "continuous":
        if not schema.cut_points:
            return 0.0
        numbers = parse_numbers(levels)
        known = np.isfinite(numbers)
        parts = np.searchsorted(np.asarray(schema.cut_points), numbers[known], side="right")
        return float(np.bincount(parts, cells.rows[known]).max())
    listed = set(schema.levels)
    held: dict[str, float] = {}
    for level, rows in zip(levels, cells.rows, strict=True):
        if not pd.isna(level):
            level = level if level in listed else OTHER_LEVEL
            held[level] = held.get(level, 0.0) + float(rows)
    return max(held.values())


def named_as_identifier(name: str) -> bool:
    """Whether a column has the name of an identifier, such as patient_id."""
    return bool(_IDENTIFIER.search(name)) or called_as_persons(name)


def leave_out(name: str) -> Way:
    """The way that leaves the column out."""
    return Way(LEAVE_OUT, ColumnSchema(name, "nominal", include=False))


def _left_out(name: str, problem: str, reason: str, *ways: Way) -> Proposal:
    return Proposal(name, problem, reason, (leave_out(name), *ways))


def _whose_rows(cells: _Cells, intervals: int) -> Proposal:
    numbers, numeric = cells.numbers
    other = _numeric(cells, numbers, intervals) if numeric else _text(cells)
    reason = (
        f"{len(cells.distinct):,} identifiers in {cells.present:,.0f} rows may show which person "
        "each row belongs to."
    )
    used = (way for way in other.ways if way.schema.include)
    return _left_out(cells.name, WHOSE_ROWS, reason, *used)


def _weighs_rows(name: str, numbers: Vector, rows: Vector) -> bool:
    """Whether numbers are survey weights: called so, or called weight with a mean near 1."""
    called = name.casefold().strip()
    near = 0.8 < float(numbers @ rows) / float(rows.sum()) < 1.25
    return bool(
        (numbers >= 0).all()
        and (_SURVEY_WEIGHT.fullmatch(called) or (near and _WEIGHT.fullmatch(called)))
    )


def _numbers_rows(name: str, cells: _Cells) -> bool:
    """Whether a column has the name of a row number, and no value repeats."""
    return name.casefold().strip() in _ROW_NUMBERS and len(cells.distinct) == cells.present


def _names_rows(name: str, cells: _Cells, numbers: Vector | None, every: int) -> bool:
    """Whether a column identifies rows: nearly all of its cells are distinct.

    Whole numbers must also be nearly consecutive, or have a column named as an identifier.
    """
    count = len(cells.distinct)
    if cells.present < _ENOUGH or count < _NAMING * cells.present:
        return False
    if numbers is None:
        return writing_of(list(cells.distinct[:100]), cells.rows[:100], 1 - _STRAY) is None
    whole = bool((numbers == np.round(numbers)).all())
    close = float(np.ptp(numbers)) + 1 <= 1.5 * every * len(numbers)
    return whole and (close or named_as_identifier(name))


def _named_rows(name: str, distinct: pd.Series[Any]) -> Proposal:
    first = distinct[:_LOOKED_AT]
    words = float(first.map(lambda text: len(str(text).split())).mean())
    if words >= 3:
        return _left_out(name, "free text", "Nearly every row has a different text.")
    return _left_out(
        name, "identifier", "Nearly every row has a different value, as in a column of identifiers."
    )


def _date(name: str, form: str, distinct: pd.Series[Any]) -> Proposal:
    ways = []
    for part, levels in parts_by_span(form, list(distinct)):
        label = _PARTS.get(part, part)
        kind = "nominal" if part in ("month", "weekday") else "ordinal"
        schema = ColumnSchema(name, kind, levels, date=DateReading(form, part))  # type: ignore[arg-type]
        if len(levels) <= MANY_LEVELS:
            ways.append(Way(label, schema))
    reason = "Only a part of each date is used."
    return Proposal(name, "date", reason, (*ways, leave_out(name)))


def _mostly_numbers(numbers: Vector, counts: Vector) -> bool:
    """Whether nearly all cells are finite numbers, so that the others are errors.

    counts: number of rows with each cell.
    """
    finite = np.isfinite(numbers)
    strays = float(counts[~finite].sum())
    return int(finite.sum()) > FEW_VALUES and strays <= _STRAY * float(counts.sum())


def _numeric(cells: _Cells, numbers: Vector, intervals: int, writing: Writing = PLAIN) -> Proposal:
    name = cells.name
    order = np.argsort(numbers, kind="stable")
    if len(numbers) <= FEW_VALUES:
        levels = tuple(str(cells.distinct.iloc[k]) for k in order)
        return Proposal(
            name,
            "",
            f"{len(levels)} distinct numbers, used as ordered levels.",
            (
                Way(ORDERED, ColumnSchema(name, "ordinal", levels)),
                Way(LEVELS, ColumnSchema(name, "nominal", levels)),
                leave_out(name),
            ),
        )
    low, high = float(numbers[order[0]]), float(numbers[order[-1]])
    if low == high or not math.isfinite(4 * max(-low, high)):
        return _left_out(name, "identifier", "The numbers have too many digits to compute with.")
    low, high = outwards(low, high)
    # Numbers written in several ways occur several times.
    values, where = np.unique(numbers, return_inverse=True)
    cuts = even_cuts(values, np.bincount(where, cells.rows).astype(np.float64), intervals)
    parts = len(cuts) + 1
    whole = ColumnSchema(name, "continuous", bounds=(low, high), writing=writing)
    even = replace(whole, cut_points=cuts, bins=parts)
    written = f" in {writing.unit}" if writing.unit else ""
    return Proposal(
        name,
        "",
        f"{len(values):,} numbers{written}, cut into {parts} intervals with about equally many "
        "rows.",
        (
            Way(EVEN, even),
            Way(EQUAL, replace(whole, bins=intervals)),
            Way(UNCUT, whole),
            leave_out(name),
        ),
    )


def _mixed(cells: _Cells, numbers: Vector, intervals: int, writing: Writing) -> Proposal:
    """The proposal for numbers with a little text among them, which counts as missing."""
    known = np.flatnonzero(np.isfinite(numbers))
    finite = replace(cells, distinct=cells.distinct.iloc[known], rows=cells.rows[known])
    proposal = _numeric(finite, numbers[known], intervals, writing)
    ways = tuple(
        replace(way, schema=_with_text(way.schema)) for way in proposal.ways if way.label != UNCUT
    )
    text = cells.present - finite.present
    are = "are one level outside the order" if proposal.schema.levels else "count as missing"
    return Proposal(
        cells.name,
        "text among numbers",
        f"{text:,.0f} of the rows have text instead of a number; they {are}.",
        ways,
    )


def _with_text(schema: ColumnSchema) -> ColumnSchema:
    """The schema of numbers with a place for cells that are text."""
    if not schema.levels:
        return replace(schema, missing=schema.include)
    return replace(schema, levels=(*schema.levels, OTHER_LEVEL))


def _text(cells: _Cells) -> Proposal:
    name = cells.name
    rows = _rows_of_levels(cells)
    alike = len(cells.distinct) - len(rows)
    writing = Writing(ignore_case=True) if alike else PLAIN
    ordered = in_order(list(rows), name)
    levels = ordered or tuple(sorted(rows))
    kind = "ordinal" if ordered else "nominal"
    each = Way(ORDERED if ordered else LEVELS, ColumnSchema(name, kind, levels, writing=writing))  # type: ignore[arg-type]
    merged_note = (
        f" Number of spellings merged because they differ only in case or spaces: {alike}."
        * bool(alike)
    )
    if len(levels) <= MANY_LEVELS:
        reason = (
            f"{counted(len(levels), 'level')}"
            f"{', in the order that the words imply' if ordered else ''}.{merged_note}"
        )
        spellings = tuple(sorted(map(str, cells.distinct)))
        others = [Way(SPELLINGS, ColumnSchema(name, "nominal", spellings))] if alike else []
        if ordered:
            unordered = replace(each.schema, kind="nominal", levels=tuple(sorted(levels)))
            others.append(Way(LEVELS, unordered))
        return Proposal(name, "", reason, (each, *others, leave_out(name)))
    own = (level for level in rows if level != OTHER_LEVEL)
    most = sorted(own, key=lambda level: -rows[level])[:KEPT_LEVELS]
    share = sum(rows[level] for level in most) / cells.present
    merged = Way(
        MERGED,
        ColumnSchema(name, "nominal", (*sorted(most), OTHER_LEVEL), writing=writing),
    )
    others = [Way(LEVELS, replace(each.schema, kind="nominal"))]
    others *= len(levels) <= MAX_LEVELS
    if share < _LEAST_COVERED:
        reason = f"{len(levels):,} levels; the most frequent cover only {share:.0%} of the rows."
        return _left_out(name, "many levels", reason, merged, *others)
    reason = (
        f"{len(levels):,} levels are too many to test; the {KEPT_LEVELS} most frequent cover "
        f"{share:.0%} of the rows.{merged_note}"
    )
    return Proposal(name, "many levels", reason, (merged, leave_out(name), *others))


def _rows_of_levels(cells: _Cells) -> dict[str, float]:
    """Number of rows of each level; spellings are merged under the most frequent one."""
    named: dict[str, str] = {}
    rows: dict[str, float] = {}
    for text, count in zip(cells.distinct, cells.rows, strict=True):
        words = spelling(str(text))
        # The word itself is clearer than t, T or TRUE.
        level = named.setdefault(words, str(text))
        rows[level] = rows.get(level, 0.0) + float(count)
    return rows


def _labelled(
    name: str, labels: Sequence[str], counts: pd.Series[Any], rows: int, ordered: bool
) -> Proposal:
    """The proposal for a column whose levels are listed in the file."""
    held = {str(text): int(count) for text, count in counts.items() if count}
    if not held:
        return _left_out(name, "empty", "No row has a value, so there is nothing to test.")
    levels = (*labels, *sorted(text for text in held if text not in labels))
    words = [label for label in labels if held.get(label)] or list(labels)
    in_words = ordered or in_order(words, name) is not None
    kind = "ordinal" if in_words else "nominal"
    schema = ColumnSchema(name, kind, levels)  # type: ignore[arg-type]
    each = Way(ORDERED if in_words else LEVELS, schema)
    other = replace(schema, kind="nominal" if in_words else "ordinal")
    ways = (
        each,
        Way(LEVELS if in_words else ORDERED, other),
        leave_out(name),
    )
    proposal = Proposal(name, "", f"{len(levels)} named levels, as listed in the file.", ways)
    distinct = pd.Series(list(held), dtype=object)
    cells = _Cells(name, distinct, np.array(list(held.values()), dtype=np.float64), rows)
    if len(held) == 1 and not cells.gaps:
        return _left_out(name, "constant", "Every row has the same value.")
    if cells.gaps:
        proposal = _with_gaps(proposal, cells.gaps, len(held) == 1)
    return _checked(proposal, cells)


def _with_gaps(proposal: Proposal, share: float, single: bool) -> Proposal:
    """The proposal for a column with missing cells; single: all other cells have one value."""
    ways = tuple(
        replace(way, schema=replace(way.schema, missing=True)) if way.schema.include else way
        for way in proposal.ways
        if way.label != UNCUT
    )
    reason = f"{proposal.reason} {share:.1%} of the rows have no value, which becomes a level."
    if share > MOST_MISSING and proposal.used:
        reason = f"{share:.0%} of the rows have no value."
        return Proposal(
            proposal.name,
            "mostly missing",
            reason,
            (leave_out(proposal.name), *(way for way in ways if way.schema.include)),
        )
    if not proposal.used:
        reason = proposal.reason
    problem = proposal.problem or ("one value" if single else "")
    return Proposal(proposal.name, problem, reason, ways)
