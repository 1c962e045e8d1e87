"""What is drawn: lines, colours, and a graph as boxes and paths.

The lines of a static drawing of a graph, and the marks at their ends.

Colours and edge styles of both themes, shared by the graphs, the pages and the charts.

The pages' own colours are also in `.streamlit/config.toml`, where Streamlit reads them.  The edge
colours are from the Okabe–Ito palette, which is safe for colour-blind readers.  Each colour
has a contrast of at least 3:1 on its background (WCAG 2.1, 1.4.11).  Each class of edges also
differs from the others in dashes or label, so that colour alone never carries information.

Describes graphs over the same nodes as plain data, for the script that draws them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.display.edge_paths import NAME_LIMIT, short_forms, wrapped
from privcore.display.layout import matrix_order
from privcore.graphs.pdag import MARKS, PAG, PDAG, Edge, Kind, ordered
from privcore.text import counted, short


def dense(way: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same path with many points, between which a mark can cut it; shape (121, 2)."""
    far = [0.0, *np.hypot(*np.diff(way, axis=0).T).cumsum()]
    at = np.linspace(0, far[-1], 121)
    return np.column_stack([np.interp(at, far, side) for side in way.T])


def ring_at_end(
    path: NDArray[np.float64], radius: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The path without the part inside the circle at its end, and the circle's centre."""
    tip = path[-1]
    far = np.hypot(*(path - tip).T)
    radius = min(radius, 0.4 * float(far.max()))
    shaft = path[far >= 2 * radius]
    along = tip - (shaft[-1] if len(shaft) else path[0])
    along /= max(float(np.hypot(*along)), 1e-9)
    return (shaft if len(shaft) > 1 else path), tip - along * radius


def arrow_at_end(
    path: NDArray[np.float64], size: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The path without the part that its head covers, and the head's corners."""
    tip = path[-1]
    far = np.hypot(*(path - tip).T)
    size = min(size, 0.8 * float(far.max()))
    shaft = path[far >= 0.8 * size]
    base = path[far >= size]
    back = tip - (base[-1] if len(base) else path[0])
    along = back / max(float(np.hypot(*back)), 1e-9)
    across = np.array([-along[1], along[0]]) * 0.4 * size
    corner = tip - along * size
    return (shaft if len(shaft) > 1 else path), np.array([tip, corner + across, corner - across])


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


# The edges of a PAG in plain words; the last two are shown only if a graph has such edges.
MARK_WORDS: dict[Kind, str] = {
    "directed": "causes",
    "bidirected": "share an unobserved confounder",
    "partially_directed": "may cause, but is not caused by",
    "nondirected": "any of these, undetermined",
    "undirected": "both affect which rows were selected",
    "partially_undirected": "selection, or a cause",
}
_RARE: tuple[Kind, ...] = ("undirected", "partially_undirected")

_order = lru_cache(maxsize=64)(matrix_order)


@dataclass(frozen=True)
class Pane:
    """One graph of a scene, and how its pairs (i < j) are drawn.

    alt: text for screen readers.  kinds: classes of pairs (keys of `palette.EDGES`); pairs
    without a class are drawn as "plain".  reference: a second graph; pairs that are adjacent only
    in the reference are drawn as "missing".  unclear: pairs that are drawn faintly if they are
    adjacent in neither graph.  texts: notes on pairs.  widths: line widths in pixels, which replace
    the widths of the classes.  groups: pairs that a reader can single out, with words for them.
    repeats: for each column that repeats another, that column; both are drawn as one (`merged`).
    """

    key: str
    title: str
    graph: PDAG
    alt: str = ""
    kinds: Mapping[Edge, str] = field(default_factory=dict)
    reference: PDAG | None = None
    unclear: Iterable[Edge] = ()
    texts: Mapping[Edge, str] = field(default_factory=dict)
    widths: Mapping[Edge, float] = field(default_factory=dict)
    groups: Sequence[tuple[str, Sequence[Edge]]] = ()
    repeats: Mapping[int, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The pane as JSON-ready data, with a sorted list of all pairs that may be drawn."""
        marks = {pair: (self.graph.mark(*pair), "plain") for pair in self.graph.skeleton}
        if self.reference is not None:
            for pair in self.reference.skeleton - self.graph.skeleton:
                marks[pair] = self.reference.mark(*pair), "missing"
        for pair in self.unclear:
            marks.setdefault(ordered(*pair), ("--", "unclear"))
        pairs = []
        for pair, (mark, kind) in sorted(marks.items()):
            drawn: dict[str, Any] = {"i": pair[0], "j": pair[1], "mark": mark}
            drawn["kind"] = self.kinds.get(pair, kind)
            if text := self.texts.get(pair):
                drawn["text"] = text
            if pair in self.widths:
                drawn["width"] = round(self.widths[pair], 2)
            pairs.append(drawn)
        alt = self.alt or f"{self.title}: {counted(len(self.graph.skeleton), 'edge')}"
        pag = {"pag": True} if isinstance(self.graph, PAG) else {}
        groups = [{"text": words, "pairs": [list(p) for p in held]} for words, held in self.groups]
        described = {"key": self.key, "title": self.title, "alt": alt, "pairs": pairs, **pag}
        return described | ({"groups": groups} if groups else {})


class Merged(NamedTuple):
    """Panes in which columns that repeat others are not drawn on their own.

    columns: the column of each node that is drawn; it has the name of all columns that it stands
    for, such as "sex = gender".  positions, tiers: of these nodes.
    """

    panes: tuple[Pane, ...]
    positions: tuple[tuple[float, float], ...]
    tiers: tuple[int | None, ...]
    columns: tuple[int, ...]

    def pair(self, pair: Edge | None) -> Edge | None:
        """The nodes of a pair of columns; None if one of the two is not drawn on its own."""
        if pair is None or not set(pair) <= set(self.columns):
            return None
        return self.columns.index(pair[0]), self.columns.index(pair[1])


def merged(
    panes: Sequence[Pane],
    positions: Sequence[tuple[float, float]],
    tiers: Sequence[int | None] = (),
) -> Merged:
    """The panes with each column that repeats another drawn as one node with it.

    A column stays a node of its own if a graph links it with a third column.
    """
    graphs = [g for pane in panes for g in (pane.graph, pane.reference) if g is not None]
    nodes = graphs[0].nodes
    repeats = {
        column: first
        for pane in panes
        for column, first in pane.repeats.items()
        if all(graph.adjacent(column) <= {first} for graph in graphs)
    }
    columns = tuple(column for column in range(len(nodes)) if column not in repeats)
    place = {column: k for k, column in enumerate(columns)}
    names = tuple(
        " = ".join([nodes[c], *(nodes[own] for own in sorted(repeats) if repeats[own] == c)])
        for c in columns
    )

    def kept(pairs: Iterable[Edge]) -> Iterable[tuple[Edge, Edge]]:
        """Each pair that is drawn, and its nodes."""
        return (((i, j), (place[i], place[j])) for i, j in pairs if i in place and j in place)

    def over(graph: PDAG) -> PDAG:
        kinds = {kind: frozenset(dict(kept(own)).values()) for kind, own in graph.by_kind.items()}
        return type(graph)(names, **kinds)

    made = tuple(
        replace(
            pane,
            graph=over(pane.graph),
            kinds={new: pane.kinds[old] for old, new in kept(pane.kinds)},
            reference=None if pane.reference is None else over(pane.reference),
            unclear=tuple(new for _, new in kept(pane.unclear)),
            texts={new: pane.texts[old] for old, new in kept(pane.texts)},
            widths={new: pane.widths[old] for old, new in kept(pane.widths)},
            groups=[(words, [new for _, new in kept(held)]) for words, held in pane.groups],
            repeats={},
        )
        for pane in panes
    )
    if not repeats:
        return Merged(tuple(panes), tuple(positions), tuple(tiers), columns)
    return Merged(
        made,
        tuple(positions[column] for column in columns),
        tuple(tiers[column] for column in columns) if tiers else (),
        columns,
    )


def scene(
    positions: Sequence[tuple[float, float]],
    panes: Sequence[Pane],
    *,
    words: Mapping[str, str] | None = None,
    reference: str = "",
    selected: Edge | None = None,
    tiers: Sequence[int | None] = (),
) -> dict[str, Any]:
    """The scene for `drawGraphs` as JSON-ready data; names are text, never markup.

    positions: one (x, y) per node, with y increasing downwards, as from `shared_layout`.
    words: the legend text for each class.  reference: the name of the reference graph.
    selected: a pair to highlight.  tiers: as in `shared_layout`; earlier
    tiers are drawn above later ones.

    Raises ValueError if there is not one position per node, or if the graphs have different nodes.
    """
    nodes = panes[0].graph.nodes
    if len(positions) != len(nodes):
        raise ValueError(f"{len(positions)} positions for {len(nodes)} nodes")
    graphs = [g for pane in panes for g in (pane.graph, pane.reference) if g is not None]
    if any(graph.nodes != nodes for graph in graphs):
        raise ValueError("the graphs of a scene have different nodes")
    panes, positions, tiers, columns = drawn = merged(panes, positions, tiers)
    nodes = panes[0].graph.nodes
    labels = [wrapped(name, i) for i, name in enumerate(nodes)]
    marks = [[MARKS[kind], text, kind not in _RARE] for kind, text in MARK_WORDS.items()]
    pag = any(isinstance(graph, PAG) for graph in graphs)
    return {
        "names": [
            short(name, NAME_LIMIT) or label for name, label in zip(nodes, labels, strict=True)
        ],
        "labels": [label.split("\n") for label in labels],
        "short": short_forms(nodes),
        "places": [[round(x, 4), round(y, 4)] for x, y in positions],
        "tiers": list(tiers),
        # Taken from the graph that stays while ε moves, if there is one.
        "order": list(_order(panes[min(1, len(panes) - 1)].graph)),
        "graphs": [pane.as_dict() for pane in panes],
        "words": dict(words or {}),
        "reference": short(reference),
        "selected": None if (pair := drawn.pair(selected)) is None else list(ordered(*pair)),
        # Whoever asks about a pair asks about columns.
        "columns": list(columns),
        # For a PAG: the meaning of each mark, and whether the legend always has it.
        **({"pag": True, "marks": marks} if pag else {}),
    }
