"""Texts: numbers that are typed, names and counts in messages, and cells of exports."""

import math
import re

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


def short(name: object, limit: int = 40) -> str:
    """`name` on one line, cut to `limit` characters; control characters become spaces."""
    text = "".join(c if c.isprintable() else " " for c in str(name)).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def spreadsheet_cell(text: str) -> str:
    """`text`, with an apostrophe in front if a spreadsheet would read the text as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


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
