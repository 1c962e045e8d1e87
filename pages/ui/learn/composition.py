"""The panel on composition."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import DASHES, Values, draw, log_axis
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.composition import CompositionCurves


def show(result: CompositionCurves, values: Values, key: str) -> None:
    draw(composition(result), f"{key}-curves", "Total ε of all rounds under every accountant")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "accountant": c.name,
                    f"ε after {c.counts[-1]:,} rounds": f"{e:.4g}",
                    "": "smallest" if c.name == result.best else "",
                }
                for c, e in zip(result.curves, result.final, strict=True)
            ]
        ),
        hide_index=True,
        alt="ε by accountant",
    )


def composition(curves: CompositionCurves) -> go.Figure:
    """Chart of total ε against the number of rounds, one line per accountant."""
    palette = PALETTES[current()]
    figure = go.Figure()
    for number, curve in enumerate(curves.curves):
        figure.add_scatter(
            x=curve.counts,
            y=curve.epsilons,
            name=curve.name,
            mode="lines+markers" if len(curve.counts) < 7 else "lines",
            line={
                "color": palette.series[number % len(palette.series)],
                "dash": DASHES[number % len(DASHES)],
                "width": 4 if curve.name == curves.best else 2,
            },
            hovertemplate="after round %{x:,}: ε = %{y:.4g}<extra>%{fullData.name}</extra>",
        )
    most = max(int(curve.counts[-1]) for curve in curves.curves)
    # Zero loss cannot be shown on a logarithmic axis.
    all_epsilons = [e for curve in curves.curves for e in curve.epsilons if e > 0] or [1.0]
    figure.update_layout(
        legend={
            "orientation": "v",
            # All lines rise, so this corner is free.
            "x": 0.98,
            "y": 0.02,
            "xanchor": "right",
            "yanchor": "bottom",
            "bgcolor": palette.background,
        },
        xaxis={"title": "rounds", **log_axis(0.95, 1.05 * most)},
        yaxis={
            "title": "ε of all rounds",
            **log_axis(min(all_epsilons) / 1.2, max(all_epsilons) * 1.2),
        },
    )
    return figure
