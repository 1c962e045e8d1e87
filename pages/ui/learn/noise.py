"""The panel on the noise added to one number."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import HALF, LEGEND, Values, draw, level_line
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.noise import NoisePicture

_BINS = 50


def show(result: NoisePicture, values: Values, key: str) -> None:
    draw(
        densities(result, values["mechanism"] == "discrete laplace"),
        f"{key}-density",
        "Density of the published number on two neighbouring data sets, and draws",
        HALF,
    )
    draw(
        privacy_loss(result, values["epsilon"]),
        f"{key}-loss",
        "Logarithm of the likelihood ratio against ±ε",
        HALF,
    )
    row = st.container(horizontal=True)
    row.metric(
        "Scale of the noise",
        f"{result.scale:.3g}",
        help="b = 1/ε for Laplace noise, σ for Gaussian noise.",
    )
    largest = float(abs(result.loss).max())
    row.metric(
        "Largest ln ratio",
        f"{largest:.3g}",
        help="The largest value in the plotted range; for Gaussian noise there is no maximum.",
    )
    row.metric(
        "P(ratio above e^ε)",
        f"{result.exceeded:.2g}",
        help="Probability on D of a result whose likelihood ratio is above e^ε.",
    )
    row.metric(
        "δ needed at ε",
        f"{result.delta:.2g}",
        help="The smallest δ for which the guarantee (ε, δ) holds for these two values.",
    )
    if result.delta > 1.01 * (values["delta"] if values["mechanism"] == "gaussian" else 0) + 1e-9:
        st.warning(
            "The distance between these values exceeds the sensitivity of 1 that the noise is "
            "calibrated for, so the guarantee does not hold.",
            icon=":material/warning:",
        )


def densities(picture: NoisePicture, discrete: bool) -> go.Figure:
    """Chart of the distribution of the published number on each data set, with draws."""
    palette = PALETTES[current()]
    figure = go.Figure()
    low, high = float(picture.x[0]), float(picture.x[-1])
    width = 1.0 if discrete else (high - low) / _BINS
    edges = np.arange(low, high + width / 2, width) - (0.5 if discrete else 0.0)
    sides = (
        ("on D", picture.density, picture.draws),
        ("on D′", picture.other_density, picture.other_draws),
    )
    for number, (name, density, draws) in enumerate(sides):
        counts, _ = np.histogram(draws, bins=edges)
        figure.add_bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts / (len(draws) * width),
            width=width,
            name=f"draws {name}",
            marker_color=palette.series[number],
            opacity=0.3,
            hovertemplate="%{x:.3g}: %{y:.3g}<extra>%{fullData.name}</extra>",
        )
        figure.add_scatter(
            x=picture.x,
            y=density,
            name=name,
            mode="lines+markers" if discrete else "lines",
            line={"color": palette.series[number], "dash": ("solid", "dash")[number]},
            hovertemplate="%{x:.3g}: %{y:.3g}<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(
        barmode="overlay",
        legend=LEGEND,
        bargap=0,
        xaxis={"title": "published number", "range": [low, high]},
        yaxis={"title": "probability" if discrete else "density", "rangemode": "tozero"},
    )
    return figure


def privacy_loss(picture: NoisePicture, epsilon: float) -> go.Figure:
    """Chart of the log likelihood ratio with lines at ±ε; values outside ±ε are marked."""
    palette = PALETTES[current()]
    outside = np.abs(picture.loss) > epsilon * (1 + 1e-9)
    figure = go.Figure()
    figure.add_scatter(
        x=picture.x,
        y=picture.loss,
        mode="lines",
        name="ln of the ratio",
        line={"color": palette.series[0]},
        hovertemplate="%{x:.3g}: %{y:.3g}<extra>%{fullData.name}</extra>",
    )
    if outside.any():
        figure.add_scatter(
            x=picture.x,
            y=np.where(outside, picture.loss, np.nan),
            mode="lines",
            name="beyond ε",
            line={"color": palette.series[1], "width": 4},
            hovertemplate="%{x:.3g}: %{y:.3g}<extra>%{fullData.name}</extra>",
        )
    for level, text in ((epsilon, f"ε = {epsilon:g}"), (-epsilon, f"−ε = {-epsilon:g}")):
        level_line(figure, level, text)
    reach = 1.25 * max(epsilon, float(np.abs(picture.loss).max()))
    figure.update_layout(
        legend=LEGEND,
        showlegend=True,
        xaxis={"title": "published number"},
        yaxis={"title": "ln of likelihood ratio, D to D′", "range": [-reach, reach]},
    )
    return figure
