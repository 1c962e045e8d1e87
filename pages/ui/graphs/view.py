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
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import pyvis
import streamlit as st

from pages.ui.graphs.network import edge_id, graph_network
from pages.ui.theme import EDGES, PALETTES, EdgeStyle, ThemeName
from privcore.graphs.pdag import PDAG, Edge
from privcore.text import short

# Names come into the list by the script, as text.
_TOOLS = (
    '<div id="tools" role="group" aria-label="Tools of the graph">'
    '<input type="search" id="search" list="names" autocomplete="off" spellcheck="false" '
    'aria-label="Find a node" placeholder="Find a node"><datalist id="names">'
    '</datalist><button type="button" id="smaller" aria-label="Zoom out">−</button>'
    '<button type="button" id="larger" aria-label="Zoom in">+</button>'
    '<button type="button" id="reset" aria-label="Reset view">Reset</button>'
    '<button type="button" id="full" aria-label="Full screen" aria-pressed="false" '
    'title="Full screen" hidden><svg aria-hidden="true" width="14" height="14" '
    'viewBox="0 0 14 14" fill="none" stroke="currentColor" stroke-width="2">'
    '<path d="M1 5V1h4M9 1h4v4M13 9v4H9M5 13H1V9"/></svg></button>'
    '<button type="button" id="save" aria-label="Save PNG" title="Save PNG">PNG</button></div>'
)

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
    """The HTML page of `pdag`, which fills the frame it is shown in; `height` pixels on paper.

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
    network = graph_network(
        pdag, positions, edge_styles or {}, reference, unclear, theme, highlight
    )
    nodes, edges, *_ = network.get_network_data()
    palette = PALETTES[theme]
    data = {
        "nodes": nodes,
        "edges": edges,
        "options": network.options,
        "channel": channel,
        # Dragged positions and zoom outlive a redraw only while the layout is the same.
        "layout": hashlib.sha256(repr([(n["x"], n["y"]) for n in nodes]).encode()).hexdigest()[:16],
        "selected": highlight and {"edge": edge_id(highlight), "nodes": list(highlight)},
        "background": palette.background,
        "caption": caption,
    }
    head, library = _constant(theme)
    # A space cannot end the JSON, so the title is the only text that needs HTML's own escapes.
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>{html.escape(caption)}</title>{head}</head>'
        f'<body><main style="--printed:{height}px">{_TOOLS}'
        '<div id="stage"><div id="graph"></div><p id="about" role="status" tabindex="0" hidden></p>'
        "</div></main>"
        f'<script type="application/json" id="data">{_json(data)}</script>{library}</body></html>'
    )


def show_graph(page: str, *, height: int = 460, alt: str) -> None:
    """Show what `graph_html` returned in a frame `height` pixels high, unless CSS says otherwise.

    alt: what screen readers say of it.
    """
    st.iframe(page, height=height, alt=alt)


def legend_html(
    theme: ThemeName,
    reference_label: str,
    classes: Iterable[str],
    words: Mapping[str, str] | None = None,
) -> str:
    """A line sample and a word for each class of edge, and what it was compared with.

    words: what to call the classes, by default their names.
    """
    palette = PALETTES[theme]
    called = words or {}
    items = "".join(
        f'<span style="display:inline-flex;align-items:center;gap:6px;margin-right:18px;'
        f'white-space:nowrap">{_sample(EDGES[theme][name])}'
        f"{html.escape(called.get(name, name))}</span>"
        for name in classes
    )
    return (
        f'<div style="color:{palette.text};font-size:0.875rem;line-height:1.6;display:flex;'
        f'flex-wrap:wrap;align-items:center">{items}'
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


def _json(data: object) -> str:
    """JSON that cannot end the script element it stands in, whatever the names hold."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)


@lru_cache(maxsize=2)
def _constant(theme: ThemeName) -> tuple[str, str]:
    """What all pages of a theme share: the head, and the scripts at the end of the body."""
    source = (Path(pyvis.__file__).parent / "lib/vis-9.1.2/vis-network.min.js").read_text("utf-8")
    script = Path(__file__).with_name("script.js").read_text("utf-8")
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
        "main{display:flex;flex-direction:column;height:100vh}"
        ":fullscreen main{padding:8px;box-sizing:border-box}"
        "@media print{main{height:var(--printed)}}"
        "#stage{position:relative;flex:1;min-height:0}"
        "#graph{position:absolute;inset:0;box-sizing:border-box;"
        f"border:1px solid {p.border};border-radius:6px}}"
        f"#graph:focus-within{{border-color:{p.primary}}}"
        "#graph .vis-network{outline:none}"
        f"#graph .vis-network:focus-visible{{outline:2px solid {p.primary};outline-offset:-2px}}"
        "#about{position:absolute;left:6px;right:6px;bottom:6px;max-height:40%;overflow:auto;"
        "box-sizing:border-box;margin:0;padding:3px 8px;font-size:13px;overflow-wrap:anywhere;"
        f"background:{p.surface};border:1px solid {p.border};border-radius:6px}}"
        "#about.above{top:6px;bottom:auto}"
        "[hidden]{display:none!important}"
        "#tools{display:flex;gap:4px;padding-bottom:4px}"
        f"button,input{{font:inherit;font-size:13px;color:{p.text};background:{p.background};"
        f"border:1px solid {p.node_border};border-radius:6px;box-sizing:border-box;height:28px;"
        "min-width:28px;margin:0}"
        "button{padding:0 7px;cursor:pointer;flex:none}"
        "button svg{display:block}"
        f"button[aria-pressed=true]{{background:{p.halo}}}"
        "input{flex:0 1 190px;min-width:0;padding:0 8px;margin-right:auto}"
        f"input::placeholder{{color:{p.muted};opacity:1}}"
        f"button:hover,input:hover{{border-color:{p.primary}}}"
        f":is(button,input,#about):focus-visible{{outline:2px solid {p.primary};"
        "outline-offset:-1px}"
        "div.vis-tooltip{position:absolute;visibility:hidden;z-index:5;max-width:260px;"
        f"padding:5px 8px;white-space:pre-wrap;overflow-wrap:anywhere;background:{p.surface};"
        f"color:{p.text};border:1px solid {p.border};border-radius:4px;pointer-events:none}}"
    )
