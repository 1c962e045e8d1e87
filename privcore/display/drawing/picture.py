"""Draws one graph as a static SVG: no scripts, no requests, readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from privcore.display.drawing.scene import (
    EDGES,
    MARK_WORDS,
    PALETTES,
    Pane,
    ThemeName,
    arrow_at_end,
    dense,
    merged,
    ring_at_end,
)
from privcore.display.edge_paths import (
    GAP,
    LINE_HEIGHT,
    NAME_LIMIT,
    box_size,
    routes,
    short_forms,
    spaced,
    wrapped,
)
from privcore.graphs.pdag import MARK_SIGNS, MARKS, PAG
from privcore.text import short

_WIDTH, _HEIGHT = 380, 280
# Names are short forms if whole names make the picture too wide to be read in half a page, and this
# many times as wide.
_WIDEST, _WIDER = 720, 1.25
_HEAD, _RING, _ROW = 9.0, 4.5, 22
# The line of an entry of the legend.
_SAMPLE = np.column_stack((np.linspace(16, 56, 41), np.zeros(41)))
# How each host says that its page is light or dark: JupyterLab, VS Code, Colab, and this
# project's documentation.  Elsewhere the reader's own setting decides.
_HOSTS: Mapping[ThemeName, tuple[str, ...]] = {
    "light": (
        '[data-jp-theme-light="true"]',
        ".vscode-light",
        'html[theme="light"]',
        '[data-md-color-scheme="default"]',
    ),
    "dark": (
        '[data-jp-theme-light="false"]',
        ".vscode-dark",
        ".vscode-high-contrast:not(.vscode-high-contrast-light)",
        'html[theme="dark"]',
        '[data-md-color-scheme="slate"]',
    ),
}


def graph_svg(
    pane: Pane, positions: Sequence[tuple[float, float]], words: Mapping[str, str] | None = None
) -> str:
    """The SVG of one graph, with a legend of the classes and marks that occur.

    Names are whole, or short forms with a legend if the picture would become too wide.
    positions: one (x, y) per node, as from `shared_layout`.  words: the legend text of each class,
    as for `scene`.  Equal arguments give equal text.  Styles hold for this picture alone, so that
    many can stand on one page; a host that removes styles gets lines in the colour of its text.

    Raises ValueError for a wrong number of positions.
    """
    if len(positions) != len(pane.graph.nodes):
        raise ValueError(f"{len(positions)} positions for {len(pane.graph.nodes)} nodes")
    (pane,), positions, *_ = merged([pane], positions)
    nodes = pane.graph.nodes
    forms, labels = short_forms(nodes), [wrapped(name, i) for i, name in enumerate(nodes)]
    (centre, half, room), smaller = _boxes(positions, labels), _boxes(positions, forms)
    if room[0] > max(_WIDEST, _WIDER * smaller[2][0]):
        labels, (centre, half, room) = forms, smaller
    parts, seen = [], set[str]()
    pairs = pane.as_dict()["pairs"]
    ways = routes(centre, half, [(pair["i"], pair["j"]) for pair in pairs], GAP)
    for pair, way in zip(pairs, ways, strict=True):
        i, j, mark, kind = pair["i"], pair["j"], pair["mark"], pair["kind"]
        seen.add(kind)
        about = f"{short(nodes[i], NAME_LIMIT)} {MARK_SIGNS[mark]} {short(nodes[j], NAME_LIMIT)}"
        text = "\n".join(filter(None, [about, (words or {}).get(kind), pair.get("text")]))
        path = dense(way)
        thick = f' style="stroke-width:{pair["width"]}"' if "width" in pair else ""
        parts.append(
            f'<g class="pair" data-pair="{i}-{j}"><title>{escape(text)}</title>'
            f"{_line(path, mark, kind, thick)}{_label(path, kind, pane)}</g>"
        )
    for name, label, (x, y), (wide, tall) in zip(nodes, labels, centre, 2 * half, strict=True):
        lines = label.split("\n")
        first = y + 5 - LINE_HEIGHT * (len(lines) - 1) / 2
        text = "".join(
            f'<tspan x="{x:.1f}" y="{first + LINE_HEIGHT * k:.1f}">{escape(line)}</tspan>'
            for k, line in enumerate(lines)
        )
        parts.append(
            f'<g class="node"><title>{escape(short(name, NAME_LIMIT))}</title>'
            f'<rect x="{x - wide / 2:.1f}" y="{y - tall / 2:.1f}" width="{wide:.1f}" '
            f'height="{tall:.1f}" rx="6" fill="none" stroke="currentColor"/>'
            f'<text text-anchor="middle" fill="currentColor">{text}</text></g>'
        )
    width, height = (int(size) for size in room)
    # Each row: a sample, the text, and where the text begins.
    legend = [
        (_line(_SAMPLE, "--", kind), word, 66)
        for kind, word in (words or {}).items()
        if kind in seen
    ]
    if isinstance(pane.graph, PAG):
        legend += [
            (_line(_SAMPLE, MARKS[kind], "plain"), word, 66)
            for kind, word in MARK_WORDS.items()
            if pane.graph.by_kind[kind]
        ]
    if labels is forms:
        legend += [("", line, 16) for line in _explained(nodes, forms, width - 32)]
    for k, (sample, word, x) in enumerate(legend):
        parts.append(
            f'<g class="entry" transform="translate(0 {height + _ROW * k + _ROW // 2})">{sample}'
            f'<text x="{x}" y="5" fill="currentColor">{escape(word)}</text></g>'
        )
    height += _ROW * len(legend) + (8 if legend else 0)
    body = "\n".join(parts)
    alt = escape(short(pane.as_dict()["alt"], 500), quote=True)
    scope = f"cv-{sha256(f'{alt} {width} {height} {body}'.encode()).hexdigest()[:10]}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{scope}" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{alt}" '
        'font-family="system-ui, sans-serif" font-size="14" style="max-width:100%;height:auto">\n'
        f"<style>{_css(scope)}</style>\n"
        f'<rect class="paper" width="{width}" height="{height}" rx="8" fill="none"/>\n'
        f"{body}\n</svg>\n"
    )


def _boxes(
    positions: Sequence[tuple[float, float]], labels: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The boxes' centres, half their sizes, and the width and height that they need."""
    sizes = np.array([box_size(label) for label in labels]).reshape(-1, 2)
    packed = np.array(spaced(positions, labels)).reshape(-1, 2)
    low, high = packed.min(0, initial=0), packed.max(0, initial=0)
    span, edge = np.maximum(high - low, 1e-9), sizes.max(0, initial=0) + 40
    # Between boxes at minimal distance, arrows would hardly be visible.
    room = np.maximum((_WIDTH, _HEIGHT), 1.3 * span + edge)
    # The remaining space goes to the distances, and the drawing is centred.
    centre = (packed - (low + high) / 2) * ((room - edge) / span) + room / 2
    return centre, sizes / 2, room


def _explained(nodes: Sequence[str], forms: Sequence[str], width: float) -> list[str]:
    """Lines of at most this width with the short forms and the whole names."""
    lines = []
    for form, name in zip(forms, nodes, strict=True):
        if form != (whole := short(name, NAME_LIMIT)) and whole:
            text = f"{form}: {whole}"
            lines += wrap(text, max(int(len(text) * width / box_size(text)[0]), 1))
    return lines


def _line(path: NDArray[np.float64], mark: str, kind: str, style: str = "") -> str:
    """One line with its marks, which the line does not run through."""
    marks = []
    # The end at j first; reversing twice restores the path.
    for end in (mark[-1], mark[0]):
        if end in "<>":
            path, corners = arrow_at_end(path, _HEAD)
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
            marks.append(f'<polygon class="head {kind}" points="{points}" fill="currentColor"/>')
        elif end == "o":
            path, (x, y) = ring_at_end(path, _RING)
            marks.append(
                f'<circle class="ring {kind}" cx="{x:.1f}" cy="{y:.1f}" r="{_RING}" fill="none" '
                'stroke="currentColor"/>'
            )
        path = path[::-1]
    # Along a straight piece only its ends are needed.
    (x, y), (u, v) = np.diff(path, axis=0)[:-1].T, np.diff(path, axis=0)[1:].T
    some = path[np.concatenate(([True], np.abs(x * v - y * u) > 1e-6, [True]))]
    d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in some)
    drawn = f'<path class="line {kind}" d="{d}" fill="none" stroke="currentColor"{style}/>'
    return drawn + "".join(marks)


def _label(path: NDArray[np.float64], kind: str, pane: Pane) -> str:
    """The sign in the middle of an edge of some classes, on a small plate."""
    label = EDGES["light"][kind].label
    if not label:
        return ""
    if kind == "reversed" and (isinstance(pane.graph, PAG) or isinstance(pane.reference, PAG)):
        # Two different marks are not always two directions.
        label = "≠"
    x, y = path[len(path) // 2]
    return (
        f'<circle class="plate" cx="{x:.1f}" cy="{y:.1f}" r="9" fill="none"/>'
        f'<text text-anchor="middle" x="{x:.1f}" y="{y + 5:.1f}" fill="currentColor">{label}</text>'
    )


def _css(scope: str) -> str:
    """The styles of one picture, with the colours of both themes."""

    def colours(theme: ThemeName) -> str:
        palette = PALETTES[theme]
        named = {
            "paper": palette.background,
            "ink": palette.text,
            "node": palette.node,
            "rim": palette.node_border,
            **{kind: style.colour for kind, style in EDGES[theme].items()},
        }
        return "{" + "".join(f"--{name}:{colour};" for name, colour in named.items()) + "}"

    rules = [
        f".{scope}{colours('light')}",
        f"@media screen and (prefers-color-scheme:dark){{.{scope}{colours('dark')}}}",
        *(
            f"{','.join(f'{host} .{scope}' for host in hosts)}{colours(theme)}"
            for theme, hosts in _HOSTS.items()
        ),
        f".{scope} .paper,.{scope} .plate{{fill:var(--paper)}}",
        f".{scope} text{{fill:var(--ink)}}",
        f".{scope} .node rect{{fill:var(--node);stroke:var(--rim)}}",
    ]
    for kind, style in EDGES["light"].items():
        dash = f";stroke-dasharray:{' '.join(map(str, style.dash))}" if style.dash else ""
        rules += [
            f".{scope} .line.{kind}{{stroke:var(--{kind});stroke-width:{style.width:g}{dash}}}",
            f".{scope} .head.{kind}{{fill:var(--{kind})}}",
            f".{scope} .ring.{kind}{{stroke:var(--{kind});stroke-width:2}}",
        ]
    return "\n".join(rules)
