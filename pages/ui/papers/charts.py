"""Plotly figures of the Papers page: reproductions in several panels, and calibration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.ui.charts import label
from pages.ui.theme import PALETTES, current
from pages.ui.tradeoff.charts import DASHES, SYMBOLS
from privcore.extras.lab.reliability import Reliability
from privcore.extras.lab.reproductions import Item, Line

_PANEL_HEIGHT = 270
_DASH = {"proven": "solid", "published": "dash", "exact": "dot"}
_WIDTH = {"proven": 2.5, "published": 1.5, "exact": 1.0}
_SYMBOLS = (*SYMBOLS, "x", "pentagon", "hexagon", "triangle-down", "bowtie", "hourglass")


@dataclass(frozen=True)
class Curve:
    """One line of a figure: its panel, name and points (x, y).

    series: the kind of line: proven, published or exact.
    """

    panel: str
    name: str
    series: str
    points: Sequence[tuple[float, float]]


def small_panels(
    curves: Sequence[Curve],
    *,
    x_title: str,
    y_title: str,
    bounded: bool,
    log_y: bool = False,
    x_range: tuple[float, float] | None = None,
) -> go.Figure:
    """Draw one panel per data set; a name has the same colour and symbol in all panels.

    With many names, colours repeat, but symbols still differ. Dashes differ too, unless they mark
    which curves are proven.
    """
    palette = PALETTES[current()]
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    names = list(dict.fromkeys(curve.name for curve in curves))
    across = 2 if len(panels) in (2, 4) else min(3, len(panels))
    down = -(-len(panels) // across)
    figure = make_subplots(
        rows=down,
        cols=across,
        subplot_titles=[label(panel) for panel in panels],
        horizontal_spacing=0.06,
        vertical_spacing=0.32 / down if down > 1 else 0.0,
    )
    alike = len({curve.series for curve in curves}) == 1
    named: set[str] = set()
    for curve in curves:
        place, number = panels.index(curve.panel), names.index(curve.name)
        points = sorted(curve.points)
        line = {
            "color": palette.series[number % len(palette.series)],
            "dash": DASHES[number // len(palette.series)] if alike else _DASH[curve.series],
            "width": _WIDTH[curve.series],
        }
        figure.add_scatter(
            x=[x for x, _ in points],
            y=[y for _, y in points],
            name=label(curve.name, 40),
            legendgroup=curve.name,
            showlegend=curve.name not in named,
            mode="lines+markers" if curve.series != "exact" else "lines",
            line=line,
            marker={"size": 5, "symbol": _SYMBOLS[number % len(_SYMBOLS)]},
            hovertemplate=f"%{{x:.3g}}: %{{y:.3g}}<extra>{label(curve.name, 40)}, "
            f"{curve.series}</extra>",
            row=place // across + 1,
            col=place % across + 1,
        )
        named.add(curve.name)
    # A margin on each side, so that points at the ends are complete.
    ends = [math.log10(x_range[0]) - 0.05, math.log10(x_range[1]) + 0.05] if x_range else None
    figure.update_xaxes(type="log", dtick=1, range=ends, exponentformat="none")
    figure.update_yaxes(range=[-0.02, 1.05] if bounded else None, type="log" if log_y else "linear")
    for column in range(1, across + 1):
        lowest = down if (down - 1) * across + column <= len(panels) else down - 1
        figure.update_xaxes(title_text=x_title, row=lowest, col=column)
    for row in range(1, down + 1):
        figure.update_yaxes(title_text=y_title, row=row, col=1)
    figure.update_layout(
        height=_PANEL_HEIGHT * down + 120,
        showlegend=True,
        legend={"orientation": "h", "y": 1.0 + 0.2 / down, "yanchor": "bottom"},
        hovermode="closest",
    )
    return figure


def reproduction_figure(item: Item, lines: Iterable[Line], series: Sequence[str]) -> go.Figure:
    """Draw our results in the form of the paper's figure.

    lines: the results, all for the same measure. series: the kinds of lines to draw. Raises
    ValueError for an item that is not a figure.
    """
    drawn = item.figure
    if drawn is None:
        raise ValueError(f"{item.name} is a table")
    panel, name, x = (item.columns.index(column) for column in (drawn.panel, drawn.line, drawn.x))
    points: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for line in lines:
        for kind in series:
            mean = line.ours.get(kind)
            if mean is not None and mean.runs:
                key = (str(line.case[panel]), str(line.case[name]), kind)
                place = float(line.case[x]) if mean.x is None else mean.x
                points.setdefault(key, []).append((place, mean.mean))
    return small_panels(
        [Curve(*key, curve) for key, curve in points.items()],
        x_title=drawn.x_title,
        y_title=drawn.y_title,
        bounded=drawn.bounded,
        log_y=drawn.log_y,
        x_range=drawn.x_range,
    )


def reliability_figure(edges: Reliability, arrows: Reliability) -> go.Figure:
    """Chart of the share of statements that are true, against their stated probability.

    Calibrated probabilities lie on the diagonal. Larger markers stand for more statements.
    """
    palette = PALETTES[current()]
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="as stated",
        line={"color": palette.muted, "dash": "dot", "width": 1},
        hoverinfo="skip",
    )
    for number, (name, named) in enumerate((("edges", edges), ("arrows", arrows))):
        most = max(r.many for r in named.ranges)
        figure.add_scatter(
            x=[r.stated for r in named.ranges],
            y=[r.true for r in named.ranges],
            customdata=[r.many for r in named.ranges],
            mode="lines+markers",
            name=name,
            line={"color": palette.series[number], "width": 1.5},
            marker={
                "size": [7 + 11 * math.sqrt(r.many / most) for r in named.ranges],
                "symbol": _SYMBOLS[number],
            },
            hovertemplate="stated %{x:.3f}, true %{y:.3f}<br>statements: %{customdata:,}"
            f"<extra>{name}</extra>",
        )
    figure.update_xaxes(title_text="stated probability", range=[-0.03, 1.03])
    figure.update_yaxes(title_text="share that is true", range=[-0.03, 1.06])
    figure.update_layout(height=380, showlegend=True, hovermode="closest")
    return figure
