"""Plotly figures for two variables: points, fits, residuals, scores and accuracy curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from pages.ui.charts import label
from pages.ui.direction.texts import score_title
from pages.ui.theme import PALETTES, current
from pages.ui.tradeoff.charts import DASHES
from privcore.arrays import Vector
from privcore.extras.pairs import ScoreRelease

SHOWN_POINTS = 2_000
# The three pictures side by side have one size, and each has as much room below as the
# legend of the largest takes.
_PLOT_HEIGHT = 485
_KEY_HEIGHT = 178
# Both variables are scaled to -1 ... 1 by their bounds.
_SCALED = [-1.05, 1.05]


@dataclass(frozen=True)
class Line:
    """A regression curve: predicted values on a grid of inputs.

    forward: true if the regression predicts y from x, false if it predicts x from y. released:
    whether the run's scores come from this fit. Other fits are drawn dotted.
    """

    name: str
    grid: Vector
    values: Vector
    forward: bool
    released: bool


def points_and_fits(
    x: Vector, y: Vector, names: tuple[str, str], lines: Sequence[Line]
) -> go.Figure:
    """Scatter plot of at most 2,000 records, with the regressions in both directions."""
    palette = PALETTES[current()]
    taken = _some(len(x))
    figure = go.Figure()
    figure.add_scatter(
        x=x[taken],
        y=y[taken],
        mode="markers",
        name="rows",
        marker={"color": palette.muted, "size": 4, "opacity": 0.45},
        hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
    )
    for line in lines:
        along, across = (line.grid, line.values) if line.forward else (line.values, line.grid)
        figure.add_scatter(
            x=along,
            y=across,
            mode="lines",
            name=line.name,
            line={
                "color": palette.series[0 if line.forward else 1],
                "width": 3 if line.released else 1.5,
                "dash": "solid" if line.released else "dot",
            },
            hovertemplate="%{x:.4g}, %{y:.4g}<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(
        height=_PLOT_HEIGHT,
        margin={"b": _KEY_HEIGHT},
        title="Both regressions",
        legend={"orientation": "h", "y": -0.22, "yanchor": "top"},
        xaxis={"title": label(names[0], 30), "range": _SCALED},
        yaxis={"title": label(names[1], 30), "range": _SCALED},
    )
    return figure


def residuals(
    inputs: Vector, rests: Vector, names: tuple[str, str], forward: bool, reach: float
) -> go.Figure:
    """Scatter plot of residuals against the input.

    The points form a flat band if residuals and input are independent. forward: whether y is
    predicted from x. reach: the residual axis goes from -reach to reach.
    """
    palette = PALETTES[current()]
    taken = _some(len(inputs))
    figure = go.Figure(
        go.Scatter(
            x=inputs[taken],
            y=rests[taken],
            mode="markers",
            marker={"color": palette.series[0 if forward else 1], "size": 4, "opacity": 0.45},
            hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
        )
    )
    figure.add_hline(y=0, line={"color": palette.muted, "width": 1, "dash": "dot"})
    figure.update_layout(
        height=_PLOT_HEIGHT,
        margin={"b": _KEY_HEIGHT},
        title=f"If {label(names[0])} were the cause",
        xaxis={"title": label(names[0], 30), "range": _SCALED},
        yaxis={"title": f"residual of {label(names[1])}", "range": [-reach, reach]},
    )
    return figure


def score_intervals(releases: Sequence[ScoreRelease], names: tuple[str, str]) -> go.Figure:
    """Chart of released scores with noise intervals, and of exact scores.

    All values of a score are divided by its largest value, because scores have different units.
    """
    palette = PALETTES[current()]
    figure = go.Figure()
    titles = [
        f"{label(names[0], 14)} → {label(names[1], 14)}",
        f"{label(names[1], 14)} → {label(names[0], 14)}",
    ]
    for number, title in enumerate(titles):
        scores, units = [score_title(release.score) for release in releases], []
        known: list[tuple[str, float, float, float, float]] = []
        for release, score in zip(releases, scores, strict=True):
            interval, value = release.intervals[number], release.released[number]
            ends = [e for both in release.intervals if both for e in both]
            shown = [*release.exact, *ends, *(v for v in release.released if v is not None)]
            units.append(max(map(abs, shown)) or 1.0)
            if value is not None:
                low, high = interval if interval else (value, value)
                known.append((score, value, low, high, units[-1]))
        exact = [release.exact[number] for release in releases]
        figure.add_scatter(
            x=[row[1] / row[4] for row in known],
            y=[row[0] for row in known],
            mode="markers",
            name=f"{title}, released",
            marker={"color": palette.series[number], "size": 11},
            error_x={
                "array": [(row[3] - row[1]) / row[4] for row in known],
                "arrayminus": [(row[1] - row[2]) / row[4] for row in known],
                "thickness": 2,
                "width": 6,
            },
            customdata=[[row[1], row[2], row[3]] for row in known],
            hovertemplate="%{customdata[0]:.4g} (%{customdata[1]:.4g} … %{customdata[2]:.4g})"
            "<extra>%{fullData.name}</extra>",
        )
        figure.add_scatter(
            x=[value / unit for value, unit in zip(exact, units, strict=True)],
            y=scores,
            mode="markers",
            name=f"{title}, exact (not private)",
            marker={"color": palette.series[number], "size": 12, "symbol": "diamond-open"},
            customdata=[[value] for value in exact],
            hovertemplate="%{customdata[0]:.4g}<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(
        height=180 + 70 * len(releases),
        scattermode="group",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        xaxis={"title": "dependence of residuals, relative to the largest shown (smaller wins)"},
        yaxis={"type": "category", "autorange": "reversed"},
    )
    return figure


def curves(
    series: Mapping[str, tuple[Vector, Vector, Vector | None]],
    *,
    x_title: str,
    y_title: str,
    marker: float | None,
) -> go.Figure:
    """Chart of curves with y between 0 and 1 over a logarithmic axis, and a line at one half.

    series: for each curve's name, its x values, its y values, and the half-widths of a band around
    the curve (or None). marker: the page's current setting, on the x axis, if there is one.
    """
    palette = PALETTES[current()]
    figure = go.Figure()
    for number, (name, (x, y, band)) in enumerate(series.items()):
        colour = palette.series[number % len(palette.series)]
        if band is not None:
            figure.add_scatter(
                x=np.concatenate([x, x[::-1]]),
                y=np.concatenate([np.minimum(y + band, 1), np.maximum(y - band, 0)[::-1]]),
                fill="toself",
                fillcolor=colour,
                opacity=0.15,
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
            )
        figure.add_scatter(
            x=x,
            y=y,
            name=name,
            mode="lines+markers",
            line={"color": colour, "width": 2, "dash": DASHES[number % len(DASHES)]},
            marker={"size": 5},
            hovertemplate="%{x:.3g}: %{y:.3f}<extra>%{fullData.name}</extra>",
        )
    figure.add_hline(y=0.5, line={"color": palette.border, "width": 1, "dash": "dot"})
    if marker is not None:
        # Unlike annotations, shapes take the value itself on a logarithmic axis too.
        figure.add_shape(
            type="line",
            x0=marker,
            x1=marker,
            y0=0,
            y1=1,
            yref="paper",
            line={"color": palette.muted, "width": 1, "dash": "dot"},
        )
    if series:
        grid = next(iter(series.values()))[0]
        figure.update_xaxes(tickvals=grid, ticktext=[f"{v:g}" for v in grid])
    figure.update_layout(
        height=380,
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        xaxis={"title": x_title, "type": "log"},
        yaxis={"title": y_title, "range": [-0.02, 1.02]},
    )
    return figure


def _some(rows: int) -> NDArray[np.int64]:
    """Positions of at most 2,000 rows, evenly spaced from first to last."""
    return np.linspace(0, rows - 1, min(rows, SHOWN_POINTS)).astype(np.int64)
