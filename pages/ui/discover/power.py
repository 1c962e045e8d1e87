"""The power of moment search at a given ε, computed from public facts before any run."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui import charts
from pages.ui.controls.data import Loaded
from pages.ui.expectation import surrogates
from pages.ui.texts import plain, protection_of
from pages.ui.theme import PALETTES, current
from privcore.algorithms.engine import row_parameters
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import (
    PublicShape,
    Visible,
    changing_sentence,
    visible_effects,
    visible_sentence,
)
from privcore.counts import MixedRows
from privcore.extras.lab.planning.optimality_gap import optimality_gap

_EPSILONS = np.geomspace(0.01, 30, 36)
_NO_NOISE = 1e4
_TABLES = (
    "Each line starts at the smallest ε at which any dependence can be detected; conditional "
    "tests also need contingency tables that fit the budget."
)


def seen_sentence(loaded: Loaded, parameters: dict[str, Any]) -> str:
    """State the smallest dependence that is likely to be detected."""
    values = _checked(parameters)
    shape = PublicShape.of(loaded.source, values.knowledge)
    on_rows = _on_rows(loaded, parameters, values.epsilon)
    return plain(visible_sentence(shape, on_rows, values.epsilon))


def missing_sentence(loaded: Loaded, parameters: dict[str, Any]) -> str:
    """State changes that would make a clear dependence detectable; empty if none is needed."""
    values = _checked(parameters)
    shape = PublicShape.of(loaded.source, values.knowledge)
    return plain(changing_sentence(shape, _on_rows(loaded, parameters, values.epsilon)))


def gap_sentence(loaded: Loaded, parameters: dict[str, Any]) -> str:
    """State whether rows, budget or algorithm limit the detection of a weak edge.

    Empty for mixed data, which have no surrogates. Also empty if several rows are protected
    together, because the bound is known for single rows only.
    """
    plain_case = protection_of(loaded.dataset, parameters).plain
    if isinstance(loaded.source, MixedRows) or not plain_case:
        return ""
    gap = optimality_gap(surrogates(loaded), _checked(parameters))
    return "" if gap is None else f"**{gap.verdict}** {plain(gap.reason)}"


def _checked(parameters: dict[str, Any]) -> MomentSearchParameters:
    return MomentSearchParameters.checked(parameters, "moment-search")


def _on_rows(loaded: Loaded, parameters: dict[str, Any], epsilon: float) -> MomentSearchParameters:
    """Parameters of the row-level run that guarantees ε for the protected unit."""
    whole = {**parameters, "epsilon": epsilon}
    return _checked(row_parameters("moment-search", whole, loaded.source))


def power_panel(loaded: Loaded, parameters: dict[str, Any]) -> None:
    """Plot the smallest dependence that is detected with 90 % probability, against ε."""
    values = _checked(parameters)
    shape = PublicShape.of(loaded.source, values.knowledge)
    st.markdown(seen_sentence(loaded, parameters))
    limit = gap_sentence(loaded, parameters)
    if limit:
        st.markdown(limit)
    effects = [visible_effects(shape, _on_rows(loaded, parameters, float(e))) for e in _EPSILONS]
    without = visible_effects(shape, replace(values, epsilon=_NO_NOISE))
    charts.show(
        _figure(effects, without, values.epsilon, numbers=not shape.levels),
        key="power",
        alt="Smallest dependence detected with 90 % probability, by ε",
    )
    st.caption(
        "Smaller is better. Computed only from the number of rows, the levels or bounds, ε, δ and "
        "the settings; your rows are not used. Only larger dependences are detected if levels are "
        "rare, if values fill only a small part of the range between their bounds, or if columns "
        "depend on many others. " + (_TABLES if shape.levels else "")
    )


def _figure(
    effects: list[Visible], without: Visible, epsilon: float, *, numbers: bool
) -> go.Figure:
    palette = PALETTES[current()]
    named = (
        ("two columns", "alone"),
        ("given one other column", "given_one"),
        ("given two other columns", "given_two"),
    )
    figure = go.Figure()
    for k, (name, field) in enumerate(named[:1] if numbers else named):
        sizes = [getattr(visible, field) for visible in effects]
        if any(size is not None for size in sizes):
            figure.add_scatter(
                x=_EPSILONS,
                y=sizes,
                name=name,
                mode="lines",
                line={"color": palette.series[k], "dash": ("solid", "dash", "dot")[k]},
                hovertemplate="ε = %{x:.3g}: %{y:.2g}<extra>%{fullData.name}</extra>",
            )
    if without.alone is not None:
        figure.add_scatter(
            x=_EPSILONS[[0, -1]],
            y=[without.alone] * 2,
            name="two columns, without noise",
            mode="lines",
            line={"color": palette.muted, "width": 1, "dash": "dashdot"},
            hoverinfo="skip",
        )
    figure.add_vline(x=epsilon, line={"color": palette.text, "width": 1})
    figure.add_annotation(
        # On a logarithmic axis, annotations are placed by the logarithm.
        x=math.log10(epsilon),
        y=1,
        yref="paper",
        text=f"ε = {epsilon:g}",
        showarrow=False,
        xanchor="left",
        yanchor="top",
        font_color=palette.text,
    )
    figure.update_xaxes(type="log", dtick="D2", title="privacy budget ε", fixedrange=True)
    figure.update_yaxes(
        type="log",
        fixedrange=True,
        dtick="D2",
        title="smallest correlation detected" if numbers else "smallest Cramér's V detected",
    )
    figure.update_layout(height=340, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    return figure
