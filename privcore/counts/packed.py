"""Packs projections end to end, in the format of the compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privcore.counts.projections import Projection
from privcore.kernels.arguments import Packed

# Codes are packed in two bytes each.
_MAX_LEVELS = 1 << 16


def packable(levels: Sequence[int]) -> bool:
    """Whether every column has few enough levels for codes of two bytes."""
    return max(levels) <= _MAX_LEVELS


def pack(projections: Sequence[Projection], levels: Sequence[int]) -> Packed:
    """Packs projections of `packable` columns end to end.

    Raises ValueError for a code outside a column's levels, because compiled code would then write
    outside its arrays.
    """
    for column, codes in projections[-1].codes.items():
        if codes.size and not (int(codes.min()) >= 0 and int(codes.max()) < levels[column]):
            raise ValueError("every code must be between 0 and the number of levels minus 1")
    parts: list[NDArray[np.uint16]] = []
    places = np.full((len(projections), len(levels)), -1, dtype=np.int64)
    sizes = np.array([projection.rows for projection in projections], dtype=np.int64)
    for position, projection in enumerate(projections):
        for place, (column, codes) in enumerate(projection.codes.items()):
            places[position, column] = place
            parts.append(codes.astype(np.uint16, copy=False))
    held = np.array([len(projection.codes) for projection in projections], dtype=np.int64)
    return Packed(
        np.concatenate(parts),
        np.concatenate(([0], np.cumsum(sizes * held)[:-1])),
        sizes,
        np.concatenate([projection.multiplicities for projection in projections]),
        np.concatenate(([0], np.cumsum(sizes)[:-1])),
        places,
        np.array(levels, dtype=np.int64),
    )
