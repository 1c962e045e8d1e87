"""Graphs as networks to drag and pull apart: pyvis holds them, and vis-network, its script, draws.

The page that pyvis itself writes asks a server for Bootstrap and holds one network, so a page of
our own holds the script that pyvis brings.  This page may request nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pages.ui.theme import EDGES, PALETTES, ThemeName
from privcore.display.drawing import Pane, merged
from privcore.display.edge_paths import NAME_LIMIT, short_forms, wrapped
from privcore.display.shown import escaped, json_in_html, policy_hash
from privcore.graphs.pdag import MARK_SIGNS, Positions
from privcore.text import short

_TITLE = "Networks to drag"
_HOW = "Drag a column, or the ground. After a click, the wheel zooms."
_STYLE = """
body { margin: 0; color: var(--text); background: var(--background);
  font: 14px/1.4 system-ui, sans-serif; }
main { height: 100vh; display: flex; flex-direction: column; }
main:has(h1:not(.unseen)) { padding: 0 10px; box-sizing: border-box; }
.unseen { position: absolute; clip-path: inset(50%); }
h1 { font-size: 18px; margin: 12px 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 0 0 3px; font-weight: 600; overflow-wrap: anywhere; }
p { margin: 4px 2px; }
.graphs { flex: 1; display: grid; gap: 12px; grid-auto-rows: minmax(200px, 1fr);
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); }
section { border: 1px solid var(--border); border-radius: 8px; padding: 5px 8px; min-width: 0;
  display: flex; flex-direction: column; }
section > div { flex: 1; position: relative; }
.vis-network { position: absolute !important; inset: 0; overflow: hidden; }
.vis-tooltip { position: absolute; visibility: hidden; z-index: 5; pointer-events: none;
  padding: 5px 8px; border-radius: 6px; border: 1px solid var(--border); font-size: 13px;
  white-space: pre-wrap; max-width: 260px; overflow-wrap: anywhere; color: var(--text);
  background: var(--surface); }
.muted { color: var(--muted); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; }
.legend span { display: inline-flex; align-items: center; gap: 6px; }
"""


def offered() -> bool:
    """Whether pyvis is installed, which the extra `app` brings."""
    return find_spec("pyvis") is not None


def networks_page(
    panes: Sequence[Pane],
    positions: Positions,
    words: Mapping[str, str],
    *,
    theme: ThemeName = "light",
    title: str = "",
    lines: Sequence[str] = (),
) -> str:
    """A self-contained HTML page with the networks side by side, and a legend.

    positions: where the nodes start, as from `shared_layout`.  words: as for `scene`.
    title, lines: a heading and small print, in plain text.
    """
    panes, positions, *_ = merged(panes, positions)
    networks = [_network(pane, positions, words, theme) for pane in panes]
    script = Path(__file__).with_name("networks.js").read_text("utf-8")
    palette = PALETTES[theme]
    shades = ("text", "muted", "background", "border", "surface")
    colours = " ".join(f"--{name}: {getattr(palette, name)};" for name in shades)
    kinds = {pair["kind"] for pane in panes for pair in pane.as_dict()["pairs"]}
    legend = "".join(
        f"<span>{_sample(kind, theme)}{escaped(word)}</span>"
        for kind, word in words.items()
        if kind in kinds
    )
    sections = "".join(
        f'<section><h2>{escaped(pane.title)}</h2><div id="network-{k}" role="img" '
        f'aria-label="{escaped(pane.as_dict()["alt"])}"></div></section>'
        for k, pane in enumerate(panes)
    )
    policy = (
        f"default-src 'none'; script-src {policy_hash(_library())} {policy_hash(script)}; "
        "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escaped(title or _TITLE)}</title>
<style>:root {{ color-scheme: {theme}; {colours} }}{_STYLE}</style>
</head>
<body>
<main>
<h1{"" if title else ' class="unseen"'}>{escaped(title or _TITLE)}</h1>
<div class="graphs">{sections}</div>
<p class="legend">{legend}<span class="muted">{_HOW}</span></p>
{"".join(f"<p>{escaped(line)}</p>" for line in lines)}
</main>
<script type="application/json" id="content">{json_in_html({"graphs": networks})}</script>
<script>{_library()}</script>
<script>{script}</script>
</body>
</html>
"""


@lru_cache(maxsize=1)
def _library() -> str:
    """The script of vis-network, as pyvis brings it."""
    folder = files("pyvis") / "templates" / "lib" / "vis-9.1.2"
    return (folder / "vis-network.min.js").read_text("utf-8")


def _network(
    pane: Pane, positions: Positions, words: Mapping[str, str], theme: ThemeName
) -> dict[str, Any]:
    """One graph as the nodes, edges and options of vis-network; names are text, never markup."""
    # It takes a second to load, and is needed when a network is opened.
    from pyvis.network import Network

    palette, nodes = PALETTES[theme], pane.graph.nodes
    taken = {"background": palette.halo, "border": palette.text}
    box = {"background": palette.node, "border": palette.node_border, "highlight": taken}
    network = Network(directed=True)
    # Room for the boxes, where the physics begin.
    scale = 60 * math.sqrt(len(nodes))
    forms = short_forms(nodes)
    for i, (name, (x, y)) in enumerate(zip(nodes, positions, strict=True)):
        whole = wrapped(name, i)
        network.add_node(
            i,
            # Boxes of many lines would hide the edges; the tooltip has the whole name.
            label=whole if whole.count("\n") < 2 else forms[i],
            title=short(name, NAME_LIMIT),
            shape="box",
            x=scale * x,
            y=scale * y,
            color={**box, "hover": taken},
            font={"color": palette.text, "size": 15},
        )
    for pair in pane.as_dict()["pairs"]:
        i, j, mark, kind = pair["i"], pair["j"], pair["mark"], pair["kind"]
        style = EDGES[theme][kind]
        read = f"{short(nodes[i], NAME_LIMIT)} {MARK_SIGNS[mark]} {short(nodes[j], NAME_LIMIT)}"
        network.add_edge(
            i,
            j,
            title="\n".join(filter(None, [read, words.get(kind), pair.get("text")])),
            color=style.colour,
            width=pair.get("width", style.width),
            dashes=list(style.dash) or False,
            label=style.label,
            arrows={"from": _end(mark[0]), "to": _end(mark[-1])},
            # An undecided pair is no link, so it does not pull.
            physics=kind != "unclear",
        )
    options = {
        "edges": {
            "smooth": False,
            "font": {"color": palette.text, "strokeColor": palette.background},
        },
        "interaction": {"hover": True, "zoomView": False},
        # Names are drawn however small the network is.
        "nodes": {"scaling": {"label": {"drawThreshold": 1}}},
        "layout": {"improvedLayout": False, "randomSeed": 1},
        "physics": {
            "barnesHut": {
                "avoidOverlap": 0.6,
                "centralGravity": 0.5,
                "damping": 0.3,
                "gravitationalConstant": -1200,
                "springLength": 90,
            },
            "minVelocity": 0.75,
        },
    }
    network.set_options(json.dumps(options))
    own_nodes, own_edges, *_, settings = network.get_network_data()
    return {"nodes": own_nodes, "edges": own_edges, "options": json.loads(settings)}


def _end(mark: str) -> dict[str, Any]:
    """The mark at an end of an edge."""
    return {"enabled": mark != "-", "type": "circle" if mark == "o" else "arrow"}


def _sample(kind: str, theme: ThemeName) -> str:
    """A line of this class, for the legend."""
    style = EDGES[theme][kind]
    dash = f' stroke-dasharray="{" ".join(map(str, style.dash))}"' if style.dash else ""
    return (
        '<svg width="38" height="8" aria-hidden="true"><path d="M0 4H38" fill="none" '
        f'stroke="{style.colour}" stroke-width="{style.width:g}"{dash}/></svg>'
    )
