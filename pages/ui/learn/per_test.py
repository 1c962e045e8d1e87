"""The panel on the budget per test."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import LEGEND, Values, draw, log_axis, upright
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.per_test import PerTestBudget


def show(result: PerTestBudget, values: Values, key: str) -> None:
    draw(
        noise_by_columns(result, values["columns"]),
        f"{key}-noise",
        "Noise of one test against the number of columns",
    )
    row = st.container(horizontal=True)
    row.metric("Tests in the budget", f"{result.tests:,}", help="Fixed before the run.")
    row.metric(
        "ε per test",
        f"{result.epsilon_each:.4g}",
        f"{result.formula_each:.4g} by the formula",
        delta_color="off",
        delta_arrow="off",
        help="Under the accountant that allows the largest ε per test.",
    )
    row.metric(
        "ε per test by basic composition",
        f"{result.basic_each:.4g}",
        help="ε divided by the number of tests.",
    )
    row.metric(
        "Noise on Z",
        f"{result.noise:.3g}",
        help=f"Laplace scale of one test; |Z| is compared with {result.threshold:.3g}.",
    )


def noise_by_columns(budget: PerTestBudget, columns: int) -> go.Figure:
    """Chart of the Laplace scale of one test against the number of columns, with the threshold."""
    palette = PALETTES[current()]
    figure = go.Figure()
    figure.add_scatter(
        x=budget.columns,
        y=budget.all_noise,
        mode="lines+markers",
        name="noise of one test",
        line={"color": palette.series[0], "width": 3},
        customdata=budget.all_tests,
        hovertemplate="%{x} columns, tests: %{customdata:,}, noise: %{y:.3g}<extra></extra>",
    )
    # A trace, because Plotly misplaces the names of horizontal lines on logarithmic axes.
    figure.add_scatter(
        x=budget.columns,
        y=[budget.threshold] * len(budget.columns),
        mode="lines",
        name="threshold on |Z|",
        line={"color": palette.text, "width": 1.5, "dash": "dash"},
        hovertemplate="threshold %{y:.3g}<extra></extra>",
    )
    upright(figure, columns, f"{columns} columns", "top left" if columns > 20 else "top right")
    low, high = min(budget.all_noise.min(), budget.threshold), budget.all_noise.max()
    figure.update_layout(
        height=380,
        legend=LEGEND,
        xaxis={"title": "columns of the data set"},
        yaxis={"title": "noise, in units of Z", **log_axis(low / 1.3, high * 1.3)},
    )
    return figure
