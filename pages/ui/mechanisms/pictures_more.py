"""Pictures and figures of the other panels, and of those that only lessons have."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.ui.discover import charts as run_charts
from pages.ui.mechanisms import charts_more as more
from pages.ui.mechanisms import dag_charts, lesson_charts
from pages.ui.mechanisms.parts import Values, draw, metric, side_by_side
from privcore.teaching.allocation import Allocation
from privcore.teaching.composition import CompositionCurves
from privcore.teaching.equivalence import EquivalenceClass
from privcore.teaching.p_space import PAgainstZ
from privcore.teaching.per_test import PerTestBudget
from privcore.teaching.runs import NAIVE, SIEVING, Runs
from privcore.teaching.selection import Selections


def show_p_space(result: PAgainstZ, values: Values, key: str) -> None:
    side_by_side(
        lambda: draw(
            more.decisions(result),
            f"{key}-decisions",
            "Probability of being called independent against |Z|",
        ),
        lambda: draw(more.ties(result), f"{key}-ties", "Distribution of Z* with and without ties"),
    )
    draw(more.power(result), f"{key}-power", "Power at the usual and the corrected threshold")
    row = st.container(horizontal=True)
    metric(
        row,
        "Noise in p over noise in Z",
        f"{result.noise_ratio:.3g}",
        "At the same ε, in units of Z where the decision is made.",
    )
    metric(
        row,
        "Spread of Z* with ties",
        f"{result.tied_sd:.3g}",
        "Standard deviation for independent binary columns; 1 without ties.",
    )
    metric(
        row,
        "False alarms with ties",
        f"{result.size:.2g}",
        "How often independent binary columns are called dependent, without noise; α without ties.",
    )


def show_composition(result: CompositionCurves, values: Values, key: str) -> None:
    draw(more.composition(result), f"{key}-curves", "ε of all rounds, by every accountant")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "accountant": c.name,
                    f"ε after {c.counts[-1]:,} rounds": f"{e:.4g}",
                    "": "smallest" if c.name == result.best else "",
                }
                for c, e in zip(result.curves, result.final, strict=True)
            ]
        ),
        hide_index=True,
        alt="ε by accountant",
    )


def show_allocation(result: Allocation, values: Values, key: str) -> None:
    amount = "ε of an iteration"
    side_by_side(
        lambda: draw(
            more.order_plans(result),
            f"{key}-orders",
            "ε of a test of each order, as planned before each",
        ),
        lambda: (
            draw(
                run_charts.schedules(result.schedules, "", amount),
                f"{key}-schedules",
                "Budgets of iterations under the schedules of Lemma 2",
            )
            if result.schedules
            else st.info("Not one iteration fits; lower the first one's ε.")
        ),
    )
    st.dataframe(
        pd.DataFrame(
            {
                "order": range(len(result.chosen)),
                "tests paid for": result.planned,
                "tests needed": result.made,
                "ε of a test": result.chosen,
                "noise, in Z": result.noise,
                "budget left, %": 100 * result.left,
            }
        ),
        hide_index=True,
        alt="Orders",
        column_config={
            "ε of a test": st.column_config.NumberColumn(format="%.4f"),
            "noise, in Z": st.column_config.NumberColumn(format="%.3f"),
            "budget left, %": st.column_config.NumberColumn(format="%.1f"),
        },
    )
    fits = ", ".join(
        f"{name} {lemma:,} by the lemma and {real:,} in fact"
        for name, (lemma, real) in result.counts.items()
    )
    st.caption(
        f"Lemma 1’s bound on errors before the run: {result.bound:.3f}, with the same ε for every "
        f"test {result.even_bound:.3f}. Iterations that fit: {fits}."
    )


def show_selection(result: Selections, values: Values, key: str) -> None:
    side_by_side(
        lambda: draw(
            more.probabilities(result), f"{key}-one", "Probability of each candidate being selected"
        ),
        lambda: draw(
            more.count_probabilities(result), f"{key}-count", "Probability of how many are removed"
        ),
    )
    row = st.container(horizontal=True)
    metric(row, "Mean utility, exponential", f"{result.expected:.3f}", "Of what is selected.")
    metric(
        row,
        "Mean utility, permute-and-flip",
        f"{result.expected_flip:.3f}",
        "Never below that of the exponential mechanism.",
    )
    metric(row, "Largest utility", f"{result.best:g}", "What selection without privacy gives.")


def show_equivalence(result: EquivalenceClass, values: Values, key: str) -> None:
    draw(dag_charts.equivalence(result), f"{key}-class", "CPDAG and the DAGs of its class")
    row = st.container(horizontal=True)
    metric(row, "DAGs in the class", f"{result.count}", "All imply the same independences.")
    metric(
        row, "Undirected edges", f"{result.undirected}", "Whose direction differs within the class."
    )
    if result.count > dag_charts.SHOWN:
        st.caption(f"The first {dag_charts.SHOWN} of {result.count} DAGs are drawn.")


def show_per_test(result: PerTestBudget, values: Values, key: str) -> None:
    draw(
        lesson_charts.noise_by_columns(result, values["columns"]),
        f"{key}-noise",
        "Noise of one test against the number of columns",
    )
    row = st.container(horizontal=True)
    metric(row, "Tests paid for", f"{result.tests:,}", "Fixed before the run.")
    metric(
        row, "ε of a test", f"{result.epsilon_each:.4g}", "Under the accountant that allows most."
    )
    metric(
        row, "ε of a test by addition", f"{result.basic_each:.4g}", "ε over the number of tests."
    )
    metric(
        row,
        "Noise on Z",
        f"{result.noise:.3g}",
        f"Laplace scale of one test; |Z| is compared with {result.threshold:.3g}.",
    )


def show_runs(result: Runs, values: Values, key: str) -> None:
    draw(lesson_charts.runs(result), f"{key}-runs", "F1 of both algorithms against ε")
    st.dataframe(
        pd.DataFrame(
            {
                "ε": [f"{e:g}" for e in result.epsilons],
                f"mean F1, {NAIVE}": result.naive_means,
                f"mean F1, {SIEVING}": result.sieving_means,
            }
        ),
        hide_index=True,
        alt="Mean F1 at each ε",
        column_config={
            f"mean F1, {name}": st.column_config.NumberColumn(format="%.3f")
            for name in (NAIVE, SIEVING)
        },
    )
