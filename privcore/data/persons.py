"""Whether a column says whose rows are whose: it repeats, and is called or shaped as identifiers
are."""

from __future__ import annotations

import re
from typing import Any

from privcore.data.questions import OpenQuestion
from privcore.text import short

# At the end of a name, such as patient_id or famID, but not of kids.
_ENDING = re.compile(r"(?i:(^|[_\W])[hpu]?(ids?|uuid|guid|identifier)$)|(?<=[a-z])I[Dd]s?$")
# Whoever and whatever is looked at several times, alone or before "id" or "no".
_NOUNS = {
    *("subject", "subj", "usubj", "person", "participant", "respondent", "individual", "proband"),
    *("patient", "case", "pupil", "student", "child", "twin", "mother", "customer", "client"),
    *("user", "member", "employee", "worker", "panelist", "player", "driver", "donor"),
    *("household", "family", "animal", "rat", "mouse", "dog", "cow", "plot", "shop", "store"),
}
# Places are levels, unless their column is called an identifier.
_PLACES = {"school", "town", "village", "dist", "site", "clinic", "hospital", "region"}
# P017, S-12, 4f2a: a code of letters and digits, which no level of few is.
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w-]{3,}")
_FRACTION = re.compile(r"[+-]?\d*\.\d*[1-9]\d*")
# Fewer units than these, or units with more rows than these, are levels: sexes, regions.
_LEAST, _MOST_ROWS = 10, 100
# Rows of one unit on average, so that a slip that doubles a row makes no persons.
_REPEATS = 1.05
# Codes such as P017 are taken for persons if there are so many of them, whatever they are called.
_MANY_CODES = 25
# Cells whose shape is looked at.
_LOOKED_AT = 1_000


def called_as_persons(name: str) -> bool:
    """Whether a column is called as one that says whose rows are whose."""
    whole = name.casefold().strip()
    noun = re.sub(r"[_\W]*(id|no|nr|num|number)$", "", whole)
    if noun == whole:
        # A case is one of several, or no control.
        return bool(_ENDING.search(name)) or noun in _NOUNS - {"case"}
    return bool(_ENDING.search(name)) or noun in _NOUNS | _PLACES


def whose_rows(name: str, *, at_place: bool = False) -> OpenQuestion:
    """What the owner of a table has to say of such a column.

    at_place: whether the rows are counted where they are, so that none can be left out.
    """
    column = short(name, 40)
    together = (
        "--rows-per-unit K if nobody has more than K rows"
        if at_place
        else f"--unit {column} --rows-per-unit K to protect all rows of one together"
    )
    return OpenQuestion(
        "persons",
        f"Column {column!r} repeats and looks like an identifier: if rows of one person stand in "
        "several places, protecting each row alone protects no person.",
        f"say {together}, or --rows-per-unit 1 if each row is another person (in Python unit and "
        "rows_per_unit)",
        name,
    )


def names_persons(name: str, distinct: Any, rows: int) -> bool:
    """Whether a column says whose rows are whose.

    distinct: its different cells, as a sequence.  rows: that have one.
    """
    count = len(distinct)
    if count < _LEAST or not _REPEATS * count <= rows <= _MOST_ROWS * count:
        return False
    first = [str(text) for text in distinct[:_LOOKED_AT]]
    if called_as_persons(name):
        return not any(map(_FRACTION.fullmatch, first))
    if count < _MANY_CODES or not all(map(_CODE.fullmatch, first)):
        return False
    return len({re.sub(r"\d+", "0", text) for text in first}) == 1
