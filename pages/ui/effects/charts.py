"""The chart of effects: one row per effect, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import plotly.graph_objects as go

from pages.ui.charts import label
from pages.ui.theme import PALETTES, current

_ROW, _AROUND = 50, 96


Kind = Literal["shown", "other", "whole", "exact"]


@dataclass(frozen=True)
class Row:
    """A row of the chart, with its label above.

    amount: the number as text, at the start of the label. points: best estimates, in the units of
    the axis. low, high: ends of the interval, possibly infinite; None if there is no interval.
    kind: effects under the graph ("shown"), under other graphs ("other"), under all possible
    graphs together ("whole"), or from the exact rows ("exact").
    """

    amount: str
    words: str
    points: tuple[float, ...]
    low: float | None
    high: float | None
    kind: Kind


def intervals(rows: Sequence[Row], x_title: str, truth: tuple[float, str] | None) -> go.Figure:
    """Chart with a row for each effect and a line at zero; truth: the true effect and its label."""
    palette = PALETTES[current()]
    colours = {
        "shown": palette.series[0],
        "other": palette.muted,
        "whole": palette.text,
        "exact": palette.series[1],
    }
    low, high = _reach(rows, truth)
    figure = go.Figure()
    for number, row in enumerate(rows):
        colour = colours[row.kind]
        if row.low is not None and row.high is not None:
            figure.add_scatter(
                x=[max(row.low, low), min(row.high, high)],
                y=[number, number],
                mode="lines+markers",
                line={"color": colour, "width": 6 if row.kind == "whole" else 2.5},
                marker={"symbol": "line-ns", "size": 12, "line": {"color": colour, "width": 2}},
                hovertemplate=f"{label(row.amount, 60)}<extra></extra>",
                showlegend=False,
            )
        if row.points:
            figure.add_scatter(
                x=list(row.points),
                y=[number] * len(row.points),
                mode="markers",
                marker={
                    "color": colour,
                    "size": 11,
                    "symbol": "diamond-open" if row.kind == "exact" else "circle",
                },
                hovertemplate=f"{label(row.amount, 60)}<extra></extra>",
                showlegend=False,
            )
        figure.add_annotation(
            x=0,
            xref="paper",
            xanchor="left",
            y=number - 0.4,
            text=f"<b>{label(row.amount, 40)}</b> {label(row.words, 90)}",
            showarrow=False,
            bgcolor=palette.background,
            borderpad=1,
            font={"color": palette.text, "size": 11.5},
        )
    _line(figure, 0.0, palette.muted, "solid", 1)
    if truth is not None:
        _line(figure, truth[0], palette.series[2], "dash", 2)
        figure.add_annotation(
            x=truth[0],
            y=len(rows) - 0.2,
            xanchor="right" if truth[0] > (low + high) / 2 else "left",
            text=label(truth[1], 40),
            showarrow=False,
            font={"color": palette.series[2], "size": 12},
        )
    # The label of the truth goes below the last row, where there is room.
    below = 0.45 if truth is None else -0.1
    figure.update_layout(
        height=round(_AROUND + _ROW * (len(rows) - below)),
        margin={"t": 30},
        showlegend=False,
        xaxis={"title": label(x_title, 200), "range": [low, high], "zeroline": False},
        yaxis={"visible": False, "range": [len(rows) - below, -0.65]},
    )
    return figure


def _line(figure: go.Figure, at: float, colour: str, dash: str, width: int) -> None:
    """A vertical line behind everything else."""
    figure.add_shape(
        type="line",
        x0=at,
        x1=at,
        y0=0,
        y1=1,
        yref="paper",
        layer="below",
        line={"color": colour, "width": width, "dash": dash},
    )


def _reach(rows: Sequence[Row], truth: tuple[float, str] | None) -> tuple[float, float]:
    """The limits of the axis: they include zero, the truth, and all finite interval ends."""
    ends = [0.0, *([truth[0]] if truth else [])]
    for row in rows:
        ends += [*row.points, *(e for e in (row.low, row.high) if e is not None)]
    finite = [end for end in ends if math.isfinite(end)]
    low, high = min(finite), max(finite)
    room = 0.07 * (high - low) or 1.0
    return low - room, high + room
