"""The panel on private selection."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import HALF, LEGEND, Values, draw
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.selection import Selections


def show(result: Selections, values: Values, key: str) -> None:
    draw(probabilities(result), f"{key}-one", "Selection probability of each candidate", HALF)
    draw(
        count_probabilities(result),
        f"{key}-count",
        "Distribution of the number of removed candidates",
        HALF,
    )
    row = st.container(horizontal=True)
    row.metric(
        "Mean utility, exponential",
        f"{result.expected:.3f}",
        help="Mean utility of the selected candidate.",
    )
    row.metric(
        "Mean utility, permute-and-flip",
        f"{result.expected_flip:.3f}",
        help="Never below the mean of the exponential mechanism.",
    )
    row.metric(
        "Largest utility", f"{result.best:g}", help="The utility of selection without privacy."
    )


def probabilities(selections: Selections) -> go.Figure:
    """Chart of the probability that each candidate is selected, under both mechanisms."""
    names = [f"{k + 1}: u = {u:g}" for k, u in enumerate(selections.utilities)]
    return _two_bars(names, selections.exponential, selections.permute_and_flip, "candidate")


def count_probabilities(selections: Selections) -> go.Figure:
    """Chart of the probability that 0, 1, … candidates are removed, under both mechanisms."""
    names = [f"{t}: q = {q:.3g}" for t, q in enumerate(selections.count)]
    return _two_bars(names, selections.count_exponential, selections.count_flip, "number to remove")


def _two_bars(names: list[str], exponential: np.ndarray, flip: np.ndarray, title: str) -> go.Figure:
    palette = PALETTES[current()]
    figure = go.Figure()
    for number, (name, values, shape) in enumerate(
        (("exponential mechanism", exponential, ""), ("permute-and-flip", flip, "/"))
    ):
        figure.add_bar(
            x=names,
            y=values,
            name=name,
            marker={
                "color": palette.series[number],
                "pattern": {
                    "shape": shape,
                    "fillmode": "overlay",
                    "fgcolor": palette.background,
                    "solidity": 0.2,
                },
            },
            hovertemplate="%{x}: %{y:.4f}<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(
        legend=LEGEND,
        barmode="group",
        xaxis={"title": title, "type": "category"},
        yaxis={"title": "probability", "rangemode": "tozero"},
    )
    return figure
