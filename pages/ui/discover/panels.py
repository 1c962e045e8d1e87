"""The panels below the graphs: edges, decisions, export, guarantee, and the spent budget."""

from __future__ import annotations

import streamlit as st

from pages.ui import charts, tables, texts
from pages.ui.discover import charts as run_charts
from privcore.algorithms import ALGORITHMS, Discovery
from privcore.algorithms.gradients.curate_score import proven_schedules, published_schedules
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


def budget_panel(result: Discovery) -> None:
    spent = result.spent
    if spent.unit == "none":
        st.info("PC is not private: it has no guarantee and no budget.")
        return
    if any(step.charge for step in result.trace):
        charts.show(
            run_charts.budget_bar(result),
            key="budget",
            alt="Shares of the budget by order and step",
        )
    st.text(budget_sentence(result))
    if "schedule" in result.parameters:
        schedule_chart(result)


def schedule_chart(result: Discovery) -> None:
    """Chart of the budget per gradient under each schedule."""
    parameters = result.parameters
    if parameters["calibration"] == "proven":
        lines = proven_schedules(parameters["growth"], parameters["gradients"])
        amount, text = (
            "share of the budget",
            ("Each schedule splits the same total over the same number of gradients."),
        )
    else:
        lines = published_schedules(parameters["epsilon"], parameters["first_epsilon"])
        amount, text = (
            "ε of the gradient",
            (
                "Lemma 2 determines the number of gradients on each line from this total and first "
                "budget. If the first budget is below 1, the multiplicative schedule decreases."
            ),
        )
    charts.show(
        run_charts.schedules(lines, parameters["schedule"], amount),
        key="schedules",
        alt="Budget of each gradient under every schedule",
    )
    st.caption(text)


def budget_sentence(result: Discovery) -> str:
    """State the share of the planned budget that was used, or the cost charged after the run."""
    spent = result.spent
    unit = {"rho": " ρ of zCDP", "epsilon": " ε"}.get(spent.unit, "")
    if spent.total:
        noun = spent.noun if spent.rounds != 1 else spent.noun.rstrip("s")
        planned = f" of {spent.planned_rounds:,} planned" if spent.planned_rounds else ""
        promise = (
            "The guarantee is for the whole planned budget, whatever share of it a run uses."
            if result.guarantee.calibration == "proven"
            else "The total is the paper's claim, not a proven guarantee."
        )
        used = (
            f"{100 * spent.used / spent.total:.4g} % of the planned budget"
            if spent.unit == "share"
            else f"{spent.used:.4g} of the planned {spent.total:.4g}{unit}"
        )
        return (
            f"This run used {used} in {spent.rounds:,}{planned} {noun} "
            f"({result.guarantee.accountant}). {promise}"
        )
    added = f": {spent.used:.4g}{unit} in all" if spent.used else ""
    return (
        f"{spent.rounds:,} {spent.noun} were charged after the run{added}; "
        f"{result.guarantee.accountant} gives ε = {result.guarantee.epsilon:.4g} at "
        f"δ = {result.guarantee.delta:g}."
    )
