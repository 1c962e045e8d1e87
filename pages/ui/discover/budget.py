"""The share of the planned budget that a run used, split by order and step or by release."""

from __future__ import annotations

import streamlit as st

from pages.ui import charts
from pages.ui.discover import charts as run_charts
from privcore.algorithms import Discovery
from privcore.algorithms.gradients.curate_score import proven_schedules, published_schedules


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
