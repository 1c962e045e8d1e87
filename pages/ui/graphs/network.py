"""A partially directed graph as pyvis's model: nodes, edges and options.

Nodes are known by their numbers, never by their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyvis.network import Network

from pages.ui.theme import EDGES, PALETTES, EdgeStyle, ThemeName
from privcore.graphs.boxes import FONT_SIZE, NAME_LIMIT, spaced, wrapped
from privcore.graphs.pdag import PDAG, Edge, ordered
from privcore.text import short

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
    labels = [wrapped(name, i) for i, name in enumerate(pdag.nodes)]
    for i, ((x, y), label) in enumerate(zip(spaced(positions, labels), labels, strict=True)):
        name = short(pdag.nodes[i], NAME_LIMIT) or label
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
            "font": {**font, "size": FONT_SIZE},
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
