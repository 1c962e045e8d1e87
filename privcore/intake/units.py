"""Bounds the number of rows per unit: at most k rows are kept for each value of a column.

A unit is, for example, a patient, a customer or a household; all rows of a unit are protected
together.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privcore.errors import DataError
from privcore.intake.proposing import WHOSE_ROWS, Proposal, named_as_identifier
from privcore.intake.reading import RawTable
from privcore.text import short
from privcore.unit import Unit, noun_of

# Public salt, so that the hashes differ from other hashes of the same identifiers.
_WORD = b"causalveil rows of a unit"
_BYTES = 8


@dataclass(frozen=True, eq=False)
class Bounded:
    """A table with at most the allowed rows per unit, without the column that identifies units.

    rows: number of rows before any were left out.  The number of rows left out is read from the
    data: no guarantee covers it, and it must not be released.
    """

    table: RawTable
    rows: int

    @property
    def left_out(self) -> int:
        return self.rows - len(self.table.frame)

    @property
    def kept_sentence(self) -> str:
        """A sentence that states the bound on rows per unit and how many rows were left out."""
        unit = self.table.unit
        rows = f"{unit.rows:,} row{'s' * (unit.rows != 1)}"
        return f"At most {rows} of each {unit.name} are kept: {self._left_words}."

    @property
    def sentence(self) -> str:
        """A sentence that states who is protected and how many rows were left out.

        Example: "One patient with at most 5 rows is protected: 212 of 4,000 rows are left out."
        """
        words = self.table.unit.words
        return f"{words[0].upper()}{words[1:]} is protected: {self._left_words}."

    @property
    def _left_words(self) -> str:
        are = "is" if self.left_out <= 1 else "are"
        left = f"{self.left_out:,} of {self.rows:,} rows" if self.left_out else "no row"
        return f"{left} {are} left out"


def bounded(raw: RawTable, column: str, rows: int) -> Bounded:
    """Keep at most `rows` rows of each unit, in the table's order, and drop `column`.

    column: name of the column that identifies units; its cells are compared as text.

    Which rows of a unit are kept depends on that unit's rows alone: the rows with the smallest
    hashes.  A hash is computed from the identifier, the row's position within the unit, and a
    public salt.  So tables that differ in one unit still differ in one unit afterwards.  A
    sequential random generator would not ensure this: an additional row of one unit would shift all
    later draws, and change which rows of other units are kept.

    Raises DataError for a column not in the table, for rows without an identifier, and if fewer
    than 2 rows remain; ParameterError unless rows is from 1 to 10,000.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"patient_id": list("aaab"), "dose": list("1234")})
    >>> kept = bounded(RawTable(frame.astype("category"), "", ""), "patient_id", 2)
    >>> kept.sentence
    'One patient with at most 2 rows is protected: 1 of 4 rows is left out.'
    >>> kept.table.names
    ['dose']
    """
    unit = Unit(short(noun_of(column)), rows, column)
    if column not in raw.names:
        listed = ", ".join(short(name, 20) for name in raw.names)
        raise DataError("no-such-unit-column", column=short(column), listed=listed)
    cells = raw.frame[column].astype("category")
    codes, texts = cells.cat.codes.to_numpy(), [str(text) for text in cells.cat.categories]
    lacking = int((codes < 0).sum())
    if lacking:
        raise DataError("rows-without-unit", column=short(column), missing=lacking, rows=len(codes))
    kept = _kept(codes.astype(np.int64), texts, rows)
    if kept.sum() < 2:
        raise DataError("too-few-rows-left", rows=rows, value="s" * (rows != 1), noun=unit.noun)
    frame = raw.frame.drop(columns=column)[kept].reset_index(drop=True)
    for name in frame.columns:
        if hasattr(frame[name], "cat"):
            # Values that occur only in rows left out are removed from the table.
            frame[name] = frame[name].cat.remove_unused_categories()
    return Bounded(replace(raw, frame=frame, unit=unit).answered("persons"), len(codes))


def likely_columns(proposals: list[Proposal]) -> list[str]:
    """Names of all columns, starting with possible identifiers of units.

    A possible identifier repeats and looks like an identifier, has the name of an identifier, or
    has a different value in nearly every row.
    """

    def rank(proposal: Proposal) -> int:
        if proposal.problem == WHOSE_ROWS:
            return -1
        if named_as_identifier(proposal.name):
            return 0 if proposal.problem != "identifier" else 1
        return 2 if proposal.problem == "identifier" else 3

    return [proposal.name for proposal in sorted(proposals, key=rank)]


def _kept(codes: NDArray[np.int64], texts: list[str], most: int) -> NDArray[np.bool_]:
    """Which rows are kept; codes: the unit of each row; texts: the identifier of each unit."""
    times = np.bincount(codes, minlength=len(texts))
    stays = np.ones(len(codes), dtype=np.bool_)
    rows = np.flatnonzero((times > most)[codes])
    # Sorted by unit, and within a unit in the table's order.
    rows = rows[np.argsort(codes[rows], kind="stable")]
    units = codes[rows]
    starts = np.flatnonzero(np.append(True, units[1:] != units[:-1])) if len(units) else units
    sizes = np.diff(np.append(starts, len(units)))
    places = np.arange(len(units)) - np.repeat(starts, sizes)
    hashes = np.concatenate(
        [_hashes(texts[unit], int(size)) for unit, size in zip(units[starts], sizes, strict=True)]
        or [np.empty(0, np.uint64)]
    )
    order = np.lexsort((places, hashes, units))
    # Sorting by hash permutes rows within a unit, so positions number them by rank.
    stays[rows[order[places >= most]]] = False
    return stays


def _hashes(text: str, size: int) -> NDArray[np.uint64]:
    """The hash of each row of a unit, in the order of the rows within the unit."""
    start = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES, key=_WORD)
    digests = []
    for place in range(size):
        row = start.copy()
        # A byte that ends the UTF-8 text, so that "a" at position 12 is not "a1" at position 2.
        row.update(b"\xff%d" % place)
        digests.append(row.digest())
    return np.frombuffer(b"".join(digests), dtype=">u8").astype(np.uint64)
