"""Show Plotly figures on pages, and place labels in them."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.layout import chart_buttons
from pages.ui.pictures.plots import chart_picture
from pages.ui.theme import PALETTES, current
from privcore.text import short

_FOOT = "_foot_of_pictures"
# Letters of an axis title that fit on one line of a phone.
_TITLE_LINE = 44
# Size of the names at the ends of lines, and the margin for these names, in pixels.
_END_SIZE, _END_ROOM = 11, 118
# Lines and bars of a chart that are described in words.
_MOST_DESCRIBED = 8


def set_foot(lines: Sequence[str]) -> None:
    """Set the footer (settings and guarantee) for saved pictures of the page's charts."""
    st.session_state[_FOOT] = tuple(lines)


def address_foot(page: str, address: Mapping[str, str]) -> list[str]:
    """The default footer: the settings in the URL, and a note that the chart is not private."""
    settings = "; ".join(f"{name} = {short(value, 40)}" for name, value in sorted(address.items()))
    return [
        f"CausalVeil, {page}. Settings: {settings or 'defaults'}.",
        "Computed from exact data or with simulated noise: not private, and not a release.",
    ]


def show(
    figure: go.Figure, *, key: str, alt: str, selectable: bool = False
) -> list[dict[str, Any]]:
    """Draw a figure in the theme's colours, with buttons that save it as a picture.

    alt: title of the picture; a screen reader says it, and then what `described` says. selectable:
    whether a click on a point reruns the page. Returns the clicked points, if any.
    """
    palette = PALETTES[current()]
    # Figures that need extra room, for example for names at line ends, set it themselves.
    margin = {"l": 10, "r": 10, "t": 40, "b": 10} | figure.layout.margin.to_plotly_json()
    figure.update_layout(
        paper_bgcolor=palette.background,
        plot_bgcolor=palette.background,
        font_color=palette.text,
        margin=margin,
        # Small, so that a title above the chart ends before the save buttons.
        legend_font_size=11,
    )
    figure.for_each_xaxis(_wrap_title)
    figure.for_each_xaxis(full_numbers)
    figure.for_each_yaxis(full_numbers)
    chosen: dict[str, Any] = (
        {"on_select": "rerun", "selection_mode": "points"} if selectable else {}
    )
    with st.container(key=f"chart-{key}"):
        event = st.plotly_chart(
            figure,
            key=key,
            alt=". ".join(filter(None, (alt, described(figure)))),
            theme="streamlit",
            config={"displayModeBar": False},
            **chosen,
        )
        lines = st.session_state.get(_FOOT, ())
        make = partial(chart_picture, figure, title=alt, lines=lines)
        chart_buttons(key, lambda form: make(form=form), f"picture-{key}")
    return list(event["selection"]["points"]) if selectable else []


def described(figure: go.Figure) -> str:
    """What a chart shows, in words: its bars, the two ends of each line, the range of the rest."""
    alone = len(figure.data) == 1
    seen = [t for t in figure.data if alone or (t.name and t.showlegend is not False)]
    words = [": ".join(filter(None, (html.unescape(t.name or ""), _values(t)))) for t in seen]
    return "; ".join(words[:_MOST_DESCRIBED])


def _values(trace: Any) -> str:
    if trace.type == "heatmap":
        return _range(trace.z)
    if trace.type not in ("scatter", "bar") or trace.x is None or trace.y is None:
        return ""
    points = list(zip(trace.x, trace.y, strict=True))
    if trace.type == "scatter" and len(points) > 2:
        if "lines" not in (trace.mode or ""):
            return f"{_range(trace.y)} over {_range(trace.x)}"
        points = [points[0], points[-1]]
    if trace.type == "bar" and trace.orientation == "h":
        points = [(y, x) for x, y in points]
    return ", ".join(f"{_word(y)} at {_word(x)}" for x, y in points[:_MOST_DESCRIBED])


def _range(values: Any) -> str:
    """The smallest and the largest of some numbers; empty if there are none."""
    try:
        numbers = np.asarray(values, float)
    except ValueError:  # categories
        return ""
    known = numbers[np.isfinite(numbers)]
    return f"{_word(known.min())} to {_word(known.max())}" if known.size else ""


def _word(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float | int | np.number) else str(value)


def _wrap_title(axis: Any) -> None:
    """Break the axis title into lines that fit a narrow screen."""
    if axis.title.text:
        lines = textwrap.wrap(axis.title.text, _TITLE_LINE, break_long_words=False)
        axis.title.text = "<br>".join(lines)


def full_numbers(axis: Any) -> None:
    """Let a logarithmic axis write 20 and 50 between 10 and 100, and not the digits 2 and 5."""
    if axis.type == "log" and axis.ticktext is None:
        axis.tickformat = ",~g"


def label(name: str, limit: int = 24) -> str:
    """Shorten a name for use as a label, and escape what Plotly would read as markup or LaTeX."""
    return html.escape(short(name, limit)).replace("$", "&#36;")


@dataclass(frozen=True)
class LineEnd:
    """The name and colour of a line, and the point where the line ends, in axis coordinates."""

    name: str
    x: float
    y: float
    colour: str


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move positions as little as possible, so that they lie in [low, high], at least `gap` apart.

    The order stays the same. Of equal positions, the first becomes the highest. If the interval
    is too short for this gap, the positions are spread evenly.
    """
    if len(places) > 1 and gap * (len(places) - 1) > high - low:
        gap = (high - low) / (len(places) - 1)
    order = sorted(range(len(places)), key=lambda index: (places[index], -index))
    # Overlapping labels form a block, placed at the mean position of its members.
    blocks: list[list[int]] = []
    for index in order:
        blocks.append([index])
        while len(blocks) > 1 and _first(blocks[-1], places, gap, low, high) < (
            _first(blocks[-2], places, gap, low, high) + gap * len(blocks[-2])
        ):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    placed = [0.0] * len(places)
    for block in blocks:
        start = _first(block, places, gap, low, high)
        for number, index in enumerate(block):
            placed[index] = start + gap * number
    return placed


def _first(
    block: Sequence[int], places: Sequence[float], gap: float, low: float, high: float
) -> float:
    """The position of the lowest member of a block."""
    length = gap * (len(block) - 1)
    mean = sum(places[index] for index in block) / len(block)
    return max(low, min(mean - length / 2, high - length))


def name_ends(
    figure: go.Figure, ends: Sequence[LineEnd], *, y_range: tuple[float, float], height: float
) -> None:
    """Label lines at their right ends without overlap, and connect each label to its line.

    The x axis is logarithmic. y_range: limits of the y axis. height: height of the plot in pixels,
    without margins.
    """
    gap = (_END_SIZE + 3) * (y_range[1] - y_range[0]) / height
    heights = spread([end.y for end in ends], gap, *y_range)
    for end, place in zip(ends, heights, strict=True):
        figure.add_annotation(
            # On a logarithmic axis annotations are placed by the logarithm.
            x=math.log10(end.x),
            y=end.y,
            axref="pixel",
            ayref="y",
            ax=16,
            ay=place,
            xanchor="left",
            text=label(end.name, 30),
            font={"color": end.colour, "size": _END_SIZE},
            arrowhead=0,
            arrowwidth=1,
            arrowcolor=end.colour,
            standoff=5,
            borderpad=0,
        )
    figure.update_layout(margin={"r": _END_ROOM}, yaxis={"range": list(y_range)})
    if ends:
        # The plot ends where the lines end, so that nothing crosses a label.
        starts = [x for trace in figure.data for x in trace.x if x is not None]
        low, high = math.log10(min(starts)), math.log10(max(end.x for end in ends))
        figure.update_xaxes(range=[low - 0.03 * (high - low or 1), high + 0.02 * (high - low or 1)])
