"""Plotly figures of a run: budget, weights and convergence; the numbers come from the engine."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from pages.ui.charts import label
from pages.ui.theme import PALETTES, current
from privcore.algorithms import Discovery
from privcore.algorithms.search.result import Iteration
from privcore.arrays import Matrix, Vector
from privcore.text import counted

# Above this number, releases are merged into one part of the bar: a run may have a thousand.
_FEW_RELEASES = 6
_PATTERNS = {"examine": "/", "which": "/", "separating set": "x"}


def budget_bar(result: Discovery) -> go.Figure:
    """Stacked bar of the shares of the planned budget, by order and step or by release."""
    palette = PALETTES[current()]
    parts: dict[tuple[int, str], float] = defaultdict(float)
    charged = [step for step in result.trace if step.charge]
    releases = sum(step.phase == "release" for step in charged)
    for step in charged:
        if step.phase != "release":
            parts[(step.order, f"order {step.order}: {step.phase}")] += step.charge
        elif 1 < releases <= _FEW_RELEASES:
            parts[(step.round, f"release {step.round}")] += step.charge
        else:
            parts[(step.order, "release")] += step.charge
    total = result.spent.total or sum(parts.values()) or 1.0
    figure = go.Figure()
    for (number, name), amount in sorted(parts.items()):
        figure.add_bar(
            x=[100 * amount / total],
            y=["budget"],
            orientation="h",
            name=name,
            marker={
                "color": palette.series[number % len(palette.series)],
                "pattern": {
                    "shape": _PATTERNS.get(name.partition(": ")[2], ""),
                    "fillmode": "overlay",
                    "fgcolor": palette.background,
                    "solidity": 0.25,
                },
                "line": {"color": palette.background, "width": 1},
            },
            hovertemplate="%{fullData.name}: %{x:.1f} %<extra></extra>",
        )
    unused = 100 * (1 - sum(parts.values()) / total)
    if result.spent.total and unused > 0.01:
        figure.add_bar(
            x=[unused],
            y=["budget"],
            orientation="h",
            name="planned, not used",
            marker={"color": palette.surface, "line": {"color": palette.border, "width": 1}},
            hovertemplate="not used: %{x:.1f} %<extra></extra>",
        )
    whole = "the planned budget" if result.spent.total else "the spent budget"
    figure.update_layout(
        barmode="stack",
        height=200,
        showlegend=True,
        legend={"orientation": "h", "y": 1.05, "yanchor": "bottom", "traceorder": "normal"},
        yaxis={"visible": False},
        xaxis={"title": f"share of {whole}, %", "range": [0, 100.5], "fixedrange": True},
    )
    return figure


def weights(values: Matrix, nodes: list[str], threshold: float) -> go.Figure:
    """Heat map of W[i, j], the weight of edge i → j; weights below the threshold are marked."""
    palette = PALETTES[current()]
    reach = max(float(np.abs(values).max()), 1e-9)
    names = [label(node) for node in nodes]
    small = len(nodes) <= 14
    text = [
        ["" if w == 0 else f"{w:.2f}" if abs(w) >= threshold else "×" for w in row]
        for row in values
    ]
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=names,
            y=names,
            zmin=-reach,
            zmax=reach,
            colorscale=[[0, palette.series[1]], [0.5, palette.background], [1, palette.series[0]]],
            text=text if small else None,
            texttemplate="%{text}" if small else None,
            colorbar={"title": "weight"},
            hovertemplate="%{y} → %{x}: %{z:.3f}<extra></extra>",
        )
    )
    figure.update_layout(
        height=420,
        title="Weights",
        xaxis={"title": "effect", "type": "category"},
        yaxis={"title": "cause", "type": "category", "autorange": "reversed"},
    )
    return figure


def convergence(iterations: tuple[Iteration, ...]) -> go.Figure:
    """Chart of h(W), and of the objective if known, by outer iteration."""
    palette = PALETTES[current()]
    numbers = list(range(1, len(iterations) + 1))
    figure = go.Figure()
    figure.add_scatter(
        x=numbers,
        y=[max(i.h, 1e-16) for i in iterations],
        name="h(W), 0 if acyclic",
        mode="lines+markers",
        line_color=palette.series[0],
        hovertemplate="iteration %{x}: h = %{y:.3g}<extra></extra>",
    )
    known = [i.objective for i in iterations if not math.isnan(i.objective)]
    if known:
        figure.add_scatter(
            x=numbers,
            y=[i.objective for i in iterations],
            name="objective",
            mode="lines+markers",
            yaxis="y2",
            line_color=palette.series[1],
            hovertemplate="iteration %{x}: objective %{y:.5g}<extra></extra>",
        )
    figure.update_layout(
        height=420,
        title="Convergence",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0.3},
        xaxis={"title": "iteration"},
        yaxis={"title": "h(W)", "type": "log", "exponentformat": "power"},
        yaxis2={"title": "objective", "overlaying": "y", "side": "right", "showgrid": False},
    )
    return figure


def schedules(lines: Mapping[str, Vector], chosen: str, amount: str) -> go.Figure:
    """Chart of the budget of each gradient under every schedule; the chosen schedule is thick."""
    palette = PALETTES[current()]
    figure = go.Figure()
    for number, (name, values) in enumerate(lines.items()):
        figure.add_scatter(
            x=list(range(1, len(values) + 1)),
            y=values,
            name=f"{name}: {counted(len(values), 'gradient')}",
            mode="lines+markers" if len(values) == 1 else "lines",
            line={
                "color": palette.series[number],
                "width": 4 if name == chosen else 1.5,
                "dash": ("solid", "dash", "dot")[number],
            },
            hovertemplate="gradient %{x}: %{y:.4g}<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(
        height=320,
        showlegend=True,
        legend={"orientation": "h", "y": 1.05, "yanchor": "bottom"},
        xaxis={"title": "gradient"},
        yaxis={"title": amount, "rangemode": "tozero"},
    )
    return figure
