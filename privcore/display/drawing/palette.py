"""Colours and edge styles of both themes, shared by the graphs, the pages and the charts.

The pages' own colours are also in `.streamlit/config.toml`, where Streamlit reads them.  The edge
colours are from the Okabe–Ito palette, which is safe for colour-blind readers.  Each colour
has a contrast of at least 3:1 on its background (WCAG 2.1, 1.4.11).  Each class of edges also
differs from the others in dashes or label, so that colour alone never carries information.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

ThemeName = Literal["light", "dark"]


@dataclass(frozen=True)
class Palette:
    """Colours of one theme, as #RRGGBB.

    shades: for each colour of `series`, another shade, for a second line that belongs to the first.
    map_end: the last colour of the colour maps, whose first colour is `surface`.  Text is readable
    on every colour of the maps.
    """

    background: str
    surface: str
    text: str
    muted: str
    border: str
    primary: str
    link: str
    node: str
    node_border: str
    halo: str
    map_end: str
    series: tuple[str, ...]
    shades: tuple[str, ...]


@dataclass(frozen=True)
class EdgeStyle:
    """The style of an edge.

    dash: the lengths of stroke and gap in pixels; empty for a solid line.  width: the line width in
    pixels.  label: the text set on the edge.
    """

    colour: str
    dash: tuple[int, ...] = ()
    width: float = 2.0
    label: str = ""


PALETTES: Mapping[ThemeName, Palette] = {
    "light": Palette(
        background="#FFFFFF",
        surface="#F1F5F8",
        text="#1B2733",
        muted="#56606B",
        border="#CBD5DF",
        primary="#0072B2",
        link="#00619A",
        node="#EAF1F7",
        node_border="#6B7C8C",
        halo="#F2D98A",
        map_end="#56B4E9",
        series=("#0072B2", "#D55E00", "#009E73", "#AA4499", "#56606B", "#8C6D00"),
        shades=("#003F63", "#6E2F00", "#00543D", "#5E1F53", "#2B333B", "#4A3A00"),
    ),
    "dark": Palette(
        background="#12171D",
        surface="#1D252E",
        text="#E6EBF0",
        muted="#9AA5B1",
        border="#3A4653",
        primary="#2279B8",
        link="#7CC4F0",
        node="#26323E",
        node_border="#7C8B9A",
        halo="#6B5A1E",
        map_end="#00659E",
        series=("#56B4E9", "#E8743B", "#2BB893", "#CC79A7", "#9AA5B1", "#E6B422"),
        shades=("#B5E0F8", "#F9CDB4", "#A6E9D4", "#F0D2E2", "#CFD6DD", "#A98200"),
    ),
}

EDGES: Mapping[ThemeName, Mapping[str, EdgeStyle]] = {
    "light": {
        "plain": EdgeStyle("#56606B", (), 2.0),
        "match": EdgeStyle("#0072B2", (), 3.0),
        "undirected": EdgeStyle("#00785A", (), 3.0, "?"),
        "reversed": EdgeStyle("#B8568B", (), 3.0, "⇄"),
        "extra": EdgeStyle("#D55E00", (2, 6), 3.0),
        "missing": EdgeStyle("#56606B", (10, 6), 2.0),
        "unclear": EdgeStyle("#56606B", (1, 7), 1.0),
    },
    "dark": {
        "plain": EdgeStyle("#9AA5B1", (), 2.0),
        "match": EdgeStyle("#56B4E9", (), 3.0),
        "undirected": EdgeStyle("#2BB893", (), 3.0, "?"),
        "reversed": EdgeStyle("#CC79A7", (), 3.0, "⇄"),
        "extra": EdgeStyle("#E8743B", (2, 6), 3.0),
        "missing": EdgeStyle("#9AA5B1", (10, 6), 2.0),
        "unclear": EdgeStyle("#9AA5B1", (1, 7), 1.0),
    },
}


def colours_css(root: str = ".cv") -> str:
    """CSS that sets the colours of each theme as variables of `root` with class light or dark."""
    rules = []
    for theme, palette in PALETTES.items():
        named = {f.name: getattr(palette, f.name) for f in fields(palette)}
        named |= {kind: style.colour for kind, style in EDGES[theme].items()}
        words = " ".join(
            f"--{name.replace('_', '-')}: {value};"
            for name, value in named.items()
            if isinstance(value, str)
        )
        rules.append(f"{root}.{theme} {{ color-scheme: {theme}; {words} }}")
    return "\n".join(rules)
