"""A partially directed graph as pyvis's model: nodes, edges and options.

Nodes are known by their numbers, never by their names.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyvis.network import Network

from pages.ui.theme import EDGES, PALETTES, EdgeStyle, ThemeName
from privcore.graphs.pdag import PDAG, Edge, ordered
from privcore.text import short

_LINE_LIMIT = 12
_TITLE_LIMIT = 200
_FONT_SIZE = 15
# Of boxes, to keep them apart without a browser: padding on both sides, height of a line, least gap.
_PADDING, _LINE_HEIGHT, _GAP = 13.0, 18.0, 10.0
# Where boxes may be packed in two ways, the one that fits into such a frame better is taken.
_ASPECT = 1.25
_ARROWS = {"--": "", "<->": "to, from"}


def graph_network(
    pdag: PDAG,
    positions: Sequence[tuple[float, float]],
    styles: Mapping[Edge, EdgeStyle],
    reference: PDAG | None,
    unclear: Iterable[Edge],
    theme: ThemeName,
    highlight: Edge | None,
) -> Network:
    """The nodes, edges and options that vis-network draws.

    styles: the `edge_styles` of `graph_html`; the other arguments are as there.
    """
    palette = PALETTES[theme]
    network = Network(directed=True, notebook=False, cdn_resources="in_line")
    labels = [_label(name, i) for i, name in enumerate(pdag.nodes)]
    for i, ((x, y), label) in enumerate(zip(_spaced(positions, labels), labels, strict=True)):
        name = short(pdag.nodes[i], _TITLE_LIMIT) or _nameless(i)
        network.add_node(i, label=label, title=name, shape="box", x=x, y=y, color=None)
    drawn = [(pair, pdag, "plain") for pair in pdag.skeleton]
    if reference is not None:
        drawn += [(pair, reference, "missing") for pair in reference.skeleton - pdag.skeleton]
    shown = {pair for pair, _, _ in drawn}
    faint = PDAG(pdag.nodes, undirected=frozenset(unclear) - shown)
    drawn += [(pair, faint, "unclear") for pair in faint.skeleton]
    for pair, graph, kind in sorted(drawn, key=lambda item: item[0]):
        style = styles.get(pair, EDGES[theme][kind])
        i, j = pair if graph.mark(*pair) != "<-" else pair[::-1]
        network.add_edge(
            i,
            j,
            id=edge_id(pair),
            arrows=_ARROWS.get(graph.mark(*pair) or "", "to"),
            color={"color": style.colour, "highlight": style.colour, "hover": style.colour},
            dashes=list(style.dash) or False,
            width=style.width,
            title=style.title,
            kind=kind,
            label=style.label,
            background={
                "enabled": highlight is not None and ordered(*highlight) == pair,
                "color": palette.halo,
                "size": 16,
            },
        )
    network.options = _options(theme)
    return network


def edge_id(pair: Edge) -> str:
    """The same for i → j, j → i and i — j, so that a selection means the pair in every graph."""
    return "{}-{}".format(*ordered(*pair))


def _options(theme: ThemeName) -> dict[str, Any]:
    palette = PALETTES[theme]
    font = {"face": "system-ui, sans-serif", "color": palette.text}
    selected = {"background": palette.halo, "border": palette.text}
    return {
        "physics": {"enabled": False},
        "layout": {"improvedLayout": False},
        "nodes": {
            "color": {
                "background": palette.node,
                "border": palette.node_border,
                "highlight": selected,
                "hover": {"background": palette.surface, "border": palette.text},
            },
            "font": {**font, "size": _FONT_SIZE},
            # A label that turned bold would be wider than the place that its box has.
            "chosen": {"label": False, "node": True},
            "margin": 5,
            "borderWidth": 1,
            "borderWidthSelected": 2,
            "shapeProperties": {"borderRadius": 6},
            # Labels of large graphs stay visible when the whole graph is in view.
            "scaling": {"label": {"drawThreshold": 3}},
        },
        "edges": {
            "smooth": False,
            "arrowStrikethrough": False,
            "arrows": {"to": {"scaleFactor": 0.6}},
            "selectionWidth": 2,
            "font": {**font, "size": 12, "strokeWidth": 4, "strokeColor": palette.background},
        },
        "interaction": {
            "hover": True,
            "hoverConnectedEdges": False,
            "selectConnectedEdges": False,
            "tooltipDelay": 150,
            "zoomView": False,
            # Only a click takes the focus: hovering must not turn the page's wheel into a zoom.
            "keyboard": {"enabled": True, "bindToWindow": False, "autoFocus": False},
        },
    }


def _nameless(index: int) -> str:
    return f"column {index + 1}"


def _label(name: str, index: int) -> str:
    """The whole name, on several lines if it is long.

    Lines end after a space, a mark or before a capital; where a word is too long, inside of it.
    """
    text = short(name, _TITLE_LIMIT) or _nameless(index)
    # Long names get longer lines, so that no box becomes a tower.
    limit = max(_LINE_LIMIT, math.ceil(math.sqrt(5 * len(text))))
    pieces = re.findall(r".+?(?:[\s_.\-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|$)", text)
    lines = [""]
    for piece in pieces:
        if len(lines[-1]) + len(piece.rstrip()) > limit and lines[-1]:
            lines.append("")
        lines[-1] += piece
        while len(lines[-1].rstrip()) > limit + 2:
            lines[-1:] = [lines[-1][:limit], lines[-1][limit:]]
    return "\n".join(line.rstrip() for line in lines)


def label_size(label: str) -> tuple[float, float]:
    """Width and height of a label's box in pixels, rather too large than too small."""
    lines = label.split("\n")
    width = max(sum(map(_character, line)) for line in lines)
    return width + _PADDING, len(lines) * _LINE_HEIGHT + _PADDING


def _character(c: str) -> float:
    """The width of a character in a wide font of the usual size."""
    if unicodedata.east_asian_width(c) in "WF":
        return 1.1 * _FONT_SIZE
    if c in "iljtfrI.,:;'|!()[] ":
        return 0.42 * _FONT_SIZE
    if c in "mwMW@%_":
        return 0.95 * _FONT_SIZE
    return (0.72 if c.isupper() else 0.62) * _FONT_SIZE


def _spaced(
    positions: Sequence[tuple[float, float]], labels: Sequence[str]
) -> list[tuple[float, float]]:
    """Positions in pixels: as close as the boxes allow without overlap.

    Across and down are stretched apart from each other, to what fits best into a frame that is
    `_ASPECT` times as wide as high; the browser stretches further, to fill the frame that it has.
    """
    places, sizes = np.array(positions, dtype=float), np.array([label_size(t) for t in labels])
    i, j = np.triu_indices(len(places), 1)
    if not len(i):
        return [(0.0, 0.0) for _ in positions]
    least_x, least_y = ((sizes[i] + sizes[j]) / 2 + _GAP).T
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
    """Rows one below the other, each as high as its highest box."""
    row = np.unique(y.round(9), return_inverse=True)[1]
    highest = np.zeros(row.max() + 1)
    np.maximum.at(highest, row, high)
    steps = (highest[1:] + highest[:-1]) / 2 + _GAP
    return np.concatenate(([0.0], steps.cumsum()))[row]


def _pushed(places: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Boxes that overlap pushed apart to both sides, in the order in which they stand."""
    order = np.argsort(places[:, 0], kind="stable")
    x, y, (wide, high) = places[order, 0], places[order, 1], sizes[order].T
    level = np.abs(y[:, None] - y) < (high[:, None] + high) / 2 + _GAP - 0.1
    apart = np.where(level, (wide[:, None] + wide) / 2 + _GAP, -np.inf)
    right, left = x.copy(), x.copy()
    for k in range(1, len(x)):
        right[k] = max(right[k], (right[:k] + apart[:k, k]).max())
        left[-k - 1] = min(left[-k - 1], (left[-k:] - apart[-k - 1, -k:]).min())
    pushed = places.copy()
    # The mean of two ways to keep all distances keeps them too.
    pushed[order, 0] = (right + left) / 2
    return pushed
