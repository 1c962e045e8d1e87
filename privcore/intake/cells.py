"""Turns cells of any kind of file into texts or missing values, within a limit on memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.errors import DataError

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
            raise DataError(
                f"The table needs more than {self._limit / 2**30:.3g} GiB of memory; "
                f"{self._instead}."
            )


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
