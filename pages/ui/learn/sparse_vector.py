"""The panel on the sparse vector technique: an animation of its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.frame import go as open_page
from pages.ui.learn.parts import CLEAR, LEGEND, Values, draw, level_line
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.sparse_vector import CORRECT, Stream


def show(result: Stream, values: Values, key: str) -> None:
    draw(
        stream_animation(result),
        f"{key}-stream",
        "Stream of scores with noise, threshold and verdicts, step by step",
    )
    row = st.container(horizontal=True)
    row.metric(
        "Questions answered",
        f"{len(result.above)} of {len(result.scores)}",
        help="The correct mechanism stops at its first answer “above”.",
    )
    row.metric("“above”", f"{int(result.above.sum())}", help="Answers that cost privacy.")
    row.metric("Threshold noise", f"{result.threshold_scale:g}", help="Laplace scale, 2Δ/ε.")
    row.metric("Score noise", f"{result.query_scale:g}", help="Laplace scale, 4Δ/ε.")
    if result.flaw:
        st.error(f"Broken: {result.flaw}.", icon=":material/gpp_bad:")
    catch_on_the_audit_page(values["variant"], broken=values["variant"] != CORRECT)


def catch_on_the_audit_page(name: str, *, broken: bool) -> None:
    """Draw a button that opens the audit of a planted bug, or of the correct mechanism."""
    text = "Catch it on the Audit page" if broken else "Audit the correct one"
    if st.button(text, icon=":material/policy:", key=f"to-audit-{name}"):
        case = name if broken else "sparse-vector"
        open_page("pages/audit.py", {"case": case})


def _stream_traces(stream: Stream, shown: int) -> list[go.Scatter]:
    """The animated traces after `shown` answers: noisy threshold, and noisy scores by verdict."""
    palette = PALETTES[current()]
    numbers = np.arange(1, len(stream.above) + 1)
    seen = numbers <= shown
    threshold = np.where(seen, stream.noisy_thresholds, np.nan)
    # Constant over each question's width.
    traces = [
        go.Scatter(
            x=np.repeat(numbers, 3) + np.tile([-0.5, 0.5, np.nan], len(numbers)),
            y=np.repeat(threshold, 3),
            mode="lines",
            name="noisy threshold",
            line={"color": palette.series[1], "width": 2, "dash": "dash"},
            hovertemplate="noisy threshold %{y:.3g}<extra></extra>",
        )
    ]
    kinds = (("“below”", ~stream.above, "circle", 0), ("“above”", stream.above, "diamond", 2))
    for name, chosen, symbol, number in kinds:
        traces.append(
            go.Scatter(
                x=numbers,
                y=np.where(seen & chosen, stream.noisy_scores, np.nan),
                mode="markers",
                name=f"noisy score, {name}",
                marker={"color": palette.series[number], "size": 11, "symbol": symbol},
                hovertemplate="question %{x}: noisy score %{y:.3g}<extra></extra>",
            )
        )
    return traces


def stream_animation(stream: Stream) -> go.Figure:
    """Animation of the stream of answers, with a play button and a slider."""
    palette = PALETTES[current()]
    answered, queries = len(stream.above), len(stream.scores)
    exact = go.Scatter(
        x=np.arange(1, queries + 1),
        y=stream.scores,
        mode="markers",
        name="exact score",
        marker={"color": palette.muted, "size": 8, "symbol": "line-ew-open", "line_width": 2},
        hovertemplate="question %{x}: exact score %{y:.3g}<extra></extra>",
    )
    figure = go.Figure([exact, *_stream_traces(stream, answered)])
    figure.frames = [
        go.Frame(name=str(k), data=_stream_traces(stream, k), traces=[1, 2, 3])
        for k in range(answered + 1)
    ]
    level_line(figure, stream.threshold, "exact threshold")
    values = np.concatenate([stream.scores, stream.noisy_scores, stream.noisy_thresholds])
    room = 0.12 * float(np.ptp(values)) + 1
    still: Mapping[str, Any] = {
        "mode": "immediate",
        "frame": {"duration": 0, "redraw": False},
        "transition": {"duration": 0},
    }
    moving = {"frame": {"duration": 500, "redraw": False}, "transition": {"duration": 0}}
    figure.update_layout(
        margin={"r": CLEAR},
        legend=LEGEND,
        showlegend=True,
        xaxis={
            "title": "question",
            "range": [0.4, queries + 0.6],
            "fixedrange": True,
            "tick0": 1,
            "dtick": max(1, queries // 20),
        },
        yaxis={
            "title": "score",
            "fixedrange": True,
            "range": [float(values.min()) - room, float(values.max()) + room],
        },
        updatemenus=[
            {
                "type": "buttons",
                "showactive": False,
                "x": 0,
                "xanchor": "left",
                "y": -0.2,
                "yanchor": "top",
                "direction": "left",
                "pad": {"t": 14},
                "bgcolor": palette.surface,
                "bordercolor": palette.border,
                "font": {"color": palette.text},
                "buttons": [
                    {
                        "label": "Play",
                        "method": "animate",
                        "args": [[str(k) for k in range(answered + 1)], moving],
                    },
                    {"label": "Pause", "method": "animate", "args": [[None], still]},
                ],
            }
        ],
        sliders=[
            {
                "active": answered,
                "x": 0.17,
                "len": 0.83,
                "y": -0.2,
                "yanchor": "top",
                "currentvalue": {
                    "prefix": "answers so far: ",
                    "xanchor": "right",
                    "font": {"color": palette.text},
                },
                "font": {"color": palette.muted},
                "bgcolor": palette.border,
                "bordercolor": palette.border,
                "activebgcolor": palette.primary,
                "tickcolor": palette.muted,
                "steps": [
                    {"label": str(k), "method": "animate", "args": [[str(k)], still]}
                    for k in range(answered + 1)
                ],
            }
        ],
    )
    return figure
