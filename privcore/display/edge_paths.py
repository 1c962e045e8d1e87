"""Boxes of columns, and ways around them.

The boxes in which node names are drawn: sizes, and positions without overlap.

Ways of edges between boxes: each is the shortest that meets no third box.

`drawing/graph.js` does the same in a browser, where the boxes are measured.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, count

import numpy as np
from numpy.typing import NDArray

from privcore.graphs.pdag import Edge
from privcore.text import short

FONT_SIZE = 15  # pixels, as all lengths here
# Most characters of a name that are shown; longer names are hardly meant to be read.
NAME_LIMIT = 200
_LINE_LIMIT = 12
_PIECE = re.compile(r".+?(?:[\s_.\-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|$)")
_END = re.compile(r"[\W_]+$")
LINE_HEIGHT = 18.0
# Padding on both sides, and the least gap.
_PADDING, GAP = 13.0, 10.0
# Of two ways to pack boxes, the one that better fits a frame of this ratio is chosen.
_ASPECT = 1.25


def wrapped(name: str, index: int) -> str:
    """The whole name, on several lines if it is long; the column number if the name is blank.

    Lines end after a space or a punctuation mark, or before a capital letter.  A word is split only
    if it is too long for a line.

        >>> wrapped("systolic_blood_pressure", 0)
        'systolic_\\nblood_\\npressure'
    """
    text = short(name, NAME_LIMIT) or f"column {index + 1}"
    # Long names get longer lines, so that no box becomes a tower.
    limit = max(_LINE_LIMIT, math.ceil(math.sqrt(5 * len(text))))
    lines = [""]
    for piece in _PIECE.findall(text):
        if len(lines[-1]) + len(piece.rstrip()) > limit and lines[-1]:
            lines.append("")
        lines[-1] += piece
        while len(lines[-1].rstrip()) > limit + 2:
            lines[-1:] = [lines[-1][:limit], lines[-1][limit:]]
    return "\n".join(line.rstrip() for line in lines)


def short_forms(names: Sequence[str]) -> list[str]:
    """A short form of each name, of 12 letters or so; the forms of different names differ.

    It is the whole name if it is short enough.  Else it is the part before the first punctuation
    mark, else as many words as fit, else the first letters and the number of the column.

        >>> short_forms(["Q1. I have what I need", "Q12. I know what I do", "age"])
        ['Q1', 'Q12', 'age']
        >>> short_forms(["I know what I do", "cups of coffee in a week", "cups of coffee in a day"])
        ['I know what', 'cups of …2', 'cups of …3']
    """
    whole = [short(name, NAME_LIMIT) or f"column {i + 1}" for i, name in enumerate(names)]
    begun = [{text: "", **_starts(text)} for text in whole]
    holders = Counter(chain.from_iterable(begun))
    forms = []
    for i, text in enumerate(whole):
        numbered = (f"{text[:8]}{'…' * dots}{i + 1}" for dots in count(1))
        own = [s for s in begun[i] if holders[s] == 1 and 0 < len(s) <= _LINE_LIMIT]
        marked = [s for s in own if begun[i][s].strip()]
        form = (
            text
            if len(text) <= _LINE_LIMIT
            else min(marked, key=len, default=max(own, key=len, default=""))
        )
        forms.append(form or next(s for s in numbered if s not in holders))
    return forms


def _starts(text: str) -> dict[str, str]:
    """The first words of a text, the first two, and so on, each with what separates the next."""
    starts = accumulate(_PIECE.findall(text))
    return {bare: start[len(bare) :] for start in starts if (bare := _END.sub("", start))}


def box_size(label: str) -> tuple[float, float]:
    """Width and height of a label's box in pixels, large enough for a wide font."""
    lines = label.split("\n")
    width = max(sum(map(_character, line)) for line in lines)
    return width + _PADDING, len(lines) * LINE_HEIGHT + _PADDING


def _character(c: str) -> float:
    """The width of a character in a wide font of the usual size."""
    if unicodedata.east_asian_width(c) in "WF":
        return 1.1 * FONT_SIZE
    if c in "iljtfrI.,:;'|!()[] ":
        return 0.42 * FONT_SIZE
    if c in "mwMW@%_":
        return 0.95 * FONT_SIZE
    return (0.72 if c.isupper() else 0.62) * FONT_SIZE


def spaced(
    positions: Sequence[tuple[float, float]], labels: Sequence[str]
) -> list[tuple[float, float]]:
    """Positions of the boxes in pixels, as close to each other as possible without overlap.

    Width and height are scaled independently, so that the drawing fits best into a frame whose
    width is `_ASPECT` times its height.  The browser then scales the drawing to fill its own frame.
    """
    places, sizes = np.array(positions, dtype=float), np.array([box_size(t) for t in labels])
    i, j = np.triu_indices(len(places), 1)
    if not len(i):
        return [(0.0, 0.0) for _ in positions]
    least_x, least_y = ((sizes[i] + sizes[j]) / 2 + GAP).T
    with np.errstate(divide="ignore"):
        across, down = np.minimum([least_x, least_y] / np.abs(places[i] - places[j]).T, 2000.0)
    heights = [places[:, 1] * scale for scale in np.geomspace(down.min(), down.max(), 80)]
    heights.append(_stacked(places[:, 1], sizes[:, 1]))
    ways = []
    for number, y in enumerate(heights):
        level = np.abs(y[i] - y[j]) < least_y - 1e-6
        scale = across[level].max(initial=across.min())
        wide = scale * np.ptp(places[:, 0]) + sizes[:, 0].max()
        ways.append((max(wide, _ASPECT * (np.ptp(y) + sizes[:, 1].max())), number, scale))
    _, number, scale = min(ways)
    places = np.column_stack((places[:, 0], heights[number]))
    narrow = [_pushed(places * (scale * share, 1), sizes) for share in (1, 0.85, 0.7, 0.55)]
    best = min(narrow, key=lambda boxes: np.ptp(boxes[:, 0]))
    return [(round(x, 1), round(y, 1)) for x, y in best.tolist()]


def _stacked(y: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """The y coordinate of each box, in rows that are each as high as their highest box."""
    row = np.unique(y.round(9), return_inverse=True)[1]
    highest = np.zeros(row.max() + 1)
    np.maximum.at(highest, row, high)
    steps = (highest[1:] + highest[:-1]) / 2 + GAP
    return np.concatenate(([0.0], steps.cumsum()))[row]


def _pushed(places: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions after overlapping boxes in a row are pushed apart, in an unchanged order."""
    order = np.argsort(places[:, 0], kind="stable")
    x, y, (wide, high) = places[order, 0], places[order, 1], sizes[order].T
    level = np.abs(y[:, None] - y) < (high[:, None] + high) / 2 + GAP - 0.1
    gaps = np.where(level, (wide[:, None] + wide) / 2 + GAP, -np.inf)
    right, left = x.copy(), x.copy()
    for k in range(1, len(x)):
        right[k] = max(right[k], (right[:k] + gaps[:k, k]).max())
        left[-k - 1] = min(left[-k - 1], (left[-k:] - gaps[-k - 1, -k:]).min())
    pushed = places.copy()
    # The mean of two solutions without overlap has no overlap either.
    pushed[order, 0] = (right + left) / 2
    return pushed


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
