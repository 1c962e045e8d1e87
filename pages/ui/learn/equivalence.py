"""The panel on equivalence classes: a CPDAG and the DAGs of its class, side by side."""

from __future__ import annotations

from math import ceil

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.charts import label
from pages.ui.learn.parts import Values, draw
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.equivalence import EquivalenceClass
from privcore.graphs.pdag import Edge, ordered

SHOWN = 11
_ACROSS = 4
# Distance between neighbouring drawings, whose nodes lie in [−1, 1]², and the ends of edges.
_CELL, _HIGH, _SHORT = 3.0, 3.4, 0.2


def show(result: EquivalenceClass, values: Values, key: str) -> None:
    draw(equivalence(result), f"{key}-class", "CPDAG and the DAGs of its class")
    row = st.container(horizontal=True)
    row.metric(
        "DAGs in the class", f"{result.count}", help="These DAGs imply the same independences."
    )
    row.metric(
        "Undirected edges",
        f"{result.undirected}",
        help="Edges whose direction differs within the class.",
    )
    if result.count > SHOWN:
        st.caption(f"The first {SHOWN} of {result.count} DAGs are drawn.")


def equivalence(members: EquivalenceClass) -> go.Figure:
    """Draw the CPDAG, then up to `SHOWN` DAGs of its class; edges that vary are coloured."""
    palette = PALETTES[current()]
    drawn = [(members.cpdag.directed, members.cpdag.undirected, "CPDAG")]
    drawn += [
        (frozenset(edges), frozenset(), f"DAG {k + 1}{', the true one' * (k == members.truth)}")
        for k, edges in enumerate(members.members[:SHOWN])
    ]
    places = np.array(members.positions)
    lines = ceil(len(drawn) / _ACROSS)
    figure = go.Figure()
    for number, (directed, undirected, title) in enumerate(drawn):
        shift = np.array([_CELL * (number % _ACROSS), _HIGH * (number // _ACROSS)])
        at = places + shift
        for i, j in sorted(undirected):
            (x0, y0), (x1, y1) = _between(at[i], at[j])
            figure.add_scatter(
                x=[x0, x1],
                y=[y0, y1],
                mode="lines",
                hoverinfo="skip",
                line={"color": palette.series[1], "width": 3},
            )
        for i, j in sorted(directed):
            _arrow(figure, at, (i, j), ordered(i, j) in members.cpdag.undirected)
        figure.add_scatter(
            x=at[:, 0],
            y=at[:, 1],
            mode="markers+text",
            hoverinfo="text",
            text=[label(name, 9) for name in members.cpdag.nodes],
            textfont={"size": 12, "color": palette.text},
            marker={
                "size": 26,
                "color": palette.node,
                "line": {"color": palette.node_border, "width": 1},
            },
        )
        figure.add_annotation(
            x=float(shift[0]),
            y=float(shift[1]) - 1.45,
            text=f"<b>{title}</b>",
            showarrow=False,
            font={"color": palette.text, "size": 13},
        )
    across = min(len(drawn), _ACROSS)
    figure.update_layout(
        height=90 + 250 * lines,
        showlegend=False,
        xaxis={"visible": False, "range": [-1.5, _CELL * (across - 1) + 1.5], "fixedrange": True},
        yaxis={"visible": False, "range": [_HIGH * (lines - 1) + 1.4, -1.8], "fixedrange": True},
    )
    return figure


def _between(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The part of a line between two nodes that lies outside their circles."""
    step = (end - start) / max(float(np.hypot(*(end - start))), 1e-9)
    return start + _SHORT * step, end - _SHORT * step


def _arrow(figure: go.Figure, at: np.ndarray, edge: Edge, varies: bool) -> None:
    palette = PALETTES[current()]
    (x0, y0), (x1, y1) = _between(at[edge[0]], at[edge[1]])
    figure.add_annotation(
        x=x1,
        y=y1,
        ax=x0,
        ay=y0,
        xref="x",
        yref="y",
        axref="x",
        ayref="y",
        showarrow=True,
        arrowhead=2,
        arrowsize=1.1,
        arrowwidth=2.2,
        arrowcolor=palette.series[1] if varies else palette.muted,
        text="",
    )
