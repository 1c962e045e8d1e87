"""Plotly figures of sweeps: quality against ε, maps over two parameters, edges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pages.ui.charts import label
from pages.ui.theme import PALETTES, current
from privcore.algorithms import ALGORITHMS
from privcore.evaluation.sweeps.sweep import SweepPlan

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def series_name(algorithm: str, calibration: str) -> str:
    """Such as "Priv-PC" or "Priv-PC, published"; proven is what goes without saying."""
    title = ALGORITHMS[algorithm].title
    return title if calibration in ("proven", "none") else f"{title}, {calibration}"


def line_names(plan: SweepPlan) -> list[str]:
    """Every line that the plan can have, in a fixed order, so that colours stay."""
    return [
        series_name(name, calibration)
        for calibration in plan.calibrations
        for name in plan.algorithms
        if ALGORITHMS[name].private
    ]


def quality(
    table: pd.DataFrame,
    title: str,
    *,
    order: list[str],
    bounded: bool,
    target: float | None = None,
    log: bool = False,
) -> go.Figure:
    """Mean of a metric against ε, a line for each algorithm, with the middle nine tenths of runs.

    table: as `summarise` gives it, with `algorithm`, `calibration`, `epsilon`; rows without ε are
    not private and are drawn as level lines.  order: names of the lines, which fixes the colours.
    """
    palette = PALETTES[current()]
    figure = go.Figure()
    private = table[table["epsilon"].notna()]
    for key, part in private.groupby(["algorithm", "calibration"], sort=False):
        algorithm, calibration = map(str, key)
        name = series_name(algorithm, calibration)
        number = order.index(name)
        colour = palette.series[number % len(palette.series)]
        part = part.sort_values("epsilon")
        x = part["epsilon"].to_numpy()
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([part["q95"], part["q05"][::-1]]),
            fill="toself",
            fillcolor=colour,
            opacity=0.13,
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
            legendgroup=name,
        )
        figure.add_scatter(
            x=x,
            y=part["mean"],
            name=name,
            legendgroup=name,
            mode="lines+markers",
            line={
                "color": colour,
                "width": 2.5,
                "dash": DASHES[number // len(palette.series) + (calibration == "published")],
            },
            marker={"size": 7},
            customdata=np.column_stack(
                [np.full(len(part), algorithm), np.full(len(part), calibration), part["runs"]]
            ),
            hovertemplate="ε = %{x:g}: %{y:.3f} (%{customdata[2]} runs)"
            "<extra>%{fullData.name}</extra>",
        )
    ends = [private["epsilon"].min(), private["epsilon"].max()]
    for line, (_, row) in enumerate(table[table["epsilon"].isna()].iterrows()):
        figure.add_scatter(
            x=ends,
            y=[row["mean"]] * 2,
            name=ALGORITHMS[row["algorithm"]].title,
            mode="lines",
            line={"color": palette.text, "width": 1.5, "dash": DASHES[1 + line % 2]},
            hovertemplate="%{y:.3f}<extra>%{fullData.name}</extra>",
        )
    if target is not None:
        figure.add_hline(y=target, line={"color": palette.muted, "width": 1, "dash": "dot"})
    figure.update_layout(
        height=460,
        hovermode="closest",
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        xaxis={"title": "privacy budget ε (more privacy to the left)", "type": "log"},
        yaxis={
            "title": title,
            "range": [-0.02, 1.05] if bounded else None,
            "type": "log" if log else "linear",
            "rangemode": "tozero",
        },
    )
    _ticks(figure, private["epsilon"])
    return figure


def _ticks(figure: go.Figure, values: pd.Series) -> None:
    """Label the ε of the grid in plain numbers, few enough to be read."""
    grid = sorted(set(values))
    step = max(1, -(-len(grid) // 12))
    shown = grid[::step]
    figure.update_xaxes(tickvals=shown, ticktext=[f"{v:g}" for v in shown])


def _number(value: object) -> str:
    """A value of an axis; whole numbers with separators."""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:g}"
    return f"{value:,.0f}" if isinstance(value, float | int) else str(value)


def pair_map(
    table: pd.DataFrame, other: str, other_title: str, title: str, bounded: bool
) -> go.Figure:
    """Mean of a metric over ε and another parameter; both axes in equal steps of their grids."""
    palette = PALETTES[current()]
    wide = table.pivot_table(index=other, columns="epsilon", values="mean", sort=True)
    figure = go.Figure(
        go.Heatmap(
            z=wide.to_numpy(),
            x=[f"{v:g}" for v in wide.columns],
            y=[_number(v) for v in wide.index],
            zmin=0 if bounded else None,
            zmax=1 if bounded else None,
            colorscale=[[0, palette.surface], [1, palette.map_end]],
            textfont={"color": palette.text},
            text=[["" if np.isnan(v) else f"{v:.2f}" for v in row] for row in wide.to_numpy()],
            texttemplate="%{text}",
            colorbar={"title": title},
            hovertemplate="ε = %{x}, " + other_title + " = %{y}: %{z:.3f}<extra></extra>",
        )
    )
    figure.update_layout(
        height=460,
        xaxis={"title": "privacy budget ε", "type": "category"},
        yaxis={"title": other_title, "type": "category"},
    )
    return figure


def edge_map(table: pd.DataFrame, share: str) -> go.Figure:
    """Share of the runs in which each true edge was found, by ε, hardest edges last."""
    palette = PALETTES[current()]
    table = table.assign(
        edge=[
            f"{label(a, 14)} → {label(b, 14)}"
            for a, b in zip(table["cause"], table["effect"], strict=True)
        ]
    )
    wide = table.pivot_table(index="edge", columns="epsilon", values=share)
    wide = wide.loc[wide.mean(axis=1).sort_values().index]
    figure = go.Figure(
        go.Heatmap(
            z=wide.to_numpy(),
            x=[f"{v:g}" for v in wide.columns],
            y=list(wide.index),
            zmin=0,
            zmax=1,
            colorscale=[[0, palette.surface], [1, palette.map_end]],
            textfont={"color": palette.text},
            text=[[f"{v:.2f}" for v in row] for row in wide.to_numpy()],
            texttemplate="%{text}" if wide.size <= 300 else None,
            colorbar={"title": "share of runs"},
            hovertemplate="%{y} at ε = %{x}: %{z:.2f}<extra></extra>",
        )
    )
    figure.update_layout(
        height=max(360, 90 + 22 * len(wide)),
        xaxis={"title": "privacy budget ε", "type": "category"},
        yaxis={"type": "category", "dtick": 1},
    )
    return figure
