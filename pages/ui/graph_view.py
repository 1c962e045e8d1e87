"""A partially directed graph as one self-contained HTML page, drawn by pyvis.

pyvis keeps the model (nodes, edges, options) and brings vis-network, which draws it.  The page
around them is ours: pyvis's own template links to two content networks.  Nothing is fetched: the
library is carried compressed, and the page's content security policy allows no request at all
and no script but the two whose hashes it names.

Nodes are known by their numbers, never by their names, and names reach the page only inside a
JSON text with the characters escaped that could end it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyvis
import streamlit as st
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
_TOOLBAR = 38

_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def graph_html(
    pdag: PDAG,
    positions: Sequence[tuple[float, float]],
    *,
    edge_styles: Mapping[Edge, EdgeStyle] | None = None,
    reference: PDAG | None = None,
    unclear: Iterable[Edge] = (),
    theme: ThemeName = "light",
    channel: str = "",
    highlight: Edge | None = None,
    height: int = 460,
    caption: str = "Causal graph",
) -> str:
    """The HTML page of `pdag`, to be shown in a frame `height` pixels high.

    positions: one (x, y) a node in any unit, y growing downwards, the same for all graphs shown
    together.  edge_styles: the style of a pair (i, j) with i < j; pairs without one are plain.
    reference: pairs adjacent here but not in `pdag` are drawn too, as "missing" unless
    `edge_styles` says otherwise.  unclear: further pairs, drawn faintly if adjacent in neither.
    channel: frames of the same browser with the same channel share
    selection, view and dragged nodes; it should be unique to a session and page.  highlight: the
    pair to mark and select.  caption: the accessible name, and the name of the saved picture.

    Raises ValueError where positions or reference do not fit the nodes.
    """
    if len(positions) != len(pdag.nodes):
        raise ValueError(f"{len(positions)} positions for {len(pdag.nodes)} nodes")
    if reference is not None and reference.nodes != pdag.nodes:
        raise ValueError("the graph and its reference have different nodes")
    network = _network(pdag, positions, edge_styles or {}, reference, unclear, theme, highlight)
    nodes, edges, *_ = network.get_network_data()
    palette = PALETTES[theme]
    data = {
        "nodes": nodes,
        "edges": edges,
        "options": network.options,
        "channel": channel,
        # Dragged positions and zoom outlive a redraw only while the layout is the same.
        "layout": hashlib.sha256(repr([(n["x"], n["y"]) for n in nodes]).encode()).hexdigest()[:16],
        "selected": highlight and {"edge": _edge_id(highlight), "nodes": list(highlight)},
        "background": palette.background,
        "caption": caption,
    }
    head, library = _constant(theme)
    # A space cannot end the JSON, so the title is the only text that needs HTML's own escapes.
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>{html.escape(caption)}</title>{head}</head>'
        f'<body><div id="graph" style="height:{max(height - _TOOLBAR, 80)}px"></div>'
        '<div id="tools"><button type="button" id="smaller" aria-label="Zoom out">−</button>'
        '<button type="button" id="larger" aria-label="Zoom in">+</button>'
        '<button type="button" id="reset">Reset view</button>'
        '<button type="button" id="save">Save PNG</button></div>'
        f'<script type="application/json" id="data">{_json(data)}</script>{library}</body></html>'
    )


def show_graph(page: str, *, height: int = 460, alt: str) -> None:
    """Show what `graph_html` returned for the same height; `alt` names it for screen readers."""
    st.iframe(page, height=height, alt=alt)


def legend_html(theme: ThemeName, reference_label: str, classes: Iterable[str]) -> str:
    """A line sample and a word for each class of edge, and what it was compared with."""
    palette = PALETTES[theme]
    items = "".join(
        f'<span style="display:inline-flex;align-items:center;gap:6px;margin-right:18px;'
        f'white-space:nowrap">{_sample(EDGES[theme][name])}{html.escape(name)}</span>'
        for name in classes
    )
    return (
        f'<div style="color:{palette.text};font-size:0.875rem;line-height:1.8">{items}'
        f'<span style="color:{palette.muted}">reference: {html.escape(short(reference_label))}'
        "</span></div>"
    )


def _sample(style: EdgeStyle) -> str:
    """A border, since Streamlit takes drawings out of the HTML that it shows."""
    line = "solid" if not style.dash else "dotted" if style.dash[0] < style.dash[1] else "dashed"
    return (
        '<span aria-hidden="true" style="display:inline-block;width:38px;height:0;'
        f'border-top:{style.width:g}px {line} {style.colour}"></span>'
    )


def _network(
    pdag: PDAG,
    positions: Sequence[tuple[float, float]],
    styles: Mapping[Edge, EdgeStyle],
    reference: PDAG | None,
    unclear: Iterable[Edge],
    theme: ThemeName,
    highlight: Edge | None,
) -> Network:
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
            id=_edge_id(pair),
            arrows="" if graph.mark(*pair) == "--" else "to",
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


def _edge_id(pair: Edge) -> str:
    """The same for i → j, j → i and i — j, so that a selection means the pair in every graph."""
    return "{}-{}".format(*ordered(*pair))


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


def _json(data: object) -> str:
    """JSON that cannot end the script element it stands in, whatever the names hold."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)


@lru_cache(maxsize=2)
def _constant(theme: ThemeName) -> tuple[str, str]:
    """What all pages of a theme share: the head, and the scripts at the end of the body."""
    source = (Path(pyvis.__file__).parent / "lib/vis-9.1.2/vis-network.min.js").read_text("utf-8")
    script = Path(__file__).with_name("graph_script.js").read_text("utf-8")
    packed = base64.b64encode(gzip.compress(source.encode(), 9, mtime=0)).decode()
    policy = (
        f"default-src 'none'; script-src {_hash(script)} {_hash(source)}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<style>{_css(theme)}</style>"
    )
    library = f'<script type="text/plain" id="library">{packed}</script><script>{script}</script>'
    return head, library


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _css(theme: ThemeName) -> str:
    p = PALETTES[theme]
    return (
        f":root{{color-scheme:{theme}}}"
        f"body{{margin:0;background:{p.background};color:{p.text};"
        "font:14px system-ui,sans-serif;overflow:hidden}"
        f"#graph{{box-sizing:border-box;border:1px solid {p.border};border-radius:6px}}"
        f"#graph:focus-within{{border-color:{p.primary}}}"
        "#graph .vis-network{outline:none}"
        f"#graph .vis-network:focus-visible{{outline:2px solid {p.primary};outline-offset:-2px}}"
        "#tools{display:flex;gap:6px;padding-top:6px}"
        f"button{{font:inherit;font-size:13px;color:{p.text};background:{p.background};"
        f"border:1px solid {p.border};border-radius:6px;padding:4px 10px;cursor:pointer}}"
        f"button:hover{{border-color:{p.primary}}}"
        f"button:focus-visible{{outline:2px solid {p.primary};outline-offset:1px}}"
        "#save{margin-left:auto}"
        "div.vis-tooltip{position:absolute;visibility:hidden;z-index:5;max-width:260px;"
        f"padding:5px 8px;white-space:pre-wrap;overflow-wrap:anywhere;background:{p.surface};"
        f"color:{p.text};border:1px solid {p.border};border-radius:4px;pointer-events:none}}"
    )
