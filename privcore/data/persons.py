"""Whether a column says whose rows are whose: it repeats, and is called or shaped as identifiers
are."""

from __future__ import annotations

import re
from typing import Any

from privcore.data.questions import Question
from privcore.text import short

_NOUNS = {
    *("subject", "subj", "patient", "person", "participant", "respondent", "individual", "pupil"),
    *("student", "child", "customer", "client", "user", "member", "employee", "worker"),
    *("household", "family", "plot", "shop", "store", "animal", "rat", "mouse", "dog", "cow"),
    *("pid", "case", "mother", "twin", "panelist", "player", "driver", "donor"),
}
_IDS = "id|ids|uuid|guid|ident|identifier"
# At the end of a name, such as patient_id, patientID, USUBJID; of "paid" it is none.
_ENDING = re.compile(
    rf"(?i:(^|[_\W])({_IDS})|({'|'.join(sorted(_NOUNS))})_?({_IDS}))$|(?<=[a-z])I[Dd]s?$"
)
# P017, S-12, 4f2a: a code of letters and digits, which no level of few is.
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w-]{3,}")
# Fewer units than these, or units with more rows than these, are levels: sexes, regions.
_LEAST, _MOST_ROWS = 10, 1_000
# Rows of one unit on average, so that a slip that doubles a row makes no persons.
_REPEATS = 1.05
# Codes such as P017 are taken for persons if there are so many of them, whatever they are called.
_MANY_CODES = 25
# Cells whose shape is looked at.
_LOOKED_AT = 1_000


def called_as_persons(name: str) -> bool:
    """Whether a column is called as one that says whose rows are whose."""
    name = name.strip()
    return bool(_ENDING.search(name)) or name.casefold() in _NOUNS - {"case"}


def whose_rows(name: str, *, at_place: bool = False) -> Question:
    """What the owner of a table has to say of such a column.

    at_place: whether the rows are counted where they are, so that none can be left out.
    """
    column = short(name, 40)
    together = (
        "--rows-per-unit K if nobody has more than K rows"
        if at_place
        else f"--unit {column} --rows-per-unit K to protect all rows of one together"
    )
    return Question(
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
    if called_as_persons(name):
        return True
    first = [str(text) for text in distinct[:_LOOKED_AT]]
    if count < _MANY_CODES or not all(map(_CODE.fullmatch, first)):
        return False
    return len({re.sub(r"\d+", "0", text) for text in first}) == 1
