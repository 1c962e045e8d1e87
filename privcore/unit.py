"""The unit of privacy, such as a patient, and the way in which neighbouring tables differ."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from privcore.errors import ParameterError
from privcore.text import short

Relation = Literal["replaced", "added or removed"]
REPLACED: Relation = "replaced"
ADDED: Relation = "added or removed"
MOST_ROWS = 10_000
# Endings of names of identifier columns, after the name of the unit.
_SUFFIX = re.compile(r"[\s_.\-]*(id|ids|nr|no|number|key|code)$", re.IGNORECASE)


@dataclass(frozen=True)
class Unit:
    """The unit of privacy, such as a patient, whose rows are protected together.

    noun: name of the unit, such as "patient".  rows: maximum number of rows per unit.  column: the
    column that identified the units; empty if there is none.

    Raises ParameterError if rows is not between 1 and 10,000, or if the noun is blank.

    >>> Unit("patient", 5).sentence("added or removed")
    'one patient with at most 5 rows, added or removed; number of rows private'
    """

    noun: str = "record"
    rows: int = 1
    column: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.rows <= MOST_ROWS:
            raise ParameterError("unit-rows-1-rows", rows=short(self.rows), most_rows=MOST_ROWS)
        if not self.noun.strip():
            raise ParameterError("unit-no-name")

    @property
    def name(self) -> str:
        """The unit's name in a sentence: a record with several rows is called a person."""
        return "person" if self.noun == RECORD.noun and self.rows > 1 else self.noun

    @property
    def words(self) -> str:
        """The unit in words, such as "one patient with at most 5 rows"."""
        if self.rows == 1:
            return f"one {self.name}"
        return f"one {self.name} with at most {self.rows:,} rows"

    def sentence(self, relation: Relation) -> str:
        """How two neighbouring tables differ, and whether their number of rows is public."""
        if relation == ADDED:
            separator = "; " if self.rows > 1 else ", "
            comma = "," if self.rows > 1 else ""
            return f"{self.words}{comma} added or removed{separator}number of rows private"
        if self.rows == 1:
            return f"{self.words} replaced, number of rows public"
        return f"{self.words}, replaced by as many others; number of rows public"


RECORD = Unit()
_WORDS = r"one (?P<noun>.+?)(?: with at most (?P<rows>[\d,]+) rows)?"
_SENTENCES: tuple[tuple[Relation, re.Pattern[str]], ...] = (
    (ADDED, re.compile(_WORDS + r",? added or removed[,;] number of rows private", re.DOTALL)),
    (
        REPLACED,
        re.compile(
            _WORDS + r"(?:,? replaced, |, replaced by as many others; )number of rows public",
            re.DOTALL,
        ),
    ),
)


def understood(sentence: str) -> tuple[Unit, Relation]:
    """The unit and the neighbouring relation that a sentence of a guarantee states.

    Raises ParameterError for a sentence that `Unit.sentence` cannot have produced.

    >>> understood("one patient with at most 5 rows, added or removed; number of rows private")
    (Unit(noun='patient', rows=5, column=''), 'added or removed')
    """
    for relation, pattern in _SENTENCES:
        match = pattern.fullmatch(sentence)
        # Numbers with more digits than any bound would take long to parse.
        if match and len(match["rows"] or "") <= len(f"{MOST_ROWS:,}"):
            unit = Unit(match["noun"], int((match["rows"] or "1").replace(",", "") or 0))
            if unit.sentence(relation) == sentence:
                return unit, relation
    raise ParameterError("not-state-who-protected", sentence=short(sentence, 120))


def noun_of(column: str) -> str:
    """The name of the unit that an identifier column identifies, from the column's name.

    >>> noun_of("patient_id"), noun_of("Customer No"), noun_of("id")
    ('patient', 'Customer', 'unit')
    """
    noun = _SUFFIX.sub("", column.strip()).replace("_", " ").strip()
    return noun or "unit"
