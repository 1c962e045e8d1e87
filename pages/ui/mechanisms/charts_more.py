"""Plotly figures of the other panels: bounds, p-values, composition, allocation, selection."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from pages.ui.mechanisms.charts import LEGEND, log_axis, upright
from pages.ui.theme import PALETTES, current
from privcore.teaching.allocation import Allocation
from privcore.teaching.composition import CompositionCurves
from privcore.teaching.p_space import PAgainstZ
from privcore.teaching.selection import Selections
from privcore.teaching.sensitivity import Moves

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "dot", "dash")
_HOVER = "%{x:.3g}: %{y:.3g}<extra>%{fullData.name}</extra>"


def moves(found: Moves) -> go.Figure:
    """How far each score with a bound moved, beside its bounds; red where one is exceeded."""
    palette = PALETTES[current()]
    kept = [s for s in found.scores if s.proven is not None or s.published is not None][::-1]
    names = [s.name for s in kept]
    broken = [s.broken for s in kept]
    # Spearman's published constants lie far to the right of everything else.
    reach = 1.15 * max([s.proven or 0 for s in kept] + [s.move for s in kept])
    figure = go.Figure()
    figure.add_bar(
        x=[s.move for s in kept],
        y=names,
        orientation="h",
        name="moved by",
        marker_color=[palette.series[1] if b else palette.series[0] for b in broken],
        hovertemplate="%{y} moved by %{x:.3f}<extra></extra>",
        width=0.55,
    )
    for name, values, symbol, colour in (
        ("proven bound", [s.proven for s in kept], "line-ns-open", palette.series[2]),
        ("published constant", [s.published for s in kept], "x-thin-open", palette.text),
    ):
        figure.add_scatter(
            x=[v if v is not None and v <= reach else None for v in values],
            y=names,
            mode="markers",
            name=name,
            marker={
                "symbol": symbol,
                "size": 18 if symbol.startswith("line") else 11,
                "color": colour,
                "line": {"width": 3, "color": colour},
            },
            hovertemplate=f"%{{y}}: {name} %{{x:.3f}}<extra></extra>",
        )
    figure.update_layout(
        height=380,
        legend=LEGEND,
        showlegend=True,
        xaxis={"title": "change when the record moves", "range": [0, reach]},
        yaxis={"type": "category"},
    )
    return figure


def decisions(found: PAgainstZ) -> go.Figure:
    """How likely a pair is called independent, with noise on Z or on p."""
    palette = PALETTES[current()]
    figure = go.Figure()
    for number, (name, values) in enumerate(
        (("noise on |Z|", found.in_z), ("noise on p", found.in_p))
    ):
        figure.add_scatter(
            x=found.z,
            y=values,
            name=name,
            mode="lines",
            hovertemplate=_HOVER,
            line={"color": palette.series[number], "width": 3, "dash": _DASHES[number]},
        )
    figure.add_scatter(
        x=found.z,
        y=found.p,
        name="p-value",
        mode="lines",
        hovertemplate=_HOVER,
        line={"color": palette.series[4], "dash": "dot"},
    )
    upright(figure, found.threshold, "threshold")
    figure.update_layout(
        height=360,
        legend=LEGEND,
        xaxis={"title": "exact |Z|"},
        yaxis={"title": "P(called independent)", "range": [-0.03, 1.08]},
    )
    return figure


def ties(found: PAgainstZ) -> go.Figure:
    """Z* of independent columns with and without ties, and where the thresholds lie."""
    palette = PALETTES[current()]
    figure = go.Figure()
    lines = (("no ties", found.untied_density), ("binary columns", found.tied_density))
    for number, (name, values) in enumerate(lines):
        figure.add_scatter(
            x=found.signed,
            y=values,
            name=name,
            mode="lines",
            hovertemplate=_HOVER,
            line={"color": palette.series[number], "width": 3, "dash": _DASHES[number]},
        )
    upright(figure, found.threshold, "threshold")
    upright(figure, -found.corrected, "corrected, either side", "top left")
    upright(figure, found.corrected, "", "top right")
    figure.update_layout(
        height=360,
        legend=LEGEND,
        xaxis={"title": "Z* of independent columns", "range": [-5, 5]},
        yaxis={"title": "density", "rangemode": "tozero"},
    )
    return figure


def power(found: PAgainstZ) -> go.Figure:
    """How often dependence of binary columns is seen, at either threshold."""
    palette = PALETTES[current()]
    figure = go.Figure()
    lines = (("usual threshold", found.power), ("corrected for ties", found.corrected_power))
    for number, (name, values) in enumerate(lines):
        figure.add_scatter(
            x=found.effects,
            y=values,
            name=name,
            mode="lines",
            hovertemplate=_HOVER,
            line={"color": palette.series[(1, 2)[number]], "width": 3, "dash": _DASHES[number]},
        )
    figure.update_layout(
        height=320,
        legend=LEGEND,
        xaxis={"title": "strength of the dependence, φ"},
        yaxis={"title": "P(called dependent), no noise", "range": [-0.03, 1.05]},
    )
    return figure


def composition(found: CompositionCurves) -> go.Figure:
    """ε of the whole against the number of rounds, one line an accountant."""
    palette = PALETTES[current()]
    figure = go.Figure()
    for number, curve in enumerate(found.curves):
        figure.add_scatter(
            x=curve.counts,
            y=curve.epsilons,
            name=curve.name,
            mode="lines+markers" if len(curve.counts) < 7 else "lines",
            line={
                "color": palette.series[number % len(palette.series)],
                "dash": _DASHES[number % len(_DASHES)],
                "width": 4 if curve.name == found.best else 2,
            },
            hovertemplate="%{x:,} rounds: ε = %{y:.4g}<extra>%{fullData.name}</extra>",
        )
    most = max(int(curve.counts[-1]) for curve in found.curves)
    # No loss shows as 0, which a logarithmic axis has no place for.
    all_epsilons = [e for curve in found.curves for e in curve.epsilons if e > 0] or [1.0]
    figure.update_layout(
        height=480,
        legend={
            "orientation": "v",
            "x": 0.02,
            "y": 0.98,
            "xanchor": "left",
            "yanchor": "top",
            "bgcolor": palette.background,
        },
        xaxis={"title": "rounds", **log_axis(0.95, 1.05 * most)},
        yaxis={
            "title": "ε of all rounds",
            **log_axis(min(all_epsilons) / 1.2, max(all_epsilons) * 1.2),
        },
    )
    return figure


def order_plans(found: Allocation) -> go.Figure:
    """ε of a test of each order, as planned before each of them."""
    palette = PALETTES[current()]
    orders = list(range(len(found.chosen)))
    figure = go.Figure()
    for row, plan in enumerate(found.plans[:-1]):
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
        y=found.chosen,
        name="spent on a test",
        mode="lines+markers",
        line={"color": palette.series[0], "width": 4},
        hovertemplate="order %{x}: ε = %{y:.3g}<extra>%{fullData.name}</extra>",
    )
    figure.add_scatter(
        x=orders,
        y=[found.even] * len(orders),
        name="the same for every test",
        mode="lines",
        line={"color": palette.text, "width": 1.5, "dash": "dash"},
        hovertemplate="ε = %{y:.3g}<extra>%{fullData.name}</extra>",
    )
    figure.update_layout(
        height=380,
        legend={**LEGEND, "font": {"size": 11}},
        xaxis={"title": "order (size of the conditioning set)", "dtick": 1},
        yaxis={"title": "ε of one test", "rangemode": "tozero"},
    )
    return figure


def probabilities(found: Selections) -> go.Figure:
    """The probability that each candidate is selected, under both mechanisms."""
    names = [f"{k + 1}: u = {u:g}" for k, u in enumerate(found.utilities)]
    return _two_bars(names, found.exponential, found.permute_and_flip, "candidate")


def count_probabilities(found: Selections) -> go.Figure:
    """The probability of removing 0, 1, … of the candidates."""
    names = [f"{t}: q = {q:.3g}" for t, q in enumerate(found.count)]
    return _two_bars(names, found.count_exponential, found.count_flip, "how many to remove")


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
        height=360,
        legend=LEGEND,
        barmode="group",
        xaxis={"title": title, "type": "category"},
        yaxis={"title": "probability", "rangemode": "tozero"},
    )
    return figure
