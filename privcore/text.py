"""Texts: numbers that are typed, names and counts in messages, and cells of exports."""

import csv
import difflib
import io
import math
import re
from collections.abc import Iterable

# The last four are the wide forms, which some spreadsheets take for the others.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")


def number_of(text: str) -> float | None:
    """The number in a text that somebody typed, such as "0.5", "-2" or "1e-6"; else None.

    Spaces around the number are allowed.  Python's `float` also reads 1_0 as 10, digits of other
    scripts, "nan" and "inf", which are mistakes where a number is typed.

    >>> number_of(" 1e-6 "), number_of("1_0"), number_of("1e999"), number_of("inf")
    (1e-06, None, None, None)
    """
    number = float(text) if _NUMBER.fullmatch(text.strip()) else math.nan
    return number if math.isfinite(number) else None


def whole_of(text: str) -> int | None:
    """The whole number in a text that somebody typed, written with digits and a sign; else None.

    >>> whole_of(" 12 "), whole_of("1_000"), whole_of("1.0")
    (12, None, None)
    """
    return int(text) if _WHOLE.fullmatch(text.strip()) else None


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that looks most like a given one, for a message about a name that is not there."""
    return difflib.get_close_matches(name, list(names), 1, 0.0)[0]


def short(name: object, limit: int = 40) -> str:
    """`name` on one line, cut to `limit` characters; control characters become spaces."""
    text = "".join(c if c.isprintable() else " " for c in str(name)).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows of cells as CSV; None and NaN are empty cells.

    A text that a spreadsheet would take for a formula gets an apostrophe in front; a number keeps
    its sign.

    >>> csv_text([["a", "b"], ["=1+1", -0.5], ["-2", None]])
    "a,b\\n'=1+1,-0.5\\n-2,\\n"
    """
    lines = []
    for row in rows:
        out = io.StringIO(newline="")
        # With these ends of lines, each of the two characters is quoted within a cell.
        csv.writer(out, lineterminator="\r\n").writerow(map(_cell, row))
        lines.append(out.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines)


def _cell(value: object) -> object:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) and number_of(value) is None else value
    return None if value != value else value


def percent(share: float) -> str:
    """A share as a whole percentage, such as "97 %"; "over 99 %" and "under 1 %" near 1 and 0."""
    if 0.99 < share < 1:
        return "over 99 %"
    return "under 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, such as "1 row" and "2,000 rows".

    plural: the noun for other numbers than 1, if it does not end in s.
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
