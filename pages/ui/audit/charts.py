"""Plotly figures of audits."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from pages.ui.charts import label
from pages.ui.theme import PALETTES, current
from privcore.extras.audits import AuditResult, TestedEvent
from privcore.extras.audits.statistics import thing

_BINS = 60


def against_claim(result: AuditResult) -> go.Figure:
    """Chart of each event's lower bound on ε, with a line at the claimed ε."""
    palette = PALETTES[current()]
    shown = [event.epsilon_lower for event in result.events] or [0.0]
    colours = [palette.series[1] if v > result.epsilon else palette.series[0] for v in shown]
    figure = go.Figure(
        go.Bar(
            x=[f"event {number}" for number in range(1, len(shown) + 1)],
            y=shown,
            marker_color=colours,
            hovertemplate="%{x}: ε at least %{y:.3f}<extra></extra>",
            width=0.5,
        )
    )
    figure.add_hline(
        y=result.epsilon,
        line={"color": palette.text, "width": 2, "dash": "dash"},
        annotation_text=f"claim {result.epsilon:g}",
        annotation_font_color=palette.text,
    )
    figure.update_layout(
        height=340,
        title="Lower bound on ε by event",
        xaxis={"title": "events (event 1 is described below)"},
        yaxis={
            "title": "lower bound on the true ε",
            "range": [0, 1.2 * max(result.epsilon, *shown)],
        },
    )
    return figure


def probabilities(event: TestedEvent) -> go.Figure:
    """Chart of an event's frequency on both data sets, with the confidence bounds of the audit."""
    palette = PALETTES[current()]
    here, there = event.hits / event.runs, event.other_hits / event.runs
    other = "D′" if event.favours == "D" else "D"
    figure = go.Figure(
        go.Bar(
            x=[event.favours, other],
            y=[here, there],
            error_y={
                "array": [0, event.high - there],
                "arrayminus": [here - event.low, 0],
                "thickness": 2,
                "width": 10,
                "color": palette.text,
            },
            marker_color=[palette.series[0], palette.series[1]],
            width=0.5,
            hovertemplate="on %{x}: %{y:.4f}<extra></extra>",
        )
    )
    figure.update_layout(
        height=340,
        title="Frequency of event 1",
        xaxis={"type": "category", "title": "data set (the mark is the confidence bound)"},
        yaxis={"title": "share of runs", "rangemode": "tozero"},
    )
    return figure


def two_histograms(one: NDArray[np.float64], other: NDArray[np.float64], name: str) -> go.Figure:
    """Histograms of one feature of the output, as shares of the runs on each data set.

    For a yes/no feature, whose name ends in "?", bars show the frequency of yes and no.
    """
    palette, figure = PALETTES[current()], go.Figure()
    sides = {"on D": np.asarray(one, dtype=float), "on D′": np.asarray(other, dtype=float)}
    answers = name.endswith("?")
    values = np.concatenate(list(sides.values()))
    values = values[np.isfinite(values)]
    low, high = (np.quantile(values, [0.005, 0.995])) if values.size else (0.0, 1.0)
    high = high if high > low else low + 1
    for number, (title, held) in enumerate(sides.items()):
        colour, hover = palette.series[number], "%{y:.4f}<extra>%{fullData.name}</extra>"
        if answers:
            share = float(np.mean(held > 0))
            figure.add_bar(
                x=["yes", "no"],
                y=[share, 1 - share],
                name=title,
                marker={"color": colour, "pattern": {"shape": ("", "/")[number]}},
                hovertemplate=f"%{{x}}: {hover}",
            )
            continue
        counts, edges = np.histogram(held[np.isfinite(held)], bins=_BINS, range=(low, high))
        figure.add_scatter(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts / max(len(held), 1),
            name=title,
            mode="lines",
            line={"color": colour, "shape": "hvh", "dash": ("solid", "dash")[number]},
            fill="tozeroy",
            hovertemplate=f"%{{x:.4g}}: {hover}",
        )
    figure.update_layout(
        height=340,
        title="Frequency" if answers else "Distribution of the values",
        barmode="group" if answers else None,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0.72, "xanchor": "right"},
        xaxis={"title": label(thing(name), 90), "type": "category" if answers else None},
        yaxis={"title": "share of runs", "rangemode": "tozero"},
    )
    return figure
