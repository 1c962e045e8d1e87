"""The panel on sieve-and-examine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import LEGEND, Values, draw, log_axis
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.sieve import SieveErrors


def show(result: SieveErrors, values: Values, key: str) -> None:
    draw(
        sieve_error_curves(result, values["against"]),
        f"{key}-errors",
        "Type I and type II errors: exact, as printed and simulated",
    )
    if values["against"] == "rate" or values["rate"] < 1:
        st.caption(
            "As in the theorem, the score on the sub-sample is assumed to equal the score on all "
            "rows. In fact the score shrinks too, so small rates look better here than they are: "
            "see the Sub-sampling panel."
        )
    st.markdown("**The actual cost of the published algorithms**, at this ε and rate:")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "where": c.where,
                    "slip": c.slip,
                    "ε charged for a sieve": c.claimed,
                    "actual ε": c.actual,
                    "": "more than charged" if c.actual > c.claimed * (1 + 1e-9) else "covered",
                }
                for c in result.costs
            ]
        ),
        hide_index=True,
        alt="Costs of sieves as published",
        column_config={
            name: st.column_config.NumberColumn(format="%.4f")
            for name in ("ε charged for a sieve", "actual ε")
        },
    )
    st.caption(
        "Other flaws of the published algorithms: they use the sensitivity for all rows on the "
        "sub-sample (Algorithm 1, lines 4 and 6), add needless noise on all rows (Algorithm 2, "
        "line 12), and keep a threshold after a failed examination (lines 12 to 16)."
    )


def sieve_error_curves(errors: SieveErrors, axis: str) -> go.Figure:
    """Chart of error probabilities on a log scale: exact, printed in the paper, and simulated."""
    palette = PALETTES[current()]
    figure = go.Figure()
    kinds = (
        ("type I, kept wrongly", errors.type_one, errors.printed_one, errors.simulated_one),
        ("type II, deleted wrongly", errors.type_two, errors.printed_two, errors.simulated_two),
    )
    for number, (name, exact, printed, simulated) in enumerate(kinds):
        colour = palette.series[number]
        hover = "%{x:.3g}: %{y:.3g}<extra>%{fullData.name}</extra>"
        figure.add_scatter(
            x=errors.x,
            y=exact,
            name=f"{name}: exact",
            mode="lines",
            line={"color": colour, "width": 3},
            hovertemplate=hover,
        )
        if np.isfinite(printed).any():
            figure.add_scatter(
                x=errors.x,
                y=printed,
                name="as printed in Theorem 2",
                mode="lines",
                line={"color": colour, "dash": "dash"},
                hovertemplate=hover,
            )
        figure.add_scatter(
            x=errors.simulated_x,
            y=np.where(simulated > 0, simulated, np.nan),
            mode="markers",
            name=f"{errors.runs:,} runs",
            hovertemplate=hover,
            marker={
                "color": colour,
                "size": 9,
                "symbol": ("circle-open", "diamond-open")[number],
                "line_width": 2,
            },
        )
    figure.update_layout(
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
