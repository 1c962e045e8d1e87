"""The panel on adding noise to Z or to the p-value of Z, and on ties."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import DASHES, HALF, HOVER, LEGEND, Values, draw, upright
from pages.ui.theme import PALETTES, current
from privcore.arrays import Vector
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
    figure = _two_lines(tests.z, {"noise on |Z|": tests.in_z, "noise on p": tests.in_p})
    figure.add_scatter(
        x=tests.z,
        y=tests.p,
        name="p-value",
        mode="lines",
        hovertemplate=HOVER,
        line={"color": PALETTES[current()].series[4], "dash": "dot"},
    )
    upright(figure, tests.threshold, "threshold")
    return figure.update_layout(
        xaxis={"title": "exact |Z|"},
        yaxis={"title": "P(judged independent)", "range": [-0.03, 1.08]},
    )


def ties(tests: PAgainstZ) -> go.Figure:
    """Chart of the density of Z* for independent columns with and without ties, and thresholds."""
    densities = {"no ties": tests.untied_density, "binary columns": tests.tied_density}
    figure = _two_lines(tests.signed, densities)
    upright(figure, tests.threshold, "threshold")
    upright(figure, -tests.corrected, "corrected, on both sides", "top left")
    upright(figure, tests.corrected, "", "top right")
    return figure.update_layout(
        xaxis={"title": "Z* of independent columns", "range": [-5, 5]},
        yaxis={"title": "density", "rangemode": "tozero"},
    )


def power(tests: PAgainstZ) -> go.Figure:
    """Chart of the power to detect dependence of binary columns, at both thresholds."""
    powers = {"usual threshold": tests.power, "corrected for ties": tests.corrected_power}
    return _two_lines(tests.effects, powers, first=1).update_layout(
        xaxis={"title": "strength of the dependence, φ"},
        yaxis={"title": "P(judged dependent), no noise", "range": [-0.03, 1.05]},
    )


def _two_lines(x: Vector, lines: Mapping[str, Vector], first: int = 0) -> go.Figure:
    """Chart of two lines by name; first: the number of the first line's colour."""
    palette, figure = PALETTES[current()], go.Figure()
    for number, (name, values) in enumerate(lines.items()):
        figure.add_scatter(
            x=x,
            y=values,
            name=name,
            mode="lines",
            hovertemplate=HOVER,
            line={"color": palette.series[first + number], "width": 3, "dash": DASHES[number]},
        )
    return figure.update_layout(legend=LEGEND)
