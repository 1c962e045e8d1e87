"""Round cut points for a column of numbers, with about equally many rows in each interval."""

from __future__ import annotations

import math

import numpy as np

from privcore.arrays import Vector


def even_cuts(values: Vector, counts: Vector, parts: int) -> tuple[float, ...]:
    """Cut points, at least one, that are round numbers and give intervals of about equal counts.

    values: distinct, increasing, shape (m,), m > 1.  counts: number of rows with each value.
    Unless there are only two intervals, each has at least about half as many rows as with an
    even division.
    """
    below = np.append(0.0, np.cumsum(counts))
    total = float(below[-1])
    share = total / parts
    cuts: list[float] = []
    start = 0.0
    while len(cuts) < parts - 1:
        # The remaining rows are divided again, since one value may have more than its share.
        aim = start + (total - start) / (parts - len(cuts))
        inside = (below > start) & (below - start >= share / 2) & (total - below >= share / 2)
        candidates = np.flatnonzero(inside)
        if not candidates.size:
            break
        best = int(candidates[np.argmin(np.abs(below[candidates] - aim))])
        nearby = candidates[np.abs(below[candidates] - below[best]) <= share / 10]
        cuts.append(round_number(float(values[nearby[0] - 1]), float(values[nearby[-1]])))
        start = float(below[np.searchsorted(values, cuts[-1], side="left")])
    if not cuts:
        most = int(np.argmax(counts))
        at = most + 1 if most + 1 < len(values) else most
        cuts = [round_number(float(values[at - 1]), float(values[at]))]
    return tuple(cuts)


def round_number(low: float, high: float) -> float:
    """A number in (low, high] with as few digits as possible."""
    for power in range(math.ceil(math.log10(max(abs(low), abs(high)))) + 1, -330, -1):
        for step in (5, 2, 1):
            # Dividing by a power of ten is exact where multiplying by its inverse is not.
            unit = float(f"{step}e{power}")
            number = float(f"{(math.floor(low / unit) + 1) * unit:.15g}")
            if low < number <= high:
                return number
        if 10.0**power < (high - low) * 1e-3:
            break
    return high


def outwards(low: float, high: float) -> tuple[float, float]:
    """Bounds that enclose `low` and `high`, each rounded outwards; requires low < high.

    Bounds are rounded at the second significant digit of high − low.
    """
    unit = 10.0 ** (math.floor(math.log10(high - low)) - 1)
    down, up = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    # Dividing and multiplying may leave rounding errors such as 0.30000000000000004.
    low_text, high_text = float(f"{down:.15g}"), float(f"{up:.15g}")
    return (low_text if low_text <= low else low), (high_text if high_text >= high else high)
