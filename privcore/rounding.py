"""Conservative rounding: shares go down; scales and costs go up.

Plans and scales are formulas of a few dozen floating-point operations, each with a relative error
of at most 1.1e-16.  `down` and `up` move the result of a formula by far more than that, and by far
less than any printed digit, so the number holds in exact arithmetic.  Where a formula loses digits
(the conversions between ε and δ), it is evaluated with many more digits, and rounded up once.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction

_HAIR = 1e-12


def down(share: float) -> float:
    """Slightly less: for a share of ε, δ, ρ or μ from a formula in floating point."""
    return share * (1 - _HAIR)


def up(scale: float) -> float:
    """Slightly more: for a scale, a sensitivity or a cost from a formula in floating point."""
    return scale * (1 + _HAIR)


def sum_up(steps: Iterable[tuple[float, int]]) -> float:
    """The least double not below the sum of numbers with multiplicities; ∞ if one is ∞."""
    counted = [(number, count) for number, count in steps if count]
    if not all(math.isfinite(number) for number, _ in counted):
        return math.fsum(number for number, _ in counted)
    return round_up(sum((Fraction(number) * count for number, count in counted), Fraction(0)))


def round_up(exact: Fraction) -> float:
    """The least double not below a number; ∞ if all are below it."""
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def largest(holds: Callable[[float], bool], guess: float) -> float:
    """The largest finite double for which `holds`, which is true up to some number and false above.

    0 if it holds for no positive number.  guess: where to look first; a poor one only costs time.
    """
    # Non-negative doubles are in the order of their bits.
    low, high = 0, _bits(sys.float_info.max) + 1
    at, step = min(max(_bits(guess), 1), high - 1), 1
    while high - low > 1:
        if holds(_double(at)):
            low, ahead = at, at + step
        else:
            high, ahead = at, at - step
        # Growing steps until two of them bracket the limit, then bisection.
        at = ahead if low < ahead < high and step else (low + high) // 2
        step = 2 * step if low < ahead < high else 0
    return _double(low)


def _bits(number: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def _double(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])
