"""How the cells of a column are written: numbers with their marks and units, and missing values.

A `Writing` is part of a schema, so how a cell is read does not depend on other rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.arrays import Vector
from privcore.data.discretise import CURRENCIES
from privcore.errors import DataError
from privcore.text import short

_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|BRL|ZAR"
# Sign, currency, digits with marks in between, and a unit without digits.
_NUMBER = re.compile(
    rf"(?P<sign>[+\-−]?)\s*(?P<before>[{CURRENCIES}]|(?:{_CODES})\b)?\s*(?P<minus>[+\-−]?)"
    r"(?P<digits>[\d.,]?\d[\d.,'’\s]*)(?P<power>[eE][+-]?\d+)?"
    r"\s*(?P<after>[^\W\d][^\d]*|[%‰°²³/µ" + CURRENCIES + r"][^\d]*)?"
)
# With these a number is a rank, a multiple or a bound, not a quantity.
_NO_UNIT = {"st", "nd", "rd", "th", "k", "m", "mio", "bn", "mrd", "x"}
# More digits than a number can hold exactly, and codes such as 01307.
_CODE = r"^[+-]?(\d{16,}(\.0*)?|0\d+)$"
# A whole number as programs write it among numbers with decimals.
_WHOLE = re.compile(r"(?:-(?=0))?(0|-?[1-9]\d*)\.0", re.ASCII)
# Short forms of the two truth values, as R and SQL write them.
_TRUTH = {"t": "true", "f": "false"}


@dataclass(frozen=True)
class Writing:
    """How the cells of a column are written.

    decimal: the decimal mark, a point or a comma; the other mark, spaces and apostrophes then
        separate thousands.  Empty for numbers that Python can read.
    unit: unit written next to each number, such as "mg", "%" or "$".
    missing_codes: cells that mean a missing value, such as "99"; numbers are compared as numbers.
    ignore_case: whether levels that differ only in case and spaces are merged.

    Raises DataError for an unknown decimal mark.
    """

    decimal: Literal["", ".", ","] = ""
    unit: str = ""
    missing_codes: tuple[str, ...] = ()
    ignore_case: bool = False

    def __post_init__(self) -> None:
        if self.decimal not in ("", ".", ","):
            raise DataError(
                f"The decimal mark {short(self.decimal)!r} is neither a point nor a comma; give "
                "one of them."
            )

    def present(self, cells: pd.Series[Any]) -> pd.Series[Any]:
        """The cells, None where they hold a code for a missing value."""
        if not self.missing_codes:
            return cells
        codes = set(self.missing_codes)
        values = {float(code) for code in codes if _is_plain(code)}
        return each(
            cells,
            lambda text: (
                None if text in codes or (_is_plain(text) and float(text) in values) else text
            ),
        )

    def numbers(self, cells: pd.Series[Any]) -> pd.Series[Any]:
        """The cells with numbers as Python writes them; other cells are unchanged."""
        if not self.decimal:
            return cells
        return each(cells, lambda text: plain_number(text, self.decimal, self.unit) or text)

    def levels(self, cells: pd.Series[Any], levels: Sequence[str]) -> pd.Series[Any]:
        """The cells with each spelling replaced by its level; other cells are unchanged.

        1.0 is a spelling of 1: programs write a column of whole numbers with decimals as soon as
        one of them is missing.
        """

        def key(text: str) -> str:
            whole = _WHOLE.fullmatch(text)
            return whole[1] if whole else spelling(text) if self.ignore_case else text

        own, spelt = set(levels), {key(level): level for level in reversed(levels)}
        return each(cells, lambda text: text if text in own else spelt.get(key(text), text))


PLAIN = Writing()


def each(cells: pd.Series[Any], change: Callable[[str], str | None]) -> pd.Series[Any]:
    """Applies `change` to the cells, once for each distinct cell; missing cells stay missing."""
    owner, distinct = pd.factorize(cells)
    changed = np.array([*(change(str(text)) for text in distinct), None], dtype=object)
    return pd.Series(changed[owner], index=cells.index, dtype=object)


def spelling(level: str) -> str:
    """The normal form that all spellings of a level share."""
    words = " ".join(level.casefold().split())
    return _TRUTH.get(words, words)


def any_code(texts: Sequence[str] | pd.Series[Any]) -> bool:
    """Whether any text is a code rather than a number: 01307, or a number of 16 or more digits."""
    import pyarrow as pa
    from pyarrow import compute

    match = compute.match_substring_regex(pa.array(texts, pa.large_string()), _CODE)
    return bool(compute.any(match).as_py())


def in_text_order(texts: NDArray[np.object_]) -> NDArray[np.int64]:
    """Positions that sort the texts by their characters."""
    import pyarrow as pa
    from pyarrow import compute

    order = compute.sort_indices(pa.array(texts, pa.large_string()))
    return np.asarray(order.to_numpy(), dtype=np.int64)


def plain_number(text: str, decimal: str, unit: str) -> str | None:
    """A number as Python writes it, None if the text is not a number."""
    parts = _parts_of(text)
    if parts is None or parts[2].casefold() not in ("", unit.casefold()):
        return None
    digits, power = parts[1], parts[3]
    whole, _, rest = digits.partition(decimal)
    groups = re.split(r"[,\s'’]" if decimal == "." else r"[.\s'’]", whole)
    if (rest and not rest.isdigit()) or (len(groups) > 1 and not _in_thousands(groups)):
        return None
    number = f"{parts[0]}{''.join(groups)}.{rest or '0'}" if rest else parts[0] + "".join(groups)
    return number + power if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", number) else None


def writing_of(distinct: Sequence[str], rows: Vector, least: float) -> Writing | None:
    """The notation in which the cells are written as numbers, or None if they are not numbers.

    rows: number of rows for each distinct cell.  least: share of the rows that must be readable.
    """
    if any_code(distinct):
        return None
    taken = [_parts_of(text) for text in distinct]
    total = float(rows.sum())
    if sum(r for r, parts in zip(rows, taken, strict=True) if parts is not None) < least * total:
        return None
    units: dict[str, float] = {}
    for parts, count in zip(taken, rows, strict=True):
        if parts is not None and parts[2]:
            units[parts[2]] = units.get(parts[2], 0.0) + float(count)
    unit = max(units, key=lambda text: units[text]) if units else ""
    if unit.casefold() in _NO_UNIT:
        return None
    decimal = _decimal_mark([parts[1] for parts in taken if parts is not None])
    if decimal is None:
        return None
    read = [plain_number(text, decimal, unit) is not None for text in distinct]
    return Writing(decimal, unit) if float(rows[np.array(read)].sum()) >= least * total else None


def _parts_of(text: str) -> tuple[str, str, str, str] | None:
    """Sign, digits with their marks, unit and power of ten of a number."""
    text = text.strip()
    bracketed = text.startswith("(") and text.endswith(")")
    match = _NUMBER.fullmatch(text[1:-1].strip() if bracketed else text)
    if match is None:
        return None
    sign = match["sign"] or match["minus"]
    if (match["sign"] and match["minus"]) or (match["before"] and match["after"]):
        return None
    minus = "-" if sign in ("-", "−") or bracketed else ""
    unit = (match["before"] or match["after"] or "").strip()
    return minus, match["digits"].strip(), unit, match["power"] or ""


def _decimal_mark(digits: Sequence[str]) -> Literal[".", ","] | None:
    """The decimal mark that fits all numbers; a point if none has decimals."""
    marks: set[Literal[".", ","]] = set()
    for text in digits:
        points, commas = text.count("."), text.count(",")
        if points and commas:
            marks.add("." if text.rfind(".") > text.rfind(",") else ",")
        elif points > 1 or commas > 1:
            marks.add("," if points else ".")
        elif commas and not _in_thousands(re.split(r"[,\s'’]", text)):
            marks.add(",")
        elif points and not _in_thousands(re.split(r"[.\s'’]", text)):
            marks.add(".")
    if len(marks) > 1:
        return None
    return marks.pop() if marks else "."


def _in_thousands(groups: Sequence[str]) -> bool:
    return 1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])


def _is_plain(text: str) -> bool:
    return bool(re.fullmatch(r"[+-]?\d+(\.\d*)?", text))
