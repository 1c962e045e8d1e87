"""Rounding that can only promise less: shares go down; scales and costs go up.

Plans and scales are formulas of a few dozen operations in floating point, each right to 1.1e-16 of
its result.  `down` and `up` move what a formula gives by far more than that, and by far less than
anybody could see, so that the number holds in exact arithmetic.  Where a formula loses digits (the
conversions between ε and δ), it is evaluated with many more of them, and rounded up once.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction

_HAIR = 1e-12


def down(share: float) -> float:
    """A hair less: a share of ε, δ, ρ or μ that a formula in floating point gave."""
    return share * (1 - _HAIR)


def up(scale: float) -> float:
    """A hair more: a scale, a sensitivity or a cost that a formula in floating point gave."""
    return scale * (1 + _HAIR)


def sum_up(steps: Iterable[tuple[float, int]]) -> float:
    """The least double that is not below the sum of numbers, each so many times; ∞ if one is ∞."""
    counted = [(number, count) for number, count in steps if count]
    if not all(math.isfinite(number) for number, _ in counted):
        return math.fsum(number for number, _ in counted)
    return round_up(sum((Fraction(number) * count for number, count in counted), Fraction(0)))


def round_up(exact: Fraction) -> float:
    """The least double that is not below it; ∞ beyond all of them."""
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def largest(holds: Callable[[float], bool], guess: float) -> float:
    """The largest finite double at which `holds`, which is true up to some number and false beyond.

    0 if it holds nowhere above.  guess: where to look first; a poor one costs time only.
    """
    # Doubles that are not negative are in the order of their bits.
    low, high = 0, _bits(sys.float_info.max) + 1
    at, step = min(max(_bits(guess), 1), high - 1), 1
    while high - low > 1:
        if holds(_double(at)):
            low, ahead = at, at + step
        else:
            high, ahead = at, at - step
        # In growing steps until the end is between two of them, then by halves.
        at = ahead if low < ahead < high and step else (low + high) // 2
        step = 2 * step if low < ahead < high else 0
    return _double(low)


def _bits(number: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def _double(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])
