"""Plotly figures of sweeps: quality against ε, maps over two parameters, edges.

An algorithm looks the same in every chart of all pages: our algorithms share one hue, the
algorithms of each paper share another, and non-private algorithms are grey. Algorithms of the same
hue differ in dashes and symbols, and each in its shade from the next.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pages.ui.charts import LineEnd, label, name_ends
from pages.ui.theme import PALETTES, Palette, current
from privcore.algorithms import ALGORITHMS, Algorithm

_HEIGHT = 460
# Height of a chart's margins and titles, so that labels at line ends fit.
_AROUND = 110
_NETWORK_HEIGHT = 340
OURS, NOT_PRIVATE = "ours", "not private"
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# The palette's series ends in grey and olive; grey is reserved for non-private algorithms.
_COLOURS = (0, 1, 2, 3, 5)


def series_name(algorithm: str, calibration: str) -> str:
    """The label of a series, such as "Priv-PC" (proven) or "Priv-PC, published"."""
    title = ALGORITHMS[algorithm].title
    return title if calibration in ("proven", "none") else f"{title}, {calibration}"


def quality(
    table: pd.DataFrame,
    title: str,
    *,
    bounded: bool,
    target: float | None = None,
    log: bool = False,
) -> go.Figure:
    """Chart of each algorithm's mean of a metric against ε, with 5th–95th percentile bands.

    table: the result of `summarise`, with the columns `algorithm`, `calibration` and `epsilon`.
    Rows without ε are not private and are drawn as horizontal lines. Labels are at line ends.
    """
    palette = PALETTES[current()]
    figure = go.Figure()
    private = table[table["epsilon"].notna() & table["mean"].notna()]
    ends: list[LineEnd] = []
    for key, part in private.groupby(["algorithm", "calibration"], sort=False):
        algorithm, calibration = map(str, key)
        name = series_name(algorithm, calibration)
        style = style_of(algorithm, palette, published=calibration == "published")
        part = part.sort_values("epsilon")
        x = part["epsilon"].to_numpy()
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([part["q95"], part["q05"][::-1]]),
            mode="lines",
            fill="toself",
            fillcolor=style.colour,
            opacity=0.1,
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
            line={"color": style.colour, "width": style.width, "dash": style.dash},
            marker={"size": 7, "symbol": style.symbol},
            customdata=np.column_stack(
                [np.full(len(part), algorithm), np.full(len(part), calibration), part["runs"]]
            ),
            hovertemplate="ε = %{x:g}: %{y:.3f} (runs: %{customdata[2]})"
            "<extra>%{fullData.name}</extra>",
        )
        ends.append(LineEnd(name, x[-1], part["mean"].iloc[-1], style.colour))
    span = [private["epsilon"].min(), private["epsilon"].max()]
    for _, row in table[table["epsilon"].isna() & table["mean"].notna()].iterrows():
        style = style_of(str(row["algorithm"]), palette)
        name = ALGORITHMS[row["algorithm"]].title
        figure.add_scatter(
            x=span,
            y=[row["mean"]] * 2,
            name=name,
            mode="lines",
            line={"color": style.colour, "width": style.width, "dash": style.dash},
            hovertemplate="%{y:.3f}<extra>%{fullData.name}</extra>",
        )
        if ends:
            ends.append(LineEnd(name, span[1], row["mean"], style.colour))
    if target is not None:
        # Broad and below the lines, so that one that lies on it is still seen.
        figure.add_hline(
            y=target,
            line={"color": palette.border, "width": 7},
            layer="below",
            annotation={"text": f"target {target:g}", "font": {"color": palette.muted}},
            annotation_position="top left",
        )
    figure.update_layout(
        height=_HEIGHT,
        hovermode="closest",
        showlegend=log,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        xaxis={"title": "privacy budget ε (more privacy to the left)", "type": "log"},
        yaxis={
            "title": title,
            "range": [-0.02, 1.05] if bounded else None,
            "type": "log" if log else "linear",
            "rangemode": "tozero",
        },
    )
    if ends and not log:
        # The axis covers a large distance with its band.
        y_range = (-0.02, 1.05) if bounded else (0.0, 1.05 * max(1.0, table["q95"].max()))
        name_ends(figure, ends, y_range=y_range, height=_HEIGHT - _AROUND)
    _ticks(figure, private["epsilon"])
    return figure


def network(means: pd.DataFrame, title: str, highlighted: Collection[str]) -> go.Figure:
    """Chart of each private algorithm's mean skeleton F1 on one network, plotted against ε.

    Labels are at line ends. means: the result of `summarise` for one data set. highlighted: names
    of algorithms. If there are any, all other algorithms are grey and have no label.
    """
    palette = PALETTES[current()]
    figure = go.Figure()
    ends: list[LineEnd] = []
    private = means[means["epsilon"].notna() & means["mean"].notna()]
    parts = {str(key): part for key, part in private.groupby("algorithm", sort=False)}
    # Highlighted lines are drawn last, over the others.
    for algorithm in sorted(parts, key=lambda name: name in highlighted):
        style, part = style_of(algorithm, palette), parts[algorithm].sort_values("epsilon")
        name, dimmed = ALGORITHMS[algorithm].title, highlighted and algorithm not in highlighted
        figure.add_scatter(
            x=part["epsilon"],
            y=part["mean"],
            name=name,
            mode="lines",
            line={
                "color": palette.border if dimmed else style.colour,
                "width": 1 if dimmed else style.width,
                "dash": style.dash,
            },
            hovertemplate=f"<b>{label(name, 40)}</b><br>ε = %{{x:g}}: %{{y:.2f}}<extra></extra>",
        )
        if not dimmed:
            last = part.iloc[-1]
            ends.append(LineEnd(name, last["epsilon"], last["mean"], style.colour))
    figure.update_layout(
        height=_NETWORK_HEIGHT,
        title={"text": label(title, 40)},
        hovermode="closest",
        showlegend=False,
        xaxis={"title": "total ε", "type": "log"},
        yaxis={"title": "skeleton F1"},
    )
    name_ends(figure, ends, y_range=(-0.02, 1.05), height=_NETWORK_HEIGHT - _AROUND)
    figure.update_xaxes(tickvals=[0.1, 1, 10], ticktext=["0.1", "1", "10"], minor={"ticks": ""})
    return figure


def _ticks(figure: go.Figure, values: pd.Series) -> None:
    """Label a readable number of the grid's ε in plain numbers."""
    grid = sorted(set(values))
    step = max(1, -(-len(grid) // 12))
    shown = grid[::step]
    figure.update_xaxes(tickvals=shown, ticktext=[f"{v:g}" for v in shown])


def _number(value: object) -> str:
    """An axis value as text; whole numbers with separators."""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:g}"
    return f"{value:,.0f}" if isinstance(value, float | int) else str(value)


def pair_map(
    table: pd.DataFrame, other: str, other_title: str, title: str, bounded: bool
) -> go.Figure:
    """Heat map of a metric's mean over ε and another parameter; grid values are evenly spaced."""
    wide = table.pivot_table(index=other, columns="epsilon", values="mean", sort=True)
    wide.index = wide.index.map(_number)
    hover = "ε = %{x}, " + other_title + " = %{y}: %{z:.3f}<extra></extra>"
    return _map(wide, title, hover, bounded=bounded, written=True).update_layout(
        height=460, yaxis={"title": other_title, "type": "category"}
    )


def edge_map(table: pd.DataFrame, share: str) -> go.Figure:
    """Heat map of the share of runs that found each true edge, by ε; easiest edges at the top."""
    table = table.assign(
        edge=[
            f"{label(a, 14)} → {label(b, 14)}"
            for a, b in zip(table["cause"], table["effect"], strict=True)
        ]
    )
    wide = table.pivot_table(index="edge", columns="epsilon", values=share)
    wide = wide.loc[wide.mean(axis=1).sort_values().index]
    hover = "%{y} at ε = %{x}: %{z:.2f}<extra></extra>"
    figure = _map(wide, "share of runs", hover, bounded=True, written=wide.size <= 300)
    return figure.update_layout(
        height=max(360, 90 + 22 * len(wide)), yaxis={"type": "category", "dtick": 1}
    )


def _map(wide: pd.DataFrame, title: str, hover: str, *, bounded: bool, written: bool) -> go.Figure:
    """Heat map with a column for each ε; written: whether numbers stand in the cells."""
    palette, values = PALETTES[current()], wide.to_numpy()
    heat = go.Heatmap(
        z=values,
        x=[f"{v:g}" for v in wide.columns],
        y=list(wide.index),
        zmin=0 if bounded else None,
        zmax=1 if bounded else None,
        colorscale=[[0, palette.surface], [1, palette.map_end]],
        textfont={"color": palette.text},
        text=[["" if np.isnan(v) else f"{v:.2f}" for v in row] for row in values],
        texttemplate="%{text}" if written else None,
        colorbar={"title": title},
        hovertemplate=hover,
    )
    return go.Figure(heat, {"xaxis": {"title": "privacy budget ε", "type": "category"}})


@dataclass(frozen=True)
class LineStyle:
    """A line's style: colour as #RRGGBB, dash and symbol as Plotly names, width in pixels."""

    colour: str
    dash: str
    width: float
    symbol: str = "circle"


def group_of(algorithm: Algorithm) -> str:
    """An algorithm's group: "ours", "not private", or its paper, such as "Xu, Yuan & Wu 2017"."""
    if not algorithm.private:
        return NOT_PRIVATE
    paper = re.match(r".*?\d{4}", algorithm.citation)
    return paper.group() if paper else OURS


@cache
def groups() -> Mapping[str, Sequence[str]]:
    """The private algorithms of each group, ours first, then papers in the registry's order."""
    families: dict[str, list[str]] = {OURS: []}
    for algorithm in ALGORITHMS.values():
        if algorithm.private:
            families.setdefault(group_of(algorithm), []).append(algorithm.name)
    return families


def style_of(name: str, palette: Palette, *, published: bool = False) -> LineStyle:
    """An algorithm's line style; thinner for published constants, whose ε is not a guarantee."""
    if not ALGORITHMS[name].private:
        bases = [a.name for a in ALGORITHMS.values() if not a.private]
        return LineStyle(palette.muted, DASHES[1 + bases.index(name) % 2], 1.5)
    group = group_of(ALGORITHMS[name])
    place = list(groups()).index(group)
    own = groups()[group].index(name)
    colour = (palette.series, palette.shades)[own % 2][_COLOURS[place % len(_COLOURS)]]
    dash, symbol = DASHES[own % len(DASHES)], SYMBOLS[own % len(SYMBOLS)]
    width = 1.2 if published else 3.0 if group == OURS else 2.0
    return LineStyle(colour, dash, width, symbol)
