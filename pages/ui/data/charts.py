"""Plotly figures of one or two columns of a data set; the numbers come from the engine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from pages.ui.charts import label
from pages.ui.theme import PALETTES, current

HISTOGRAM_BINS = 40
SCATTER_POINTS = 2_000


def marginal(levels: tuple[str, ...], counts: list[int], name: str) -> go.Figure:
    """Bar chart of the number of rows with each level of a column."""
    palette = PALETTES[current()]
    figure = go.Figure(
        go.Bar(
            x=[label(v) for v in levels],
            y=counts,
            marker_color=palette.series[0],
            hovertemplate="%{x}: %{y:,} of the rows<extra></extra>",
        )
    )
    figure.update_layout(
        height=320,
        xaxis={"title": label(name, 40), "type": "category"},
        yaxis={"title": "rows", "rangemode": "tozero"},
    )
    return figure


def conditional(table: pd.DataFrame, x: str, y: str) -> go.Figure:
    """Heat map of the distribution of y (vertical) for each level of x (horizontal).

    table: a row for each level of y and a column for each level of x; columns sum to 1.
    """
    palette = PALETTES[current()]
    text = table.map(lambda v: f"{v:.2f}").to_numpy() if table.size <= 80 else None
    figure = go.Figure(
        go.Heatmap(
            z=table.to_numpy(),
            x=[label(c) for c in table.columns],
            y=[label(i) for i in table.index],
            zmin=0,
            zmax=1,
            colorscale=[[0, palette.surface], [1, palette.series[0]]],
            text=text,
            texttemplate="%{text}" if text is not None else None,
            colorbar={"title": "share"},
            hovertemplate="%{y} given %{x}: %{z:.3f}<extra></extra>",
        )
    )
    figure.update_layout(
        height=320,
        xaxis={"title": label(x, 40), "type": "category"},
        yaxis={"title": label(y, 40), "type": "category"},
    )
    return figure


def histogram(values: NDArray[np.float64], bounds: tuple[float, float], name: str) -> go.Figure:
    """Histogram of a continuous column between its bounds."""
    palette = PALETTES[current()]
    counts, edges = np.histogram(values, bins=HISTOGRAM_BINS, range=bounds)
    figure = go.Figure(
        go.Bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts,
            width=np.diff(edges),
            marker={"color": palette.series[0], "line": {"color": palette.background, "width": 1}},
            customdata=np.column_stack([edges[:-1], edges[1:]]),
            hovertemplate="%{customdata[0]:.4g} to %{customdata[1]:.4g}: %{y:,} of the rows"
            "<extra></extra>",
        )
    )
    figure.update_layout(
        height=360,
        xaxis={"title": label(name, 40), "range": bounds},
        yaxis={"title": "rows", "rangemode": "tozero"},
    )
    return figure


def scatter(
    points: NDArray[np.float64], bounds: list[tuple[float, float]], names: list[str]
) -> go.Figure:
    """Scatter plot of two continuous columns within their bounds; points: shape (rows, 2).

    If there are more than 2,000 rows, only 2,000 are drawn, evenly spaced from first to last.
    """
    palette = PALETTES[current()]
    taken = np.linspace(0, len(points) - 1, min(len(points), SCATTER_POINTS)).astype(int)
    figure = go.Figure(
        go.Scatter(
            x=points[taken, 0],
            y=points[taken, 1],
            mode="markers",
            marker={"color": palette.series[0], "size": 5, "opacity": 0.5},
            hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
        )
    )
    # A margin keeps points that lie on a bound whole.
    (left, right), (low, high) = ((a - 0.02 * (b - a), b + 0.02 * (b - a)) for a, b in bounds)
    figure.update_layout(
        height=360,
        xaxis={"title": label(names[0], 40), "range": (left, right)},
        yaxis={"title": label(names[1], 40), "range": (low, high)},
    )
    return figure
