"""A partially directed graph as pyvis's model: nodes, edges and options.

Nodes are known by their numbers, never by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyvis.network import Network

from pages.ui.theme import EDGES, PALETTES, EdgeStyle, ThemeName
from privcore.graphs.pdag import PDAG, Edge, ordered
from privcore.text import short

LABEL_LIMIT = 18
_LINE_LIMIT = 11
_TITLE_LIMIT = 200
_FONT_SIZE = 15
# Mean width of a character and the box's own padding, to keep boxes apart without a browser.
_CHARACTER, _PADDING, _LINE_HEIGHT = 8.6, 18.0, 19.0
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
        name = short(pdag.nodes[i], _TITLE_LIMIT)
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
            "margin": 7,
            "borderWidth": 1,
            "borderWidthSelected": 2,
            "shapeProperties": {"borderRadius": 6},
            # Labels of large graphs stay visible when the whole graph is in view.
            "scaling": {"label": {"drawThreshold": 3}},
        },
        "edges": {
            "smooth": False,
            "arrowStrikethrough": False,
            "arrows": {"to": {"scaleFactor": 0.8}},
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


def _label(name: str, index: int) -> str:
    """The name cut to `LABEL_LIMIT`, on two lines if a word, or a capital, starts in between."""
    text = short(name, LABEL_LIMIT) or f"column {index + 1}"
    if len(text) <= _LINE_LIMIT:
        return text
    cuts = [m.end() for m in re.finditer(r"[\s_.\-]|[a-z0-9](?=[A-Z])|[A-Z](?=[A-Z][a-z])", text)]
    cuts = [cut for cut in cuts if 3 <= cut <= len(text) - 3]
    if not cuts:
        return text
    cut = min(cuts, key=lambda place: abs(2 * place - len(text)))
    return f"{text[:cut].rstrip()}\n{text[cut:]}"


def _spaced(
    positions: Sequence[tuple[float, float]], labels: Sequence[str]
) -> list[tuple[float, float]]:
    """Positions in pixels: as close as the boxes allow without overlap, wider than high."""
    sizes = []
    for label in labels:
        lines = label.split("\n")
        sizes.append(
            (
                max(map(len, lines)) * _CHARACTER + _PADDING,
                len(lines) * _LINE_HEIGHT + _PADDING,
            )
        )
    across, down = 1.25, 1.0
    scale = 150.0
    for i, (x, y) in enumerate(positions):
        for k in range(i):
            gap_x, gap_y = across * abs(x - positions[k][0]), down * abs(y - positions[k][1])
            wide = (sizes[i][0] + sizes[k][0]) / 2 + 12
            high = (sizes[i][1] + sizes[k][1]) / 2 + 12
            needed = min(
                wide / gap_x if gap_x else float("inf"), high / gap_y if gap_y else float("inf")
            )
            scale = max(scale, min(needed, 1200.0))
    return [(round(x * across * scale, 1), round(y * down * scale, 1)) for x, y in positions]
