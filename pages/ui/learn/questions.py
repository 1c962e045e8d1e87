"""The panel on the noise of a whole graph, of one column and of a graph of one's own."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import DASHES, HALF, LEGEND, Values, draw, upright
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.questions import LINKS, QUESTIONS, Asked


def show(result: Asked, values: Values, key: str) -> None:
    draw(
        noise_by_columns(result),
        f"{key}-noise",
        "Noise on a correlation against the number of columns, for three questions",
        HALF,
    )
    draw(
        links(result),
        f"{key}-links",
        "The links of one column that a run of each of three questions finds",
        HALF,
    )
    row = st.container(horizontal=True)
    whole, one, own = map(_least, result.smallest)
    most, noise = result.chosen
    row.metric(
        "Noise, whole graph",
        f"{result.noises[0]:.3g}",
        whole,
        delta_color="off",
        delta_arrow="off",
        help="Standard deviation of the noise on a correlation. Below it is the smallest "
        "correlation that is seen in nine of ten runs.",
    )
    row.metric(
        "Noise, one column",
        f"{result.noises[1]:.3g}",
        one,
        delta_color="off",
        delta_arrow="off",
        help="On the products of one column with every other. Then come all correlations among "
        f"the few that look linked, at most {most} columns with the one itself, with noise "
        f"{noise:.3g} or less.",
    )
    row.metric(
        "Noise, own graph",
        f"{result.noises[2]:.3g}",
        own,
        delta_color="off",
        delta_arrow="off",
        help=f"All correlations among {result.asked[1]} columns.",
    )
    row.metric(
        "ε for the same noise",
        f"{result.epsilon:.3g}",
        help="The ε at which the whole graph has the noise that one column has now.",
    )


def _least(correlation: float | None) -> str:
    return "sees none" if correlation is None else f"sees {correlation:.2g} or more"


def noise_by_columns(result: Asked) -> go.Figure:
    """Chart of the noise on a correlation against the number of columns, one line a question."""
    palette = PALETTES[current()]
    figure = go.Figure()
    columns, own = result.asked
    within = result.columns[result.columns >= own]
    lines = (
        (result.columns, result.whole),
        (result.columns, result.one),
        (within, np.full(len(within), result.noises[2])),
    )
    for number, (name, (sizes, noise)) in enumerate(zip(QUESTIONS, lines, strict=True)):
        figure.add_scatter(
            x=sizes,
            y=noise,
            mode="lines",
            name=name,
            line={"color": palette.series[number], "dash": DASHES[number], "width": 3},
            hovertemplate="%{x} columns: %{y:.3g}<extra>%{fullData.name}</extra>",
        )
    upright(figure, columns, f"{columns} columns", "top left")
    figure.update_layout(
        legend=LEGEND,
        xaxis={"title": "columns of the table"},
        yaxis={"title": "noise", "rangemode": "tozero"},
    )
    return figure


def links(result: Asked) -> go.Figure:
    """Chart of the links of one column that a run of each question finds, a row of points each."""
    palette = PALETTES[current()]
    figure = go.Figure()
    sizes = [f"{size:g}" for size, _ in zip(LINKS, result.found[0], strict=False)]
    names = [
        f"{name}: {sum(map(bool, found))} of {len(found)}" + (f", {wrong} wrong" if wrong else "")
        for name, found, wrong in zip(QUESTIONS, result.found, result.wrong, strict=True)
    ]
    shown = (
        (True, "found", "circle", palette.series[0]),
        (False, "not found", "circle-open", palette.series[0]),
        (None, "not asked about", "x-thin-open", palette.muted),
    )
    for state, name, symbol, colour in shown:
        points = [
            (size, row)
            for row, found in zip(names, result.found, strict=True)
            for size, own in zip(sizes, found, strict=True)
            if own is state
        ]
        figure.add_scatter(
            x=[size for size, _ in points],
            y=[row for _, row in points],
            mode="markers",
            name=name,
            marker={"color": colour, "symbol": symbol, "size": 13, "line": {"width": 2}},
            hovertemplate="correlation %{x}: " + name + "<extra></extra>",
        )
    figure.update_layout(
        legend=LEGEND,
        xaxis={
            "title": "true correlation with the column",
            "type": "category",
            "categoryorder": "array",
            "categoryarray": sizes,
        },
        yaxis={"type": "category", "categoryorder": "array", "categoryarray": names[::-1]},
    )
    return figure
