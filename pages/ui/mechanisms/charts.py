"""Plotly figures of the panels on noise, sieving and sub-sampling, and what all figures share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.ui.theme import PALETTES, current
from privcore.teaching.noise import NoisePicture
from privcore.teaching.sieve import SieveErrors
from privcore.teaching.subsampling import SubsamplingCurves

LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}
_BINS = 50


def densities(picture: NoisePicture, discrete: bool) -> go.Figure:
    """What may be published on either data set, and draws of it."""
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
        height=380,
        barmode="overlay",
        legend=LEGEND,
        bargap=0,
        xaxis={"title": "published number", "range": [low, high]},
        yaxis={"title": "probability" if discrete else "density", "rangemode": "tozero"},
    )
    return figure


def privacy_loss(picture: NoisePicture, epsilon: float) -> go.Figure:
    """ln of the likelihood ratio, and ±ε; what lies outside is marked."""
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
        height=380,
        legend=LEGEND,
        showlegend=True,
        xaxis={"title": "published number"},
        yaxis={"title": "ln of likelihood ratio, D to D′", "range": [-reach, reach]},
    )
    return figure


def log_axis(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis from low to high with the ticks 1, 2, 5 of each decade, or powers of ten.

    Both positive.
    """
    start, end = math.log10(low), math.log10(high)
    steps = (1, 2, 5) if end - start < 3.5 else (1,)
    ticks = [m * 10.0**d for d in range(math.floor(start), math.ceil(end) + 1) for m in steps]
    return {
        "type": "log",
        "range": [start, end],
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
    }


def level_line(figure: go.Figure, y: float, text: str) -> None:
    """A dashed level line with its name."""
    palette = PALETTES[current()]
    figure.add_hline(
        y=y,
        line={"color": palette.text, "width": 1.5, "dash": "dash"},
        annotation_text=text,
        annotation_position="top right",
        annotation_font_color=palette.text,
    )


def upright(figure: go.Figure, x: float, text: str, position: str = "top right") -> None:
    """A dotted upright line with its name."""
    palette = PALETTES[current()]
    figure.add_vline(
        x=x,
        line={"color": palette.text, "width": 1.5, "dash": "dot"},
        annotation_text=text,
        annotation_position=position,
        annotation_font_color=palette.text,
    )


def sieve_error_curves(found: SieveErrors, axis: str) -> go.Figure:
    """Exact, printed and simulated error probabilities, on a logarithmic scale."""
    palette = PALETTES[current()]
    figure = go.Figure()
    kinds = (
        ("type I, kept wrongly", found.type_one, found.printed_one, found.simulated_one),
        ("type II, deleted wrongly", found.type_two, found.printed_two, found.simulated_two),
    )
    for number, (name, exact, printed, simulated) in enumerate(kinds):
        colour = palette.series[number]
        hover = "%{x:.3g}: %{y:.3g}<extra>%{fullData.name}</extra>"
        figure.add_scatter(
            x=found.x,
            y=exact,
            name=f"{name}: exact",
            mode="lines",
            line={"color": colour, "width": 3},
            hovertemplate=hover,
        )
        if np.isfinite(printed).any():
            figure.add_scatter(
                x=found.x,
                y=printed,
                name="as printed in Theorem 2",
                mode="lines",
                line={"color": colour, "dash": "dash"},
                hovertemplate=hover,
            )
        figure.add_scatter(
            x=found.simulated_x,
            y=np.where(simulated > 0, simulated, np.nan),
            mode="markers",
            name=f"{found.runs:,} runs",
            hovertemplate=hover,
            marker={
                "color": colour,
                "size": 9,
                "symbol": ("circle-open", "diamond-open")[number],
                "line_width": 2,
            },
        )
    figure.update_layout(
        height=420,
        legend=LEGEND,
        showlegend=True,
        xaxis={
            "title": {
                "epsilon": "ε of a round",
                "tweak": "tweak t",
                "rate": "sub-sampling rate m/n",
            }[axis],
            **(log_axis(0.045, 5.5) if axis == "epsilon" else {}),
        },
        yaxis={"title": "probability", **log_axis(1e-5, 1.1)},
    )
    return figure


def subsampling(curves: SubsamplingCurves) -> go.Figure:
    """Noise, signal and their ratio, relative to all rows."""
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
        height=420,
        legend=LEGEND,
        xaxis={"title": "sub-sampling rate m/n", "range": [0, 1.02]},
        yaxis={"title": "relative to all rows", "rangemode": "tozero"},
    )
    return figure
