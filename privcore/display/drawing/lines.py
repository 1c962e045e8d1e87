"""The lines of a static drawing of a graph, and the marks at their ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def dense(way: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same path with many points, between which a mark can cut it; shape (121, 2)."""
    far = [0.0, *np.hypot(*np.diff(way, axis=0).T).cumsum()]
    at = np.linspace(0, far[-1], 121)
    return np.column_stack([np.interp(at, far, side) for side in way.T])


def ring_at_end(
    path: NDArray[np.float64], radius: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The path without the part inside the circle at its end, and the circle's centre."""
    tip = path[-1]
    far = np.hypot(*(path - tip).T)
    radius = min(radius, 0.4 * float(far.max()))
    shaft = path[far >= 2 * radius]
    along = tip - (shaft[-1] if len(shaft) else path[0])
    along /= max(float(np.hypot(*along)), 1e-9)
    return (shaft if len(shaft) > 1 else path), tip - along * radius


def arrow_at_end(
    path: NDArray[np.float64], size: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The path without the part that its head covers, and the head's corners."""
    tip = path[-1]
    far = np.hypot(*(path - tip).T)
    size = min(size, 0.8 * float(far.max()))
    shaft = path[far >= 0.8 * size]
    base = path[far >= size]
    back = tip - (base[-1] if len(base) else path[0])
    along = back / max(float(np.hypot(*back)), 1e-9)
    across = np.array([-along[1], along[0]]) * 0.4 * size
    corner = tip - along * size
    return (shaft if len(shaft) > 1 else path), np.array([tip, corner + across, corner - across])
