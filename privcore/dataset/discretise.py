"""Cutting numeric columns into intervals at public points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore.dataset.model import code_type
from privcore.errors import DataError
from privcore.text import short


def cut(numbers: NDArray[np.float64], cuts: Sequence[float], name: str) -> NDArray[Any]:
    """Codes 0..len(cuts) of the intervals (−∞, c₁), [c₁, c₂), …, [c_k, ∞).

    The points are public, so the intervals never depend on the data.
    Raises DataError unless the points are finite and increasing.
    """
    if not all(math.isfinite(c) for c in cuts):
        raise DataError(f"The cut points of column {short(name)!r} must be finite numbers.")
    if any(a >= b for a, b in pairwise(cuts)):
        raise DataError(f"The cut points of column {short(name)!r} must increase.")
    return np.searchsorted(np.asarray(cuts), numbers, side="right").astype(code_type(len(cuts) + 1))


def interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """Readable names such as "< 10", "10 – 20", "≥ 20", distinct however close the points are."""
    for digits in range(3, 18):
        texts = [f"{c:.{digits}g}" for c in cuts]
        if len(set(texts)) == len(texts):
            break
    inner = [f"{a} – {b}" for a, b in pairwise(texts)]
    return (f"< {texts[0]}", *inner, f"≥ {texts[-1]}")
