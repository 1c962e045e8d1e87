"""What a cell says, whatever file it stands in: a text, or nothing; and the memory it may take."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.errors import DataError

# Bytes that a table may take, unless told otherwise.
MEMORY = 4 << 30
# Cells that are decoded at a time.
AT_ONCE = 1 << 17
# Cells that have no value, in lower case.
MISSING_TEXTS = {"", "na", "n/a", "#n/a", "nan", "null", "?", "*", "."}
# A number with a decimal comma, and perhaps points or spaces between thousands: 1.234,5.
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:[.\s]\d{3})+),\d+")
# Bytes of a cell, as a code and as a number, and of a distinct one beside its characters.
OF_CELL, _OF_DISTINCT = 12, 300
WHERE_IT_IS = (
    "give fewer rows or columns, or count it where it is, as Parquet, by `python -m privcore "
    "discover --table`"
)


def cell_text(value: object) -> str | None:
    """A cell as text without spaces around it, None if it is missing."""
    if value is None:
        return None
    text = str(value).strip()
    return None if text.lower() in MISSING_TEXTS else text


class Memory:
    """What of the memory that a table may take is left; instead: what helps where it is short."""

    def __init__(self, limit: int, instead: str = WHERE_IT_IS) -> None:
        self._limit = self.left = limit
        self._instead = instead

    def take(self, size: int) -> None:
        """Raises DataError if so many bytes are not left."""
        self.need(size)
        self.left -= size

    def need(self, size: int) -> None:
        """Raises DataError if so many bytes are not left, and takes none."""
        if size > self.left:
            raise DataError(
                f"The table needs more than {self._limit / 2**30:.3g} GiB of memory; "
                f"{self._instead}."
            )


class Texts(dict[str, int]):
    """A column in the making: codes of its texts, by what stands in the file; -1 is missing.

    decimal_comma: whether a comma in a number is its decimal point.
    """

    def __init__(self, memory: Memory, *, decimal_comma: bool = False) -> None:
        self._memory, self._decimal_comma = memory, decimal_comma
        self._pieces: list[NDArray[np.int32]] = []
        self._texts: dict[str, int] = {}

    def __missing__(self, written: str) -> int:
        text = cell_text(written)
        if text and self._decimal_comma and _DECIMAL_COMMA.fullmatch(text):
            text = re.sub(r"[.\s]", "", text).replace(",", ".")
        self._memory.take(sys.getsizeof(written) + _OF_DISTINCT)
        self[written] = -1 if text is None else self._texts.setdefault(text, len(self._texts))
        return self[written]

    def add(self, cells: Sequence[str]) -> None:
        self._pieces.append(np.fromiter(map(self.__getitem__, cells), np.int32, len(cells)))

    def add_some(self, values: Iterable[Any], positions: NDArray[np.intp]) -> None:
        """The cells at some positions of a list of values, of which None is missing."""
        codes = [-1 if value is None else self[str(value)] for value in values]
        self._pieces.append(np.array(codes, dtype=np.int32)[positions])

    def categorical(self) -> pd.Categorical:
        codes = np.concatenate(self._pieces) if self._pieces else np.empty(0, np.int32)
        return pd.Categorical.from_codes(codes, pd.Index(list(self._texts), dtype=object))
