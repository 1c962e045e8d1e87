"""Detects codes for missing values, such as 99 among answers 1 to 5, or "unknown" among words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privcore.arrays import Vector

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
