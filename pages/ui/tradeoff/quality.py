"""Quality against ε: the best algorithm, the curves, and the ε for a wanted quality."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.ui import charts
from pages.ui.texts import plain
from pages.ui.tradeoff import charts as tradeoff_charts
from pages.ui.tradeoff.controls import View, open_in_discover
from pages.ui.tradeoff.sweeping import BackgroundSweep, live
from privcore.algorithms import ALGORITHMS
from privcore.extras.lab.sweeps.sweep import (
    Row,
    SweepPlan,
    best_alike,
    frontier,
    smallest_epsilon,
    summarise,
)
from privcore.text import counted

# Runs of each algorithm at one ε that are needed to name the best one so far.
ENOUGH = 5


def quality_view(sweep: BackgroundSweep, view: View) -> None:
    """Plot one measure of every algorithm against ε; a click on a point opens a run in Discover."""
    # The answer and its chart come first, above the controls that refine them.
    place = st.container()
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        only_frontier = st.toggle(
            "Best at each ε only",
            key="sweep_frontier",
            bind="query-params",
            help="At each ε, show only algorithms that no other algorithm beats.",
        )
    with right:
        target = st.slider(
            "Target quality",
            0.0,
            1.0,
            0.8,
            0.05,
            key="sweep_target",
            bind="query-params",
            disabled=not view.bounded,
            help="The table gives the smallest ε from which the mean stays at or above this value.",
        )

    def draw(rows: list[Row]) -> None:
        table = summarise(rows, view.metric)
        headline(sweep, table, view)
        shown = table
        if only_frontier:
            best = frontier(rows, metrics=(view.metric,))
            keys = set(zip(best["algorithm"], best["calibration"], best["epsilon"], strict=True))
            here = zip(table["algorithm"], table["calibration"], table["epsilon"], strict=True)
            shown = table[[c == "none" or (a, c, e) in keys for a, c, e in here]]
        figure = tradeoff_charts.quality(
            shown, view.title, bounded=view.bounded, target=target if view.bounded else None
        )
        clicked = charts.show(
            figure, key="tradeoff-quality", alt=f"{view.title} against ε", selectable=True
        )
        pending = "" if sweep.complete else " once all runs are done"
        made = (
            ("These runs are precomputed, with default settings. ")
            if sweep.shipped == sweep.plan.size
            else ""
        )
        st.caption(
            f"Each point is the mean of {counted(sweep.plan.seeds, 'run')}{pending}; the band is "
            f"the 5th–95th percentile. {made}The band shows the variation due to the mechanism's "
            "noise on these data, not sampling variation. Computed from the exact data and "
            "simulated noise: not private. Click a point to open one of its runs in Discover."
        )
        follow(sweep, clicked)

    with place:
        live(sweep, "quality", draw)
    if view.bounded and sweep.complete:
        needed(sweep.look(), view, target)


def headline(sweep: BackgroundSweep, table: pd.DataFrame, view: View) -> None:
    """Show a sentence that names the best algorithm at the ε nearest to 1.

    Algorithms within two standard errors of the best are named too. Until all algorithms have
    enough runs at this ε, the sentence names no algorithm.
    """
    epsilon = min(sweep.plan.grids["epsilon"], key=lambda e: abs(e - 1))
    proven = table[(table["calibration"] == "proven") & (table["epsilon"] == epsilon)]
    if not ready(sweep.plan, proven):
        if "proven" in sweep.plan.calibrations:
            st.markdown(
                f"The best algorithm at ε = {epsilon:g} is named once every algorithm has enough "
                "runs at this ε."
            )
        return
    # Larger is better for F1, smaller for the distance.
    here = best_alike(proven, lower=not view.bounded)
    if here.empty:
        return
    base = table[table["calibration"] == "none"]
    aside = "; ".join(
        f"{ALGORITHMS[row['algorithm']].title} reaches {row['mean']:.2f}"
        for _, row in base.iterrows()
    )
    titles = " and ".join(f"**{plain(ALGORITHMS[name].title)}**" for name in here["algorithm"])
    mean = here["mean"].iloc[0]
    verb = "does best" if len(here) == 1 else "are too close to call and do best"
    done, total = len(sweep.rows), sweep.plan.size
    so_far = "" if sweep.complete else f"So far ({done:,} of {counted(total, 'run')}): "
    st.markdown(
        f"{so_far}At ε = {epsilon:g}, {titles} {verb} of these algorithms: {view.title} "
        f"{mean:.2f} on average{'; ' + aside if aside else ''}."
    )


def ready(plan: SweepPlan, proven: pd.DataFrame) -> bool:
    """Whether every algorithm has enough runs at one ε to name the best.

    proven: the result of `summarise` for the proven runs at this ε. Refused runs count as runs.
    """
    runs = proven.set_index("algorithm")[["runs", "refused"]].sum(axis=1)
    wanted = [name for name in plan.algorithms if "proven" in ALGORITHMS[name].calibrations]
    return all(runs.get(name, 0) >= min(plan.seeds, ENOUGH) for name in wanted)


def follow(sweep: BackgroundSweep, clicked: list[dict[str, object]]) -> None:
    """Open the first run of a clicked point on the Discover page."""
    for point in clicked:
        held = point.get("customdata")
        if not isinstance(held, list):
            continue
        for row in sweep.look():
            same = (row["algorithm"], row["calibration"]) == (held[0], held[1])
            if same and row["epsilon"] == point["x"] and row["replicate"] == 0:
                choice = sweep.plan.cells[row["cell"]].setting.choice
                st.session_state.pop("tradeoff-quality", None)
                open_in_discover(choice.parameters, choice.algorithm, row["seed"])


def needed(rows: list[Row], view: View, target: float) -> None:
    """Show a table of the smallest ε at which each algorithm reaches a quality."""
    table = smallest_epsilon(rows, view.metric, target)
    table = table[table["calibration"] != "none"]
    shown = pd.DataFrame(
        {
            "algorithm": [ALGORITHMS[name].title for name in table["algorithm"]],
            "calibration": table["calibration"],
            f"smallest ε at which {view.title} reaches {target:g}": [
                "not reached" if pd.isna(e) else f"≤ {e:g}" if low else f"{e:g}"
                for e, low in zip(table["epsilon"], table["lowest"], strict=True)
            ],
        }
    )
    st.dataframe(shown, hide_index=True, alt="Smallest ε that reaches the target quality")
