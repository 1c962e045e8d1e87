"""The panel on membership in the data."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import LEGEND, Values, draw, level_line
from pages.ui.theme import PALETTES, current
from privcore.algorithms import ALGORITHMS
from privcore.display.sentences import precise_percent
from privcore.extras.teaching.membership import Membership
from privcore.privacy.accounting.guarantee import guessing_bound


def show(result: Membership, values: Values, key: str) -> None:
    draw(
        success(result, values["epsilon"], ALGORITHMS[values["algorithm"]].title),
        f"{key}-success",
        "Correct guesses against ε: measured, and the maximum that ε allows",
    )
    row = st.container(horizontal=True)
    row.metric(
        "Correct without privacy",
        precise_percent(result.exact),
        help="PC finds an edge on D and none on D′, so its graph reveals which table was used.",
    )
    low, high = result.interval
    row.metric(
        "Correct with privacy",
        f"{100 * result.guessed:.1f} %",
        help=f"Measured over {2 * values['runs']:,} games, 95 % interval {100 * low:.1f} to "
        f"{100 * high:.1f} %.",
    )
    row.metric(
        "Limit on correct guesses",
        precise_percent(result.bound),
        help="The limit that ε sets for any attacker.",
    )
    one, other = result.edge
    row.metric(
        "Edge on D / on D′",
        f"{100 * one:.0f} / {100 * other:.0f} %",
        help="How often the private graph has the edge.",
    )


def success(result: Membership, epsilon: float, title: str) -> go.Figure:
    """Chart of the measured shares of correct guesses against ε, with the upper bound.

    Horizontal lines mark the share for PC without privacy, and the share of a coin toss.
    """
    palette = PALETTES[current()]
    figure = go.Figure()
    fine = np.geomspace(0.05, 20.0, 80)
    figure.add_scatter(
        x=fine,
        y=[100 * guessing_bound(float(e), 0.0) for e in fine],
        mode="lines",
        name="maximum that ε allows",
        line={"color": palette.text, "width": 2, "dash": "dash"},
        hovertemplate="ε = %{x:.2g}: at most %{y:.1f} %<extra></extra>",
    )
    figure.add_scatter(
        x=result.epsilons,
        y=100 * result.measured,
        mode="markers",
        name=f"attack on {title}",
        marker={"color": palette.series[0], "size": 9},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": 100 * (result.measured_intervals[:, 1] - result.measured),
            "arrayminus": 100 * (result.measured - result.measured_intervals[:, 0]),
            "color": palette.series[0],
        },
        hovertemplate="ε = %{x:g}: right in %{y:.1f} %<extra></extra>",
    )
    figure.add_scatter(
        x=[epsilon],
        y=[100 * result.guessed],
        mode="markers",
        name="your ε",
        marker={"color": palette.series[1], "size": 15, "symbol": "diamond"},
        hovertemplate="ε = %{x:g}: right in %{y:.1f} %<extra></extra>",
    )
    level_line(figure, 100 * result.exact, "PC without privacy")
    level_line(figure, 50, "a coin toss")
    ticks = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
    figure.update_layout(
        legend=LEGEND,
        xaxis={
            "title": "privacy budget ε",
            "type": "log",
            "range": [np.log10(0.045), np.log10(22)],
            "tickvals": ticks,
            "ticktext": [f"{tick:g}" for tick in ticks],
        },
        yaxis={"title": "correct guesses, %", "range": [40, 106]},
    )
    return figure
