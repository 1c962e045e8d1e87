"""The panel on sub-sampling."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import LEGEND, Values, draw, upright
from pages.ui.theme import PALETTES, current
from privcore.display.sentences import precise_percent
from privcore.extras.teaching.subsampling import SubsamplingCurves


def show(result: SubsamplingCurves, values: Values, key: str) -> None:
    draw(
        subsampling(result),
        f"{key}-rates",
        "Noise, signal and signal-to-noise ratio against the sub-sampling rate",
    )
    row = st.container(horizontal=True)
    row.metric(
        "The paper’s rate", f"{result.paper_rate:.3f}", help="The rate with the least noise."
    )
    row.metric(
        "Signal over noise at this rate",
        precise_percent(result.paper_ratio),
        help="As a share of the signal-to-noise ratio at rate 1.",
    )
    row.metric(
        "Noise at rate 1",
        f"{result.threshold_scale[-1]:.3g}",
        help="Laplace scale of the sieve’s threshold, in units of Z.",
    )


def subsampling(curves: SubsamplingCurves) -> go.Figure:
    """Chart of noise, signal and signal-to-noise ratio, each relative to its value at rate 1."""
    palette = PALETTES[current()]
    figure = go.Figure()
    lines = (
        ("noise of the sieve", curves.noise, "dash"),
        ("signal", curves.signal, "dot"),
        ("signal over noise", curves.ratio, "solid"),
    )
    for number, (name, values, dash) in enumerate(lines):
        figure.add_scatter(
            x=curves.rates,
            y=values,
            name=name,
            mode="lines",
            line={"color": palette.series[(1, 2, 0)[number]], "dash": dash, "width": 3},
            hovertemplate="rate %{x:.2f}: %{y:.3f}<extra>%{fullData.name}</extra>",
        )
    upright(figure, curves.paper_rate, "the paper’s rate")
    figure.update_layout(
        legend=LEGEND,
        xaxis={"title": "sub-sampling rate m/n", "range": [0, 1.02]},
        yaxis={"title": "relative to all rows", "rangemode": "tozero"},
    )
    return figure
