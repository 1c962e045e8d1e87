"""The panel on budget allocation."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui.discover import charts as run_charts
from pages.ui.learn.parts import CLEAR, HALF, LEGEND, Values, draw
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.allocation import Allocation


def show(result: Allocation, values: Values, key: str) -> None:
    draw(
        order_plans(result).update_layout(margin_r=CLEAR),
        f"{key}-orders",
        "Planned and spent ε per test, by order",
        HALF,
    )
    if result.schedules:
        draw(
            run_charts.schedules(result.schedules, "", "ε per iteration").update_layout(
                margin_r=CLEAR
            ),
            f"{key}-schedules",
            "Budget per iteration under the schedules of Lemma 2",
            HALF,
        )
    else:
        st.info("No iteration fits the budget; lower the ε of the first iteration.")
    st.dataframe(
        pd.DataFrame(
            {
                "order": range(len(result.chosen)),
                "tests paid for": result.planned,
                "tests needed": result.made,
                "ε per test": result.chosen,
                "noise, in Z": result.noise,
                "budget left, %": 100 * result.left,
            }
        ),
        hide_index=True,
        alt="Orders",
        column_config={
            "ε per test": st.column_config.NumberColumn(format="%.4f"),
            "noise, in Z": st.column_config.NumberColumn(format="%.3f"),
            "budget left, %": st.column_config.NumberColumn(format="%.1f"),
        },
    )
    fits = "; ".join(
        f"{name} {lemma:,} by the lemma and {real:,} in practice"
        for name, (lemma, real) in result.counts.items()
    )
    st.caption(
        f"Before the run, the bound of Lemma 1 on errors is {result.bound:.3f}; with the same ε "
        f"for every test, it would be {result.even_bound:.3f}. Number of iterations that fit the "
        f"budget: {fits}."
    )


def order_plans(allocated: Allocation) -> go.Figure:
    """Chart of ε per test by order: as planned before each order, and as spent."""
    palette = PALETTES[current()]
    orders = list(range(len(allocated.chosen)))
    figure = go.Figure()
    for row, plan in enumerate(allocated.plans[:-1]):
        figure.add_scatter(
            x=orders[row:],
            y=plan[row:],
            name=f"planned before order {row}",
            mode="lines+markers",
            line={"color": palette.series[(row + 1) % len(palette.series)], "dash": "dot"},
            hovertemplate="order %{x}: ε = %{y:.3g}<extra>%{fullData.name}</extra>",
        )
    figure.add_scatter(
        x=orders,
        y=allocated.chosen,
        name="spent on a test",
        mode="lines+markers",
        line={"color": palette.series[0], "width": 4},
        hovertemplate="order %{x}: ε = %{y:.3g}<extra>%{fullData.name}</extra>",
    )
    figure.add_scatter(
        x=orders,
        y=[allocated.even] * len(orders),
        name="the same for every test",
        mode="lines",
        line={"color": palette.text, "width": 1.5, "dash": "dash"},
        hovertemplate="ε = %{y:.3g}<extra>%{fullData.name}</extra>",
    )
    figure.update_layout(
        legend={**LEGEND, "font": {"size": 11}},
        xaxis={"title": "order (size of the conditioning set)", "dtick": 1},
        yaxis={"title": "ε of one test", "rangemode": "tozero"},
    )
    return figure
