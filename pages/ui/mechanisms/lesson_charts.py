"""Plotly figures of the panels that only lessons have."""

from __future__ import annotations

import plotly.graph_objects as go

from pages.ui.mechanisms.charts import LEGEND, level_line, log_axis, upright
from pages.ui.theme import PALETTES, current
from privcore.algorithms import ALGORITHMS
from privcore.teaching.per_test import PerTestBudget
from privcore.teaching.runs import NAIVE, SIEVING, Runs


def noise_by_columns(found: PerTestBudget, columns: int) -> go.Figure:
    """Laplace scale of one test against the number of columns, and the threshold."""
    palette = PALETTES[current()]
    figure = go.Figure()
    figure.add_scatter(
        x=found.columns,
        y=found.all_noise,
        mode="lines+markers",
        name="noise of one test",
        line={"color": palette.series[0], "width": 3},
        customdata=found.all_tests,
        hovertemplate="%{x} columns, %{customdata:,} tests: noise %{y:.3g}<extra></extra>",
    )
    # A trace, since Plotly misplaces the names of level lines on logarithmic axes.
    figure.add_scatter(
        x=found.columns,
        y=[found.threshold] * len(found.columns),
        mode="lines",
        name="threshold on |Z|",
        line={"color": palette.text, "width": 1.5, "dash": "dash"},
        hovertemplate="threshold %{y:.3g}<extra></extra>",
    )
    upright(figure, columns, f"{columns} columns", "top left" if columns > 20 else "top right")
    low, high = min(found.all_noise.min(), found.threshold), found.all_noise.max()
    figure.update_layout(
        height=380,
        legend=LEGEND,
        xaxis={"title": "columns of the data set"},
        yaxis={"title": "noise, in units of Z", **log_axis(low / 1.3, high * 1.3)},
    )
    return figure


def runs(found: Runs) -> go.Figure:
    """F1 of every run and its mean against ε, for both algorithms."""
    palette = PALETTES[current()]
    figure = go.Figure()
    for number, (name, scores, means) in enumerate(
        (
            (NAIVE, found.naive, found.naive_means),
            (SIEVING, found.sieving, found.sieving_means),
        )
    ):
        # Side by side, so that the dots of both can be seen.
        x = found.epsilons * (0.97, 1.03)[number]
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
            customdata=found.epsilons,
            hovertemplate="ε = %{customdata:g}: mean F1 %{y:.3f}<extra>%{fullData.name}</extra>",
        )
    level_line(figure, found.exact, "PC without privacy")
    figure.update_layout(
        height=420,
        legend=LEGEND,
        xaxis={
            "title": "privacy budget ε",
            "type": "log",
            "tickvals": found.epsilons,
            "ticktext": [f"{e:g}" for e in found.epsilons],
        },
        yaxis={"title": "F1 against the true graph", "range": [-0.03, 1.08]},
    )
    return figure
