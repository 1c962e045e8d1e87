"""The panel on repeated releases."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import DASHES, HALF, LEGEND, Values, draw, level_line, log_axis
from pages.ui.theme import PALETTES, current
from privcore.display.sentences import precise_percent
from privcore.extras.teaching.averaging import TRIALS, VALUE, Averaging, costs_by_release


def show(result: Averaging, values: Values, key: str) -> None:
    draw(means(result), f"{key}-means", "Mean of the first k releases", HALF)
    draw(
        bill(values["epsilon"], values["releases"]),
        f"{key}-bill",
        "Total ε of k releases under three accountants",
        HALF,
    )
    row = st.container(horizontal=True)
    row.metric(
        "Error of the mean, measured",
        f"{result.rms[-1]:.3g}",
        f"{result.expected[-1]:.3g} by the formula",
        delta_color="off",
        delta_arrow="off",
        help=f"Root mean square error over {TRIALS} repetitions; by the formula √2/(ε√k).",
    )
    low, high = result.interval
    row.metric(
        "Correct guesses",
        f"{100 * result.guessed:.1f} %",
        help=f"An attacker guesses from all releases whether the count is {VALUE:g} or "
        f"{VALUE - 1:g}; measured over {2 * TRIALS:,} games, 95 % interval {100 * low:.1f} to "
        f"{100 * high:.1f} %.",
    )
    row.metric(
        "Limit on correct guesses",
        precise_percent(result.guess_bound),
        help="The limit for any attacker under the smallest total ε.",
    )
    for name, cost in result.costs.items():
        row.metric(
            f"ε, {name.split(',')[0]}", f"{cost:.3g}", help=f"Total over all releases: {name}."
        )


def means(result: Averaging) -> go.Figure:
    """Chart of the mean of the first k releases against k, with the theoretical error band."""
    palette = PALETTES[current()]
    figure = go.Figure()
    for sign in (1, -1):
        figure.add_scatter(
            x=result.counts,
            y=VALUE + sign * result.expected,
            mode="lines",
            name="± √2/(ε√k)",
            showlegend=sign > 0,
            line={"color": palette.muted, "width": 1, "dash": "dot"},
            fill="tonexty" if sign < 0 else None,
            fillcolor="rgba(128, 128, 128, 0.15)",
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=np.arange(1, len(result.means) + 1),
        y=result.means,
        mode="lines+markers" if len(result.means) < 40 else "lines",
        name="mean of the first k releases",
        line={"color": palette.series[0], "width": 3},
        hovertemplate="after release %{x:,}: %{y:.2f}<extra></extra>",
    )
    level_line(figure, VALUE, "exact count")
    figure.update_layout(
        legend=LEGEND,
        xaxis={"title": "releases", **log_axis(0.95, 1.05 * max(2, len(result.means)))},
        yaxis={"title": "mean"},
    )
    return figure


def bill(epsilon: float, releases: int) -> go.Figure:
    """Chart of the total ε of the first k releases against k, one line per accountant."""
    palette = PALETTES[current()]
    figure = go.Figure()
    counts, costs = costs_by_release(epsilon, releases)
    for number, (name, line) in enumerate(costs.items()):
        figure.add_scatter(
            x=counts,
            y=line,
            mode="lines+markers" if len(counts) < 7 else "lines",
            name=name.split(",")[0],
            line={"color": palette.series[number], "dash": DASHES[number], "width": 3},
            hovertemplate="after release %{x:,}: ε = %{y:.3g}<extra>%{fullData.name}</extra>",
        )
    everything = np.concatenate(list(costs.values()))
    figure.update_layout(
        legend=LEGEND,
        xaxis={"title": "releases", **log_axis(0.95, 1.05 * max(2, releases))},
        yaxis={
            "title": "total ε",
            **log_axis(float(everything.min()) / 1.3, float(everything.max()) * 1.3),
        },
    )
    return figure
