"""Detects columns that identify people, by their names, repeated values and codes such as P017."""

from __future__ import annotations

import re
from typing import Any

from privcore.data.questions import OpenQuestion
from privcore.text import short

# At the end of a name, such as patient_id or famID, but not of kids.
_ENDING = re.compile(r"(?i:(^|[_\W])[hpu]?(ids?|uuid|guid|identifier)$)|(?<=[a-z])I[Dd]s?$")
# People and things that have several rows, alone or before "id" or "no".
_NOUNS = {
    *("subject", "subj", "usubj", "person", "participant", "respondent", "individual", "proband"),
    *("patient", "case", "pupil", "student", "child", "twin", "mother", "customer", "client"),
    *("user", "member", "employee", "worker", "panelist", "player", "driver", "donor"),
    *("household", "family", "animal", "rat", "mouse", "dog", "cow", "plot", "shop", "store"),
}
# Places are levels, unless the name of their column ends like an identifier.
_PLACES = {"school", "town", "village", "dist", "site", "clinic", "hospital", "region"}
# P017, S-12, 4f2a: codes of letters and digits.
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w-]{3,}")
_FRACTION = re.compile(r"[+-]?\d*\.\d*[1-9]\d*")
# With fewer units or more rows per unit than this, the values are levels: sexes, regions.
_LEAST, _MOST_ROWS = 10, 100
# Least rows per unit on average, so that accidental duplicates do not count as persons.
_REPEATS = 1.05
# From this number of codes such as P017 on, they are taken for persons, whatever the column's name.
_MANY_CODES = 25
# Cells whose shape is checked.
_LOOKED_AT = 1_000


def called_as_persons(name: str) -> bool:
    """Whether a column's name suggests that the column identifies people."""
    whole = name.casefold().strip()
    noun = re.sub(r"[_\W]*(id|no|nr|num|number)$", "", whole)
    if noun == whole:
        # "case" may identify one of several, or be the opposite of "control".
        return bool(_ENDING.search(name)) or noun in _NOUNS - {"case"}
    return bool(_ENDING.search(name)) or noun in _NOUNS | _PLACES


def whose_rows(name: str, *, at_place: bool = False) -> OpenQuestion:
    """The question to a table's owner about a column that may identify people.

    at_place: whether rows are counted inside their files, so that no row can be left out.
    """
    column = short(name, 40)
    together = (
        "--rows-per-unit K if nobody has more than K rows"
        if at_place
        else f"--unit {column} --rows-per-unit K to protect all rows of a person together"
    )
    return OpenQuestion(
        "persons",
        f"Column {column!r} has repeated values and looks like an identifier. If one person has "
        "several rows, protecting each row on its own does not protect the person.",
        f"give {together}, or --rows-per-unit 1 if each row is a different person (in Python, use "
        "the arguments unit and rows_per_unit)",
        name,
    )


def names_persons(name: str, distinct: Any, rows: int) -> bool:
    """Whether a column identifies people.

    distinct: the distinct cells of the column.  rows: number of rows with a value.
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
