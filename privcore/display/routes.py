"""Ways of edges between boxes: each is the shortest that meets no third box.

`drawing/graph.js` does the same in a browser, where the boxes are measured.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from privcore.graphs.pdag import Edge

Points = NDArray[np.float64]

# In gaps: how near an edge comes to a box that it passes, and where it turns around a corner.  The
# first turn is free wherever boxes are a gap apart; later edges take the others.
_CLEAR = 0.3
_RINGS = np.array([0.45, 1.0, 1.7])
# In gaps: how much longer an edge may be for one turn less, or for not turning where others do.
_TURN, _SHARED = 0.5, 5.0
# The radius of a turn in gaps, at most.
_ROUND = 6.0
# How far from the borders of its own boxes an edge ends.
_BORDER = 2.0
_CORNERS = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])


def routes(centre: Points, half: Points, pairs: Iterable[Edge], gap: float) -> list[Points]:
    """For each pair (i, j), points from the border of box i to that of box j; shape (points, 2).

    centre, half: the boxes' centres and half their sizes, shape (p, 2).  gap: the least distance of
    two boxes.  The line through the points keeps a distance from all other boxes; it is straight if
    these are nearer to each other than a gap and leave no way.

        >>> boxes = np.array([[0.0, 0], [50, 0], [100, 0]]), np.full((3, 2), 10.0)
        >>> straight, around = routes(*boxes, [(0, 1), (0, 2)], gap=8)
        >>> straight.tolist()
        [[12.0, 0.0], [38.0, 0.0]]
        >>> bool(abs(around[:, 1]).max() > 10)
        True
    """
    if not len(centre):
        return []
    grown = half + _CLEAR * gap
    turns = _CORNERS * (half[:, None, None, :] + gap * _RINGS[:, None, None])
    corners = (centre[:, None, None, :] + turns).reshape(len(centre), -1, 2)
    # No edge leaves the area of the boxes.
    low, high = (centre - half).min(0) - gap / 2, (centre + half).max(0) + gap / 2
    inside = np.any((np.abs(corners[:, :, None] - centre) < grown).all(axis=3), axis=2)
    useful = ~inside & (corners > low).all(axis=2) & (corners < high).all(axis=2)
    used = np.zeros(useful.shape)
    found = []
    for i, j in pairs:
        others = ~np.isin(np.arange(len(centre)), (i, j))
        met, way = np.zeros(len(centre), dtype=bool), centre[[i, j]]
        turned: NDArray[np.intp] = np.empty((0, 2), dtype=int)
        # First a straight line, then around the boxes in its way, and so on.
        while np.any(hit := others & ~met & _meets(way[:-1], way[1:], centre, grown).any(axis=0)):
            met |= hit
            near = np.argwhere(useful & met[:, None])
            price = gap * (_TURN + _SHARED * used[tuple(near.T)])
            points = np.vstack([centre[i], corners[tuple(near.T)], centre[j]])
            passed = _shortest(points, np.array([0, *price, 0]), centre[met], grown[met])
            if passed is None:
                way, turned = centre[[i, j]], near[:0]
                break
            way, turned = points[[0, *passed, -1]], near[[k - 1 for k in passed]]
        used[tuple(turned.T)] += 1
        way = _rounded(way, centre[others], half[others] + _CLEAR * gap / 2, gap)
        ends = half + _BORDER
        found.append(_outside(_outside(way, centre[i], ends[i])[::-1], centre[j], ends[j])[::-1])
    return found


def _meets(start: Points, end: Points, centre: Points, half: Points) -> NDArray[np.bool_]:
    """Whether each straight piece runs through each box; shape (pieces, boxes)."""
    step = end - start
    step = np.where(np.abs(step) < 1e-9, 1e-9, step)[:, None]
    one, two = ((centre + side * half - start[:, None]) / step for side in (-1, 1))
    first, last = np.minimum(one, two).max(axis=2), np.maximum(one, two).min(axis=2)
    found: NDArray[np.bool_] = np.maximum(first, 0) < np.minimum(last, 1)
    return found


def _shortest(points: Points, price: Points, centre: Points, half: Points) -> list[int] | None:
    """The points between the first and the last on the cheapest way; None if there is no way.

    This is Dijkstra's algorithm.
    price: what passing each point costs, in addition to the length.
    """
    cost, before = np.full(len(points), np.inf), np.zeros(len(points), dtype=int)
    cost[0], waiting = 0.0, np.ones(len(points), dtype=bool)
    while waiting[-1]:
        here = int(np.where(waiting, cost, np.inf).argmin())
        if np.isinf(cost[here]):
            return None
        waiting[here] = False
        free = ~_meets(np.broadcast_to(points[here], points.shape), points, centre, half).any(1)
        total = cost[here] + np.hypot(*(points - points[here]).T) + price
        better = free & waiting & (total < cost)
        cost[better], before[better] = total[better], here
    way: list[int] = []
    here = int(before[-1])
    while here:
        way.insert(0, here)
        here = int(before[here])
    return way


def _rounded(way: Points, centre: Points, half: Points, gap: float) -> Points:
    """The way with rounded turns, as narrow as the boxes require."""
    pieces = [way[:1]]
    t = np.linspace(0, 1, 9)[:, None]
    for before, corner, after in zip(way, way[1:], way[2:], strict=False):
        back, on = before - corner, after - corner
        lengths = np.hypot(*back), np.hypot(*on)
        radius = min(_ROUND * gap, lengths[0] / 2, lengths[1] / 2)
        while True:
            start, end = corner + back / lengths[0] * radius, corner + on / lengths[1] * radius
            arc = (1 - t) ** 2 * start + 2 * t * (1 - t) * corner + t**2 * end
            if radius < gap / 8 or not _meets(arc[:-1], arc[1:], centre, half).any():
                break
            radius /= 2
        pieces.append(arc)
    return np.vstack([*pieces, way[-1:]])


def _outside(way: Points, centre: Points, half: Points) -> Points:
    """The way without its start in a box."""
    first = int((np.abs(way - centre) > half).any(axis=1).argmax())
    if not first:
        return way
    step = way[first] - way[first - 1]
    slope = np.where(np.abs(step) < 1e-9, 1e-9, step)
    ends = [(centre + side * half - way[first - 1]) / slope for side in (-1, 1)]
    return np.vstack([way[first - 1] + np.maximum(*ends).min() * step, way[first:]])
