"""Keeping a root found in floating point on its safe side."""

from __future__ import annotations

from collections.abc import Callable


def shrunk_until(holds: Callable[[float], bool], value: float) -> float:
    """`value`, or a little less, so that `holds`.

    In growing steps, since for extreme arguments the condition itself is only known to some digits.
    """
    step = 1e-12
    while not holds(value):
        value *= 1 - step
        step = min(2 * step, 0.5)
    return value
