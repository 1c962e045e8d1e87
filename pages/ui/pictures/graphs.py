"""Pictures of graphs for slides: one graph, or the private next to the non-private one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pages.ui.pictures.sheet import (
    MARGIN,
    PALETTE,
    SIZE,
    WIDTH,
    Form,
    clean,
    picture,
    text_width,
    wrapped,
)
from pages.ui.theme import EDGES, EdgeStyle
from privcore.display.answer import class_words
from privcore.display.drawing import Pane, merged
from privcore.display.drawing.scene import MARK_WORDS, arrow_at_end, dense, ring_at_end
from privcore.display.edge_paths import routes, short_forms
from privcore.graphs import PDAG
from privcore.graphs.pdag import PAG, SIGNS, Edge, ordered
from privcore.measures.references import Reference
from privcore.text import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

_STYLES = EDGES["light"]
# Font sizes of the names, and letters per line: the first that fits is used.
_TRIALS = (
    (22, 18), (20, 14), (18, 14), (18, 11), (16, 14), (16, 11), (14, 14), (16, 8), (14, 11),
    (14, 8), (12, 11), (12, 8), (10, 11), (10, 8), (8, 8), (6, 8), (4, 8),
)  # fmt: skip
_LONGEST = 60
# References whose classes of edges have words of their own.
_LEGENDS: dict[str, Reference] = {"truth": "truth", "your graph": "mine"}
# Smaller names are short forms; a legend in small letters, in columns, has them whole.
_SMALLEST_WHOLE, _LEGEND_SIZE, _LEGEND_COLUMNS = 10, 10.0, 3
_LEADING, _PADDING = 1.25, 0.45
# Gaps between boxes, horizontal and vertical, relative to the font size: room for an arrow.
_GAP = np.array([0.8, 1.3])
_HEAD, _HEADING = 13.0, 20.0


class _Boxes(NamedTuple):
    """The nodes' positions in points from the top left, half their sizes, and their names.

    explained: the short forms of names that have no room, each with the whole name.
    """

    centre: NDArray[np.float64]
    half: NDArray[np.float64]
    names: list[list[str]]
    size: float
    explained: tuple[tuple[str, str], ...] = ()


class _Line(NamedTuple):
    """A pair as drawn. mark: the edge mark, as from `PDAG.mark`."""

    pair: Edge
    mark: str
    kind: str
    style: EdgeStyle


def graph_picture(
    drawings: Sequence[Pane],
    positions: Sequence[tuple[float, float]],
    *,
    title: str,
    lines: Sequence[str],
    reference_name: str = "",
    tiers: Sequence[int | None] = (),
    form: Form,
) -> bytes:
    """A picture of graphs over the same nodes side by side, with a legend of what occurs.

    positions: a point in [-1, 1]² for each node; y increases downwards. lines: settings and
    guarantee, in plain text. tiers: as in `shared_layout`; earlier tiers are above later ones.

    Raises ValueError for a wrong number of positions, an unknown class, or a graph with other
    nodes.
    """
    nodes = drawings[0].graph.nodes
    if len(positions) != len(nodes):
        raise ValueError(
            f"There are {len(positions)} positions for {len(nodes)} nodes; give one for each node."
        )
    for drawing in drawings:
        others = [drawing.graph, *([drawing.reference] if drawing.reference else [])]
        if any(other.nodes != nodes for other in others):
            raise ValueError("The graphs of a picture have different nodes; use the same nodes.")
    drawings, positions, tiers, _ = merged(drawings, positions, tiers)
    nodes = drawings[0].graph.nodes
    drawn = [_lines(drawing) for drawing in drawings]
    kinds = {line.kind for one in drawn for line in one}
    graphs = [g for d in drawings for g in (d.graph, d.reference) if g is not None]
    words = class_words(_LEGENDS.get(reference_name, "non_private"), *graphs)
    entries: list[tuple[EdgeStyle | None, str]] = [
        (_STYLES[k], words[k]) for k in _STYLES if k in kinds and k != "plain"
    ]
    if entries and reference_name:
        entries.append((None, f"reference: {clean(reference_name)}"))

    if any(isinstance(graph, PAG) for graph in graphs):
        entries += _mark_entries(graphs)

    def draw(body: SubFigure) -> None:
        axes = body.add_axes((0, 0, 1, 1))
        height = float(body.bbox.height / body.dpi * 72)
        axes.set(xlim=(0, WIDTH), ylim=(height, 0))
        axes.set_axis_off()
        height -= _legend(axes, entries, height)
        top = _HEADING * 1.5 if any(drawing.title for drawing in drawings) else 0.0
        width = (WIDTH - 2 * MARGIN - (len(drawings) - 1) * MARGIN) / len(drawings)
        boxes = _boxes(nodes, positions, width, height - top - 14, tiers)
        if boxes.explained:
            height -= _name_legend(axes, boxes.explained, height)
            boxes = _boxes(nodes, positions, width, height - top - 14, tiers, whole=False)
        for k, (drawing, edges) in enumerate(zip(drawings, drawn, strict=True)):
            left = MARGIN + k * (width + MARGIN)
            heading = clean(drawing.title)
            if heading:
                axes.text(
                    left + width / 2,
                    4,
                    heading,
                    size=_HEADING,
                    weight="bold",
                    ha="center",
                    va="top",
                )
            if k:
                axes.plot([left - MARGIN / 2] * 2, [4, height - 8], color=PALETTE.border, lw=1)
            _graph(axes, boxes._replace(centre=boxes.centre + np.array([left, top + 4])), edges)

    texts = [*nodes, reference_name, *(drawing.title for drawing in drawings)]
    return picture(draw, title=title, lines=lines, form=form, texts=texts)


def _mark_entries(graphs: Iterable[PDAG]) -> list[tuple[EdgeStyle | None, str]]:
    """Legend entries that explain the edge marks of the graphs that are PAGs."""
    pags = [graph for graph in graphs if isinstance(graph, PAG)]
    return [
        (None, f"{SIGNS[kind]} {text}")
        for kind, text in MARK_WORDS.items()
        if any(pag.by_kind[kind] for pag in pags)
    ]


def _lines(drawing: Pane) -> list[_Line]:
    """Edges, missing edges and unclear pairs, in the order of the pairs."""
    unknown = sorted(set(drawing.kinds.values()) - set(_STYLES))
    if unknown:
        raise ValueError(
            f"{unknown[0]!r} is not a class of edges; the classes are {', '.join(_STYLES)}."
        )
    classes = {ordered(*pair): kind for pair, kind in drawing.kinds.items()}
    widths = {ordered(*pair): width for pair, width in drawing.widths.items()}
    graph = drawing.graph
    pag = isinstance(graph, PAG) or isinstance(drawing.reference, PAG)
    lines: dict[Edge, _Line] = {}
    drawn = [(pair, graph.mark(*pair), classes.get(pair, "plain")) for pair in graph.skeleton]
    if drawing.reference is not None:
        other = drawing.reference
        drawn += [(p, other.mark(*p), "missing") for p in other.skeleton - graph.skeleton]
    drawn += [(ordered(*pair), "--", "unclear") for pair in drawing.unclear]
    for pair, mark, kind in drawn:
        style = _STYLES[kind]
        # Two different marks are not always two directions.
        label = "≠" if pag and kind == "reversed" else style.label
        style = EdgeStyle(style.colour, style.dash, widths.get(pair, style.width), label)
        lines.setdefault(pair, _Line(pair, mark or "--", kind, style))
    return [lines[pair] for pair in sorted(lines)]


def _legend(axes: Axes, entries: Sequence[tuple[EdgeStyle | None, str]], bottom: float) -> float:
    """Draw line samples with labels above `bottom`; returns their height."""
    rows = _rows(entries) if entries else []
    high = SIZE * 1.5
    for number, row in enumerate(rows):
        x, y = MARGIN, bottom - (len(rows) - number - 0.5) * high
        for style, text, wide in row:
            if style is not None:
                axes.plot([x, x + 50], [y, y], color=style.colour, **_stroke(style))
            axes.text(x + (60 if style else 0), y, text, size=SIZE, va="center")
            x += wide
    return len(rows) * high


def _name_legend(axes: Axes, explained: Sequence[tuple[str, str]], bottom: float) -> float:
    """Write short forms with their whole names above `bottom`; returns the height."""
    down = -(-len(explained) // _LEGEND_COLUMNS)
    high = _LEGEND_SIZE * 1.4
    for number, (form, name) in enumerate(explained):
        column, row = divmod(number, down)
        x = MARGIN + column * (WIDTH - 2 * MARGIN) / _LEGEND_COLUMNS
        axes.text(
            x, bottom - (down - row - 0.5) * high, f"{form}: {name}", size=_LEGEND_SIZE, va="center"
        )
    return down * high


def _rows(
    entries: Sequence[tuple[EdgeStyle | None, str]],
) -> list[list[tuple[EdgeStyle | None, str, float]]]:
    """Legend entries with their widths, broken into rows that fit the picture."""
    rows: list[list[tuple[EdgeStyle | None, str, float]]] = [[]]
    for style, text in entries:
        wide = text_width(text, SIZE) + (60 if style else 0) + 28
        if rows[-1] and sum(entry[2] for entry in rows[-1]) + wide > WIDTH - 2 * MARGIN:
            rows.append([])
        rows[-1].append((style, text, wide))
    return rows


def _stroke(style: EdgeStyle, scale: float = 1.0) -> dict[str, Any]:
    dash = tuple(length / style.width for length in style.dash)
    return {
        "linewidth": style.width * scale,
        "linestyle": (0, dash) if dash else "-",
        "dash_capstyle": "butt",
        "solid_capstyle": "butt",
    }


def _boxes(
    nodes: Sequence[str],
    positions: Sequence[tuple[float, float]],
    width: float,
    height: float,
    tiers: Sequence[int | None] = (),
    *,
    whole: bool = True,
) -> _Boxes:
    """The nodes' boxes, in the largest font size at which the boxes can be kept apart.

    whole: whether to use whole names if they can be read, or short forms in any case.
    """
    forms = short_forms(nodes)
    names = [short(name, _LONGEST) or f"column {i + 1}" for i, name in enumerate(nodes)]
    place = np.array(positions, dtype=float).reshape(-1, 2)
    spread = np.ptp(place, axis=0)
    # Coordinates without extent are centred.
    place = np.where(spread > 0, (place - place.min(axis=0)) / np.where(spread > 0, spread, 1), 0.5)
    sheet = np.array([width, height])
    times = np.array([np.nan if time is None else time for time in tiers or [None] * len(nodes)])
    later = np.nan_to_num(np.sign(times[:, None] - times))
    trials = [(size, letters, names) for size, letters in _TRIALS if size >= _SMALLEST_WHOLE]
    trials = whole * trials + [(size, letters, forms) for size, letters in _TRIALS]
    for size, letters, drawn in trials:
        parts = [_name_lines(name, letters, size) for name in drawn]
        half = np.array(
            [
                (
                    max(text_width(line, size) for line in part) / 2 + _PADDING * size,
                    len(part) * size * _LEADING / 2 + _PADDING * size / 2,
                )
                for part in parts
            ]
        ).reshape(-1, 2)
        if (2 * half > sheet).any() or (4 * half.prod(axis=1)).sum() > 0.7 * width * height:
            continue
        centre, fits = _spread(half + place * (sheet - 2 * half), half, sheet, size * _GAP, later)
        if fits:
            break
    else:
        centre = half + place * np.maximum(sheet - 2 * half, 0)
    pairs = zip(forms, names, strict=True)
    explained = () if drawn is names else tuple(pair for pair in pairs if pair[0] != pair[1])
    return _Boxes(centre, half, parts, float(size), explained)


def _name_lines(name: str, letters: int, size: float) -> list[str]:
    """A name in lines of about this many letters, broken between its parts, else evenly."""
    if len(name) <= letters:
        return [name]
    parts = re.sub(r"([_.\-/])|(?<=[a-z0-9])(?=[A-Z])", r"\1 ", name).split()
    pieces = []
    for part in parts:
        step = -(-len(part) // -(-len(part) // letters))
        pieces += [part[k : k + step] for k in range(0, len(part), step)]
    lines = wrapped(" ".join(pieces), letters * 0.65 * size, size)
    # Parts that were split for wrapping are joined again if nothing was between them.
    return [re.sub(r"(?<=[_.\-/]) ", "", line) for line in lines] or [name]


def _spread(
    centre: NDArray[np.float64],
    half: NDArray[np.float64],
    sheet: NDArray[np.float64],
    gap: NDArray[np.float64],
    later: NDArray[np.float64],
) -> tuple[NDArray[np.float64], bool]:
    """Move overlapping boxes apart, each along the axis with the smaller overlap.

    later: shape (p, p); 1 where the first box has to be below the second, -1 where above, else 0.
    Returns the boxes' centres, and whether no two boxes overlap.
    """
    low, high = half, sheet - half
    centre = np.clip(centre, low, high)
    number = np.arange(len(centre))
    side = np.sign(number[:, None] - number[None, :])
    for _ in range(250):
        offset = centre[:, None, :] - centre[None, :, :]
        apart = np.abs(offset)
        apart[:, :, 1] = np.where(later, later * offset[:, :, 1], apart[:, :, 1])
        apart[:, :, 0] = np.where(later, -np.inf, apart[:, :, 0])
        need = half[:, None, :] + half[None, :, :] + gap - apart
        # A tenth of a point does not count as overlap.
        over = (need > 0.1).all(axis=2) & (side != 0)
        if not over.any():
            return centre, True
        across = need[:, :, 0] <= need[:, :, 1]
        for axis, chosen in ((0, over & across), (1, over & ~across)):
            away = np.where(offset[:, :, axis] == 0, side, np.sign(offset[:, :, axis]))
            away = np.where(later, later, away) if axis else away
            push = (away * need[:, :, axis] / 2).sum(axis=1, where=chosen)
            centre[:, axis] += 0.8 * push / np.maximum(chosen.sum(axis=1), 1)
        centre = np.clip(centre, low, high)
    return centre, False


def _graph(axes: Axes, boxes: _Boxes, lines: Sequence[_Line]) -> None:
    from matplotlib.patches import Circle, FancyBboxPatch, Polygon

    scale = min(1.0, boxes.size / SIZE)
    pairs = [line.pair for line in lines]
    ways = routes(boxes.centre, boxes.half, pairs, boxes.size * _GAP.min())
    for line, way in zip(lines, ways, strict=True):
        path = dense(way)
        heads, rings = [], []
        size = (_HEAD + 1.5 * line.style.width) * scale
        # The last end first; reversing twice restores the path.
        for end in (line.mark[-1], line.mark[0]):
            if end in "<>":
                path, head = arrow_at_end(path, size)
                heads.append(head)
            elif end == "o":
                path, centre = ring_at_end(path, 0.4 * size)
                rings.append(centre)
            path = path[::-1]
        axes.plot(*path.T, color=line.style.colour, zorder=2, **_stroke(line.style, scale))
        for head in heads:
            axes.add_patch(Polygon(head, closed=True, color=line.style.colour, lw=0, zorder=3))
        for centre in rings:
            axes.add_patch(
                Circle(
                    (float(centre[0]), float(centre[1])),
                    0.4 * size,
                    facecolor=PALETTE.background,
                    edgecolor=line.style.colour,
                    linewidth=max(2.0 * scale, 1.0),
                    zorder=3,
                )
            )
        if line.style.label:
            x, y = path[len(path) // 2]
            # Next to a short line, which it would hide.
            short_line = float(np.hypot(*(path[-1] - path[0]))) < 3 * boxes.size
            axes.text(
                x + 6 * short_line,
                y,
                line.style.label,
                size=min(SIZE, boxes.size),
                color=PALETTE.text,
                ha="left" if short_line else "center",
                va="center",
                zorder=4,
                bbox={
                    "facecolor": "none" if short_line else "white",
                    "edgecolor": "none",
                    "pad": 1,
                },
            )
    for (x, y), (wide, high), name in zip(boxes.centre, boxes.half, boxes.names, strict=True):
        axes.add_patch(
            FancyBboxPatch(
                (x - wide, y - high),
                2 * wide,
                2 * high,
                boxstyle="round,pad=0,rounding_size=5",
                facecolor=PALETTE.node,
                edgecolor=PALETTE.node_border,
                linewidth=1.2,
                zorder=5,
            )
        )
        for k, part in enumerate(name):
            lower = (k - (len(name) - 1) / 2) * boxes.size * _LEADING
            axes.text(
                x, y + lower, part, size=boxes.size, ha="center", va="center_baseline", zorder=6
            )
