"""The panel on adding noise to Z or to the p-value of Z, and on ties."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import DASHES, HALF, HOVER, LEGEND, Values, draw, upright
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.p_space import PAgainstZ


def show(result: PAgainstZ, values: Values, key: str) -> None:
    draw(
        decisions(result),
        f"{key}-decisions",
        "Probability of the decision “independent” against |Z|",
        HALF,
    )
    draw(ties(result), f"{key}-ties", "Distribution of Z* with and without ties", HALF)
    draw(power(result), f"{key}-power", "Power at the usual and the corrected threshold", HALF)
    row = st.container(horizontal=True)
    row.metric(
        "Noise in p relative to noise in Z",
        f"{result.noise_ratio:.3g}",
        help="At the same ε, in units of Z near the decision threshold.",
    )
    row.metric(
        "Spread of Z* with ties",
        f"{result.tied_sd:.3g}",
        help="Standard deviation for independent binary columns; 1 without ties.",
    )
    row.metric(
        "False alarms with ties",
        f"{result.size:.2g}",
        help="How often independent binary columns are judged dependent, without noise; without "
        "ties, this share is α.",
    )


def decisions(tests: PAgainstZ) -> go.Figure:
    """Chart of the probability that a pair is judged independent, with noise on Z or on p."""
    palette = PALETTES[current()]
    figure = go.Figure()
    for number, (name, values) in enumerate(
        (("noise on |Z|", tests.in_z), ("noise on p", tests.in_p))
    ):
        figure.add_scatter(
            x=tests.z,
            y=values,
            name=name,
            mode="lines",
            hovertemplate=HOVER,
            line={"color": palette.series[number], "width": 3, "dash": DASHES[number]},
        )
    figure.add_scatter(
        x=tests.z,
        y=tests.p,
        name="p-value",
        mode="lines",
        hovertemplate=HOVER,
        line={"color": palette.series[4], "dash": "dot"},
    )
    upright(figure, tests.threshold, "threshold")
    figure.update_layout(
        height=360,
        legend=LEGEND,
        xaxis={"title": "exact |Z|"},
        yaxis={"title": "P(judged independent)", "range": [-0.03, 1.08]},
    )
    return figure


def ties(tests: PAgainstZ) -> go.Figure:
    """Chart of the density of Z* for independent columns with and without ties, and thresholds."""
    palette = PALETTES[current()]
    figure = go.Figure()
    lines = (("no ties", tests.untied_density), ("binary columns", tests.tied_density))
    for number, (name, values) in enumerate(lines):
        figure.add_scatter(
            x=tests.signed,
            y=values,
            name=name,
            mode="lines",
            hovertemplate=HOVER,
            line={"color": palette.series[number], "width": 3, "dash": DASHES[number]},
        )
    upright(figure, tests.threshold, "threshold")
    upright(figure, -tests.corrected, "corrected, on both sides", "top left")
    upright(figure, tests.corrected, "", "top right")
    figure.update_layout(
        height=360,
        legend=LEGEND,
        xaxis={"title": "Z* of independent columns", "range": [-5, 5]},
        yaxis={"title": "density", "rangemode": "tozero"},
    )
    return figure


def power(tests: PAgainstZ) -> go.Figure:
    """Chart of the power to detect dependence of binary columns, at both thresholds."""
    palette = PALETTES[current()]
    figure = go.Figure()
    lines = (("usual threshold", tests.power), ("corrected for ties", tests.corrected_power))
    for number, (name, values) in enumerate(lines):
        figure.add_scatter(
            x=tests.effects,
            y=values,
            name=name,
            mode="lines",
            hovertemplate=HOVER,
            line={"color": palette.series[(1, 2)[number]], "width": 3, "dash": DASHES[number]},
        )
    figure.update_layout(
        height=320,
        legend=LEGEND,
        xaxis={"title": "strength of the dependence, φ"},
        yaxis={"title": "P(judged dependent), no noise", "range": [-0.03, 1.05]},
    )
    return figure
