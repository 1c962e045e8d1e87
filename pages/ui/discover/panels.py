"""The panels below the graphs: edges, decisions, export, guarantee."""

from __future__ import annotations

import streamlit as st

from pages.ui import charts, tables, texts
from pages.ui.controls.data import Loaded
from pages.ui.discover import charts as run_charts
from pages.ui.discover import exports
from pages.ui.pictures.run import RunPictures
from privcore.algorithms import ALGORITHMS, Discovery
from privcore.display.sentences import protected
from privcore.measures import Comparison


def edge_panel(result: Discovery, comparisons: list[Comparison]) -> None:
    st.caption("Select a row to mark the pair in the graphs.")
    st.dataframe(
        tables.edges(result.graph, comparisons, result),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="discover_edges",
        alt="Edges and their classes",
    )


def export_panel(pictures: RunPictures, loaded: Loaded, seed: int) -> None:
    exports.downloads(pictures, loaded)
    exports.code(pictures.result, loaded, seed)


def weight_panel(result: Discovery) -> None:
    """Show the weights behind the graph, and the convergence of the optimiser."""
    if result.weights is None:
        return
    nodes = list(result.graph.nodes)
    left, right = st.columns(2)
    with left:
        charts.show(
            run_charts.weights(result.weights, nodes, result.weight_threshold or 0.0),
            key="weights",
            alt="Weights from every column to every other column",
        )
    with right:
        charts.show(
            run_charts.convergence(result.convergence),
            key="convergence",
            alt="Objective and distance from acyclicity by iteration",
        )
    st.caption(
        "Rows are causes and columns are effects; weights below the threshold are crossed out. "
        + (
            "Both charts use the private run alone. "
            if result.noise != "none"
            else "Computed from the exact data: not private. "
        )
        + "The objective is not drawn if computing it would need a further query to the data."
    )


def decision_panel(result: Discovery) -> None:
    st.caption(
        "Every decision of the search. Scores are exact: this log is not private. "
        + (
            f"The first {tables.LOG_LIMIT:,} of {len(result.trace):,} are shown."
            if len(result.trace) > tables.LOG_LIMIT
            else ""
        )
    )
    number = st.column_config.NumberColumn(format="%.4g")
    st.dataframe(
        tables.decisions(result),
        hide_index=True,
        alt="Decision log",
        height=420,
        column_config={
            name: number for name in (result.unit, "noise scale", "noisy", "threshold", "charge")
        },
    )


def guarantee_panel(result: Discovery) -> None:
    guarantee = result.guarantee
    algorithm = ALGORITHMS[result.algorithm]
    st.markdown(f"**{texts.guarantee_sentence(guarantee, algorithm)}**")
    if guarantee.calibration == "none":
        st.markdown(f"Limit: {texts.plain(guarantee.caveats[0])}.")
    else:
        odds = texts.odds_sentence(guarantee.epsilon, guarantee.delta, whom=protected(guarantee))
        if guarantee.calibration == "published":
            odds = (
                f"If the published figure were right: {odds[0].lower()}{odds[1:]} The figure is "
                "not proven."
            )
        st.markdown(odds)
        st.markdown(
            f"- **Calibration:** {guarantee.calibration}\n"
            f"- **Neighbours:** {texts.plain(guarantee.neighbours)}\n"
            f"- **Accountant:** {guarantee.accountant}\n"
            f"- **Taken as public:** {'; '.join(map(texts.plain, guarantee.public))}\n"
            f"- **Proof:** {guarantee.proof or 'none'}"
        )
        for caveat in guarantee.caveats:
            st.text(f"Limit: {caveat}.")
        st.caption(texts.SIMULATED)
    st.dataframe(
        tables.parameters(algorithm.parameters, dict(result.parameters)),
        hide_index=True,
        alt="Parameters of the run",
    )
    st.caption(f"Source: {algorithm.citation}")
