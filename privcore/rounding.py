"""Conservative rounding: shares are rounded down; scales and costs are rounded up.

Plans and noise scales come from formulas of a few dozen floating-point operations, each with a
relative error of at most 1.1e-16.  `down` and `up` move the result by far more than the total error
and by far less than the last printed digit, so bounds also hold in exact arithmetic.  Formulas that
lose digits (the conversions between ε and δ) are evaluated with many more digits and rounded once.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction

_HAIR = 1e-12


def down(share: float) -> float:
    """Slightly reduce a share of ε, δ, ρ or μ that was computed in floating point."""
    return share * (1 - _HAIR)


def up(scale: float) -> float:
    """Slightly increase a scale, sensitivity or cost that was computed in floating point."""
    return scale * (1 + _HAIR)


def sum_up(steps: Iterable[tuple[float, int]]) -> float:
    """Sum of number · count over (number, count) pairs, rounded up to a double; may be ∞."""
    counted = [(number, count) for number, count in steps if count]
    if not all(math.isfinite(number) for number, _ in counted):
        return math.fsum(number for number, _ in counted)
    return round_up(sum((Fraction(number) * count for number, count in counted), Fraction(0)))


def round_up(exact: Fraction) -> float:
    """The smallest double that is at least `exact`; ∞ if `exact` exceeds every finite double."""
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def largest(holds: Callable[[float], bool], guess: float) -> float:
    """The largest positive finite double for which `holds` is true; 0 if there is none.

    holds: a function that is true up to some number and false above it.  guess: where the search
    starts; a poor guess only costs time.
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
