"""The panel on Simpson's paradox."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import HALF, LEGEND, Values, draw
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.simpson import NAMES, PAIRS, RUNS, Simpson

_GROUPS = ("all patients", "mild cases", "severe cases")
# Severity on top, as in a textbook.
_PLACES = ((0.0, 1.0), (-1.0, 0.0), (1.0, 0.0))


def show(result: Simpson, values: Values, key: str) -> None:
    draw(
        recoveries(result),
        f"{key}-shares",
        "Recovery under both treatments, overall and by severity",
        HALF,
    )
    draw(
        graphs(result), f"{key}-graph", "How often the private graph has each of three edges", HALF
    )
    row = st.container(horizontal=True)
    row.metric(
        "All patients",
        _points(result.overall),
        help="Recovery rate with the new treatment minus recovery rate with the old treatment, "
        "from exact counts.",
    )
    row.metric(
        "Within severity",
        _points(result.within),
        help="The mean of the differences within mild and within severe cases, weighted by the "
        "number of cases.",
    )
    row.metric(
        "All, private",
        _points(result.noisy_overall),
        help="The difference for all patients, from the noisy counts of the first private graph.",
    )
    row.metric(
        "Within, private",
        _points(result.noisy_within),
        help="The mean of the differences within mild and within severe cases, from the same noisy "
        "counts.",
    )


def _points(share: float) -> str:
    return f"{100 * share:+.1f} points".replace("-", "−")


def recoveries(result: Simpson) -> go.Figure:
    """Chart of recovery rates: bars for exact counts, diamonds for noisy counts."""
    palette = PALETTES[current()]
    figure = go.Figure()
    for number, name in enumerate(("old treatment", "new treatment")):
        figure.add_bar(
            x=_GROUPS,
            y=100 * result.shares[:, number],
            name=name,
            offsetgroup=number,
            marker_color=palette.series[(1, 0)[number]],
            text=[f"{100 * share:.0f} %" for share in result.shares[:, number]],
            textposition="inside",
            insidetextanchor="start",
            hovertemplate="%{x}: %{y:.1f} %<extra>%{fullData.name}</extra>",
        )
    # Numeric positions, so that each mark is on its bar.
    figure.add_scatter(
        x=[group + side for group in range(3) for side in (-0.2, 0.2)],
        y=100 * result.noisy_shares.ravel(),
        xaxis="x2",
        mode="markers",
        name="private",
        marker={"symbol": "diamond", "size": 10, "color": palette.text},
        hovertemplate="from noisy counts: %{y:.1f} %<extra></extra>",
    )
    figure.update_layout(
        legend=LEGEND,
        bargap=0.2,
        xaxis={"title": None},
        xaxis2={"overlaying": "x", "range": [-0.5, 2.5], "visible": False, "fixedrange": True},
        yaxis={"title": "recovered, %", "range": [0, 108]},
    )
    return figure


def graphs(result: Simpson) -> go.Figure:
    """Draw the graph of three columns; line width shows how often private graphs have an edge."""
    palette = PALETTES[current()]
    figure = go.Figure()
    for number, (i, j) in enumerate(PAIRS):
        (x0, y0), (x1, y1) = _PLACES[i], _PLACES[j]
        kept = float(result.kept[number])
        figure.add_scatter(
            x=[x0, x1],
            y=[y0, y1],
            mode="lines",
            name="private graphs",
            legendgroup="private",
            showlegend=number == 0,
            line={"color": palette.series[0], "width": 1 + 15 * kept},
            opacity=0.45 if kept else 0.0,
            hoverinfo="skip",
        )
        if result.exact[number]:
            figure.add_scatter(
                x=[x0, x1],
                y=[y0, y1],
                mode="lines",
                name="PC without privacy",
                legendgroup="exact",
                showlegend=number == 0,
                line={"color": palette.text, "width": 1.5},
                hoverinfo="skip",
            )
        figure.add_annotation(
            x=(x0 + x1) / 2,
            y=(y0 + y1) / 2,
            text=f"<b>{100 * kept:.0f} %</b>",
            showarrow=False,
            bgcolor=palette.background,
            borderpad=3,
            font={"color": palette.text, "size": 14},
            hovertext=f"{round(kept * RUNS)} of {RUNS} private graphs have this edge",
        )
    figure.add_scatter(
        x=[x for x, _ in _PLACES],
        y=[y for _, y in _PLACES],
        mode="markers+text",
        text=NAMES,
        textposition=["top center", "bottom center", "bottom center"],
        textfont={"size": 14, "color": palette.text},
        marker={
            "size": 24,
            "color": palette.node,
            "line": {"color": palette.node_border, "width": 1},
        },
        showlegend=False,
        hoverinfo="skip",
    )
    figure.update_layout(
        legend=LEGEND,
        xaxis={"visible": False, "range": [-1.5, 1.5], "fixedrange": True},
        yaxis={"visible": False, "range": [-0.4, 1.35], "fixedrange": True},
    )
    return figure
