"""What one cell or one column's name says by itself: its text, a gap, a person.

Turns cells of any kind of file into texts or missing values, within a limit on memory.

Detects codes for missing values, such as 99 among answers 1 to 5, or "unknown" among words.

Detects columns that identify people, by their names, repeated values and codes such as P017.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.arrays import Vector
from privcore.data.model import OpenQuestion
from privcore.errors import DataError
from privcore.text import short

if TYPE_CHECKING:
    import pyarrow as pa

# Default limit on the bytes that a table may take.
MEMORY = 4 << 30
# The most cells that a table in memory has; a small file can claim far more.
MAX_CELLS = 50_000_000
# Cells that are decoded at a time.
AT_ONCE = 1 << 17
# Cells that have no value, in lower case.
MISSING_TEXTS = {
    *("", "na", "n/a", "#n/a", "nan", "null", "?", "*", ".", "<na>"),
    *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"),
}
# A number with a decimal comma, and perhaps points or spaces between thousands: 1.234,5.
_MARKS = r"[.\s\x{a0}\x{202f}]"
_DECIMAL_COMMA = rf"^[+-]?(?:\d+|\d{{1,3}}(?:{_MARKS}\d{{3}})+),\d+$"
# Bytes of a cell, as a code and as a number, and of a distinct cell in addition to its characters.
OF_CELL, _OF_DISTINCT = 12, 100
# Share of distinct cells from which codes save no memory; small tables need none saved.
_MOSTLY, _FEW = 0.5, 10_000
# Share of distinct cells in a piece above which later pieces are not coded at all: hashing takes
# most of the time.  Smaller pieces are no evidence.
_DISTINCT_SHARE, _LEAST_OF_PIECE = 0.8, 1_000
# Pieces of a column that are collected before their distinct texts are merged.
_MOST_PIECES = 64
WHERE_IT_IS = (
    "give fewer rows or columns, or save the table as Parquet and run `python -m privcore "
    "discover --table`, which reads the table in pieces"
)


def cell_text(value: object) -> str | None:
    """A cell as text without surrounding spaces, or None if the cell is missing."""
    if value is None:
        return None
    text = str(value).strip()
    return None if text.lower() in MISSING_TEXTS else text


class Memory:
    """The memory that is still available to a table.

    instead: what the user can do if a table needs more memory, as part of an error message.
    """

    def __init__(self, limit: int, instead: str = WHERE_IT_IS) -> None:
        self._limit = self.left = limit
        self._instead = instead

    def take(self, size: int) -> None:
        """Take `size` bytes; raises DataError if fewer are left."""
        self.need(size)
        self.left -= size

    def need(self, size: int) -> None:
        """Raises DataError if fewer than `size` bytes are left, without taking any."""
        if size > self.left:
            raise DataError("needs-memory", size=self._limit / 2**30, instead=self._instead)


class Texts:
    """A column as it is being read: pieces of text cells, stored as codes if texts repeat.

    decimal_comma: whether numbers in the column have a decimal comma.
    """

    def __init__(self, memory: Memory, *, decimal_comma: bool = False) -> None:
        self._memory, self._decimal_comma = memory, decimal_comma
        self._pieces: list[pa.Array] = []
        self._mostly_distinct = False
        self.is_empty = True

    def add(self, texts: pa.Array) -> None:
        """Add the cells of some rows, as written in the file."""
        import pyarrow as pa

        coded = texts
        if not pa.types.is_dictionary(texts.type):
            if self._mostly_distinct:
                self._memory.take(texts.nbytes + _OF_DISTINCT * len(texts))
                known = _known(texts, self._decimal_comma)
                self.is_empty &= known.null_count == len(known)
                self._pieces.append(known)
                return
            coded = texts.dictionary_encode()
            distinct = len(coded.dictionary)
            self._mostly_distinct = len(
                texts
            ) >= _LEAST_OF_PIECE and distinct > _DISTINCT_SHARE * len(texts)
        written = coded.dictionary
        self._memory.take(written.nbytes + _OF_DISTINCT * len(written))
        known = _known(written, self._decimal_comma)
        self.is_empty &= known.null_count == len(known)
        if known.null_count or not known.equals(written):
            # Texts that differ only in the spaces around them are the same.
            again = known.dictionary_encode()
            coded = pa.DictionaryArray.from_arrays(
                again.indices.take(coded.indices), again.dictionary
            )
        self._pieces.append(coded)
        if len(self._pieces) == _MOST_PIECES and not self._mostly_distinct:
            self._pieces = [_in_one(self._pieces)]

    def add_some(self, values: Iterable[Any], positions: NDArray[np.intp]) -> None:
        """Add the cell values[k] for each k in `positions`; the value None is a missing cell."""
        import pyarrow as pa

        texts = pa.array([None if value is None else str(value) for value in values], pa.string())
        once = texts.dictionary_encode()
        codes = once.indices.take(pa.array(positions, pa.int32()))
        self.add(pa.DictionaryArray.from_arrays(codes, once.dictionary))

    def cells(self) -> pd.Categorical | pd.api.extensions.ExtensionArray:
        """All cells, as categories, or as text if most cells are distinct."""
        import pyarrow as pa

        rows = sum(map(len, self._pieces))
        if not rows:
            return pd.Categorical([])
        codes = 0 if self._mostly_distinct else sum(len(piece.dictionary) for piece in self._pieces)
        if self._mostly_distinct or codes > _MOSTLY * max(rows, _FEW):
            whole = pa.chunked_array([piece.cast(pa.large_string()) for piece in self._pieces])
            text: pd.api.extensions.ExtensionArray = pd.array(whole, dtype="str")
            return text
        whole = _in_one(self._pieces)
        places = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        names = pd.Index(pd.array(whole.dictionary.cast(pa.large_string()), dtype="str"))
        return pd.Categorical.from_codes(places, names)


def _in_one(pieces: Sequence[pa.DictionaryArray]) -> pa.DictionaryArray:
    import pyarrow as pa

    return pa.chunked_array(pieces).unify_dictionaries().combine_chunks()


@cache
def _missing_texts() -> pa.Array:
    import pyarrow as pa

    return pa.array(sorted(MISSING_TEXTS))


def _known(texts: pa.Array, decimal_comma: bool) -> pa.Array:
    """Texts without surrounding spaces, null where they mean that there is no value."""
    import pyarrow as pa
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(texts)
    absent = compute.is_in(compute.utf8_lower(trimmed), _missing_texts())
    known = compute.if_else(absent, pa.scalar(None, trimmed.type), trimmed)
    if decimal_comma:
        plain = compute.replace_substring_regex(known, _MARKS, "")
        plain = compute.replace_substring(plain, ",", ".")
        number = compute.match_substring_regex(known, _DECIMAL_COMMA)
        known = compute.if_else(number, plain, known)
    return known


# Words that surveys and statistics programs write for "no answer".
_NUMBERS = (
    *(-1, -7, -8, -9, -77, -88, -98, -99, -999, -9999),
    *(7, 8, 9, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 99999),
)
# Negative numbers that are nothing but codes.
_NEGATIVE = {-8, -9, -88, -98, -99, -999, -9999}
_WORDS = {
    *("-", "--", "---", "–", "—", "..", "...", "(blank)", "blank", "nil", "x/x"),
    *("unknown", "unk", "not known", "missing", "not available", "not applicable", "not stated"),
    *("not reported", "not recorded", "no answer", "no response", "non response", "refused"),
    *("refusal", "don't know", "dont know", "do not know", "dk", "dk/na", "prefer not to say"),
    *("prefer not to answer", "undetermined", "unspecified", "no data", "n.a.", "n.d.", "n/d"),
    *("k. a.", "k.a.", "k.a", "keine angabe", "keine antwort", "weiß nicht", "weiss nicht"),
    *("unbekannt", "fehlend", "inconnu", "inconnue", "non renseigné", "ne sait pas", "nsp"),
    *("desconocido", "desconocida", "no sabe", "no contesta", "ns/nc", "s/d", "sin dato"),
    *("sconosciuto", "onbekend", "okänd", "ukjent", "nieznany", "неизвестно", "不明", "未知"),
}
# Fewest numbers of a scale, so that others can lie outside it.
_LEAST_OF_SCALE = 3
# Distance of a code from the other numbers, as a share of their range.
_BEYOND = 0.5


def word_codes(distinct: Sequence[str]) -> list[str]:
    """The texts that mean that a value is missing; empty if every text would be such a code."""
    codes = [text for text in distinct if means_missing(text)]
    return codes if len(codes) < len(distinct) else []


def means_missing(text: str) -> bool:
    """Whether a text is one that surveys write for "no answer"."""
    return " ".join(text.casefold().split()) in _WORDS


def number_codes(numbers: Vector, rows: Vector) -> list[float]:
    """The numbers that are codes for missing values, in increasing order.

    A code occurs in several rows.  It lies above the other numbers at a distance, or is negative
    although the others are not.
    numbers: distinct numbers.  rows: number of rows with each number.
    """
    likely = np.isin(numbers, _NUMBERS) & (rows > 1)
    scale = np.sort(numbers[~likely])
    if not likely.any() or len(scale) < _LEAST_OF_SCALE:
        return []
    codes: list[float] = []
    # The nearest first: a number that is not a code extends the scale for the next comparisons.
    for code in sorted(map(float, numbers[likely]), key=lambda n: abs(n - float(scale[-1]))):
        if _is_beyond(code, scale):
            codes.append(code)
        else:
            scale = np.sort(np.append(scale, code))
    return sorted(code for code in codes if _is_credible(code, codes, scale))


def _is_credible(code: float, codes: Sequence[float], scale: Vector) -> bool:
    """Whether a code is not just an outlying value: 8, for example, is a code only if 9 is."""
    if 0 < code < 10:
        return 9 in codes
    if code < 0:
        return bool(_NEGATIVE & set(codes)) or (code == -1 and _are_answers(scale))
    return True


def _are_answers(scale: Vector) -> bool:
    """Whether the numbers count up from 0 or 1, to at most 10."""
    low, high = float(scale[0]), float(scale[-1])
    whole = bool((scale == np.round(scale)).all())
    return whole and low in (0, 1) and high <= 10 and len(scale) == high - low + 1


def _is_beyond(code: float, scale: Vector) -> bool:
    low, high = float(scale[0]), float(scale[-1])
    if code < 0:
        # Scores from -2 to 2 have numbers below zero that are values.
        return low >= 0 and high >= _LEAST_OF_SCALE
    if _are_answers(scale):
        return code > high + 1
    return code - high > _BEYOND * (high - low) and code >= 77


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
