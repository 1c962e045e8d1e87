"""Who is protected: one unit, such as a patient, and how two tables with and without it differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from privcore.errors import ParameterError
from privcore.text import short

Relation = Literal["replaced", "added or removed"]
REPLACED: Relation = "replaced"
ADDED: Relation = "added or removed"
MOST_ROWS = 10_000
# What a column that identifies units ends with beside the unit's name.
_SUFFIX = re.compile(r"[\s_.\-]*(id|ids|nr|no|number|key|code)$", re.IGNORECASE)


@dataclass(frozen=True)
class Unit:
    """Whose rows are protected together.

    noun: what it is called, such as "patient".  rows: how many it has at most.

    Raises ParameterError unless rows is 1 to 10,000 and the noun is not blank.

    >>> Unit("patient", 5).sentence("added or removed")
    'one patient with at most 5 rows, added or removed; number of rows private'
    """

    noun: str = "record"
    rows: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.rows <= MOST_ROWS:
            raise ParameterError(
                f"A unit has {short(self.rows)} rows; it must have 1 to {MOST_ROWS:,}."
            )
        if not self.noun.strip():
            raise ParameterError("The unit has no name; call it what it is, such as patient.")

    @property
    def words(self) -> str:
        """ "one patient with at most 5 rows"."""
        if self.rows == 1:
            return f"one {self.noun}"
        noun = "person" if self.noun == RECORD.noun else self.noun
        return f"one {noun} with at most {self.rows:,} rows"

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


def noun_of(column: str) -> str:
    """What a column of identifiers identifies.

    >>> noun_of("patient_id"), noun_of("Customer No"), noun_of("id")
    ('patient', 'Customer', 'unit')
    """
    noun = _SUFFIX.sub("", column.strip()).replace("_", " ").strip()
    return noun or "unit"
