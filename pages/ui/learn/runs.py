"""The panel on complete runs."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import LEGEND, Values, draw, level_line
from pages.ui.theme import PALETTES, current
from privcore.algorithms import ALGORITHMS
from privcore.extras.teaching.runs import NAIVE, SIEVING, Runs


def show(result: Runs, values: Values, key: str) -> None:
    draw(runs(result), f"{key}-runs", "F1 of both algorithms against ε")
    st.dataframe(
        pd.DataFrame(
            {
                "ε": [f"{e:g}" for e in result.epsilons],
                f"mean F1, {NAIVE}": result.naive_means,
                f"mean F1, {SIEVING}": result.sieving_means,
            }
        ),
        hide_index=True,
        alt="Mean F1 at each ε",
        column_config={
            f"mean F1, {name}": st.column_config.NumberColumn(format="%.3f")
            for name in (NAIVE, SIEVING)
        },
    )


def runs(made: Runs) -> go.Figure:
    """Chart of F1 against ε for both algorithms: every run, and the mean at each ε."""
    palette = PALETTES[current()]
    figure = go.Figure()
    for number, (name, scores, means) in enumerate(
        ((NAIVE, made.naive, made.naive_means), (SIEVING, made.sieving, made.sieving_means))
    ):
        # Offset, so that the dots of both are visible.
        x = made.epsilons * (0.97, 1.03)[number]
        colour = palette.series[(1, 0)[number]]
        figure.add_scatter(
            x=x.repeat(scores.shape[1]),
            y=scores.ravel(),
            mode="markers",
            showlegend=False,
            marker={"color": colour, "size": 6, "opacity": 0.35},
            hoverinfo="skip",
        )
        figure.add_scatter(
            x=x,
            y=means,
            mode="lines+markers",
            name=f"{ALGORITHMS[name].title}, mean",
            line={"color": colour, "width": 3, "dash": ("dash", "solid")[number]},
            customdata=made.epsilons,
            hovertemplate="ε = %{customdata:g}: mean F1 %{y:.3f}<extra>%{fullData.name}</extra>",
        )
    level_line(figure, made.exact, "PC without privacy")
    figure.update_layout(
        legend=LEGEND,
        xaxis={
            "title": "privacy budget ε",
            "type": "log",
            "tickvals": made.epsilons,
            "ticktext": [f"{e:g}" for e in made.epsilons],
        },
        yaxis={"title": "F1 against the true graph", "range": [-0.03, 1.08]},
    )
    return figure
