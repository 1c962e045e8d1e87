"""Trade-off: what does privacy cost, for every algorithm at every ε?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.ui import charts, tradeoff_charts
from pages.ui.data import UPLOAD, Loaded, current_data
from pages.ui.eight_networks import eight_networks_view
from pages.ui.frame import require_frame
from pages.ui.sweeping import BackgroundSweep, sweep_of
from pages.ui.texts import plain
from pages.ui.tradeoff_controls import (
    View,
    choose_map,
    choose_plan,
    choose_view,
    open_in_discover,
)
from privcore.discovery import ALGORITHMS
from privcore.errors import PrivcoreError
from privcore.evaluation.sweep import (
    Row,
    SweepPlan,
    edge_recovery,
    encode,
    frontier,
    smallest_epsilon,
    summarise,
)

require_frame("pages/tradeoff.py")
# A plan of at most so many runs begins by itself.
AT_ONCE = 1_500
POLL_SECONDS = 0.7


def statistic(title: str, text: str) -> Any:
    """A column of the table of one measure."""
    return st.column_config.NumberColumn(title, help=text, format="%.3f")


# Of the table, in order.
COLUMNS = {
    "algorithm": st.column_config.TextColumn("algorithm"),
    "calibration": st.column_config.TextColumn(
        "calibration",
        help="Proven: with a guarantee. Published: the paper's own noise. None: not private.",
    ),
    "epsilon": st.column_config.NumberColumn("ε", help="Privacy budget of the run.", format="%g"),
    "runs": st.column_config.NumberColumn("runs", help="That have this measure."),
    "refused": st.column_config.NumberColumn(
        "refused", help="Runs that the settings or the data do not allow."
    ),
    "mean": statistic("mean", "Of the measure chosen above, over the runs."),
    "sd": statistic("std. deviation", "Standard deviation over the runs, with n − 1."),
    "q05": statistic("5 % below", "5th percentile: one run in twenty is lower."),
    "median": statistic("median", "Half of the runs are lower."),
    "q95": statistic("95 % below", "95th percentile: one run in twenty is higher."),
}


def progress(sweep: BackgroundSweep, key: str) -> None:
    """How far a sweep is, and what can be done about it."""
    done, total = len(sweep.rows), sweep.plan.size
    if sweep.error:
        st.error(sweep.error, icon=":material/error:")
    if sweep.complete:
        return
    left, right = st.columns([5, 1], vertical_alignment="center")
    if sweep.running:
        left.progress(done / total, f"{done:,} of {total:,} runs {sweep.left()}")
        right.button("Cancel", on_click=sweep.cancel, key=f"cancel-{key}", width="stretch")
        return
    left.progress(done / total, f"{done:,} of {total:,} runs")
    right.button(
        "Resume" if done else "Run",
        on_click=sweep.start,
        key=f"start-{key}",
        type="primary",
        width="stretch",
    )


def live(sweep: BackgroundSweep, key: str, draw: Callable[[list[Row]], None]) -> None:
    """Draw a sweep now, and again while rows come in."""
    if sweep.plan.size <= AT_ONCE and not sweep.stopped and not sweep.error:
        sweep.start()
    was_running = sweep.running

    @st.fragment(run_every=POLL_SECONDS if was_running else None)
    def part() -> None:
        progress(sweep, key)
        rows = sweep.look()
        if rows:
            draw(rows)
        if was_running != sweep.running:
            # Begin to ask for more rows, or, once the last ones are drawn, stop asking.
            st.rerun()

    part()


def line_names(plan: SweepPlan) -> list[str]:
    """Every line that the plan can have, in a fixed order, so that colours stay."""
    return [
        tradeoff_charts.series_name(name, calibration)
        for calibration in plan.calibrations
        for name in plan.algorithms
        if ALGORITHMS[name].private
    ]


def headline(table: pd.DataFrame, view: View, so_far: str) -> None:
    """Which algorithm to take at the ε nearest to 1, in one sentence.

    Those whose means lie within two standard errors of the best are named with it.
    """
    proven = table[(table["calibration"] == "proven") & table["mean"].notna()]
    if proven.empty:
        return
    near = min(set(proven["epsilon"]), key=lambda e: abs(e - 1))
    # A large F1 is good, a large distance is not.
    here = proven[proven["epsilon"] == near].sort_values("mean", ascending=not view.bounded)
    best = here.iloc[0]
    base = table[table["calibration"] == "none"]
    aside = "; ".join(
        f"without privacy, {ALGORITHMS[row['algorithm']].title} reaches {row['mean']:.2f}"
        for _, row in base.iterrows()
    )
    spread = 2 * np.hypot(here["se"].fillna(0), best["se"] if best["se"] == best["se"] else 0)
    alike = here[(here["mean"] - best["mean"]).abs() <= spread]["algorithm"]
    titles = " and ".join(f"**{plain(ALGORITHMS[name].title)}**" for name in alike)
    verb = "does best" if len(alike) == 1 else "do best, too close to call,"
    st.markdown(
        f"{so_far}At ε = {near:g}, {titles} {verb} of these: {view.title} {best['mean']:.2f} on "
        f"average{'; ' + aside if aside else ''}."
    )


def quality_view(sweep: BackgroundSweep, view: View) -> None:
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        only_frontier = st.toggle(
            "Frontier only", key="sweep_frontier", bind="query-params",
            help="At each ε, only algorithms that no other one beats.",
        )  # fmt: skip
    with right:
        target = st.slider(
            "Wanted quality", 0.0, 1.0, 0.8, 0.05, key="sweep_target", bind="query-params",
            disabled=not view.bounded,
            help="The table names the smallest ε on the axis whose mean reaches this, and so do "
            "those of all larger ones.",
        )  # fmt: skip

    def draw(rows: list[Row]) -> None:
        table = summarise(rows, view.metric)
        done, total = len(sweep.rows), sweep.plan.size
        so_far = "" if sweep.complete else f"So far ({done:,} of {total:,} runs): "
        headline(table, view, so_far)
        shown = table
        if only_frontier:
            best = frontier(rows, metrics=(view.metric,))
            keys = set(zip(best["algorithm"], best["calibration"], best["epsilon"], strict=True))
            here = zip(table["algorithm"], table["calibration"], table["epsilon"], strict=True)
            shown = table[[c == "none" or (a, c, e) in keys for a, c, e in here]]
        figure = tradeoff_charts.quality(
            shown,
            view.title,
            order=line_names(sweep.plan),
            bounded=view.bounded,
            target=target if view.bounded else None,
        )
        clicked = charts.show(
            figure, key="tradeoff-quality", alt=f"{view.title} against ε", selectable=True
        )
        st.caption(
            f"Mean of {sweep.plan.seeds} runs each once all are done; the band holds the middle "
            "nine tenths of them. It is the spread of the mechanism's own noise on these data, not "
            "of the data. Computed from the exact data and simulated noise: not private. "
            "Click a point to open one of its runs in Discover."
        )
        follow(sweep, clicked)
        if view.bounded and sweep.complete:
            needed(rows, view, target)

    live(sweep, "quality", draw)


def follow(sweep: BackgroundSweep, clicked: list[dict[str, object]]) -> None:
    """Open the first run of a point that was clicked."""
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
    """The smallest ε that reaches a quality, for each algorithm."""
    table = smallest_epsilon(rows, view.metric, target)
    table = table[table["calibration"] != "none"]
    shown = pd.DataFrame(
        {
            "algorithm": [ALGORITHMS[name].title for name in table["algorithm"]],
            "calibration": table["calibration"],
            f"smallest ε for {view.title} ≥ {target:g}": [
                "not reached" if pd.isna(e) else f"≤ {e:g}" if low else f"{e:g}"
                for e, low in zip(table["epsilon"], table["lowest"], strict=True)
            ],
        }
    )
    st.dataframe(shown, hide_index=True, alt="Smallest ε that reaches the wanted quality")


def map_view(loaded: Loaded, plan: SweepPlan, view: View) -> None:
    made, other, title = choose_map(loaded, plan)
    sweep = sweep_of(made)

    def draw(rows: list[Row]) -> None:
        table = summarise(rows, view.metric)
        table = table[table["epsilon"].notna()]
        charts.show(
            tradeoff_charts.pair_map(table, other, title, view.title, view.bounded),
            key="tradeoff-map",
            alt=f"{view.title} over ε and {title}",
        )
        st.caption(
            f"Mean of {made.seeds} runs in each cell; the other parameters are at their defaults. "
            "Computed from the exact data: not private."
        )

    live(sweep, "map", draw)


def edges_view(loaded: Loaded, sweep: BackgroundSweep) -> None:
    truth = loaded.dataset.true_edges
    if not truth:
        st.info("The true graph of these data is not known, so no edge can be called found.")
        return
    left, right = st.columns(2)
    with left:
        names = [n for n in sweep.plan.algorithms if ALGORITHMS[n].private]
        name = st.selectbox(
            "Algorithm", names, key=f"edges_{'-'.join(names)}",
            format_func=lambda n: ALGORITHMS[n].title,
        )  # fmt: skip
    with right:
        share = st.segmented_control(
            "Found", ["adjacent", "directed"], default="adjacent", required=True,
            key="sweep_found", bind="query-params",
            help="Adjacent: the pair is joined at all. Directed: with the right arrow.",
        )  # fmt: skip

    def draw(rows: list[Row]) -> None:
        mine = [r for r in rows if r["algorithm"] == name and r["calibration"] == "proven"]
        if not mine:
            return
        charts.show(
            tradeoff_charts.edge_map(edge_recovery(mine, truth), share),
            key="tradeoff-edges",
            alt=f"Share of runs in which {name} found each true edge, by ε",
        )
        st.caption(
            "Edges of the true graph; the easiest to find stand on top. Computed from the exact "
            "data: not private."
        )

    live(sweep, "edges", draw)


def effort_view(sweep: BackgroundSweep) -> None:
    def draw(rows: list[Row]) -> None:
        for column, metric, title in zip(
            st.columns(2), ("tests_run", "seconds"), ("tests", "seconds of engine time"),
            strict=True,
        ):  # fmt: skip
            with column:
                figure = tradeoff_charts.quality(
                    summarise(rows, metric), title, order=line_names(sweep.plan), bounded=False,
                    log=True,
                )  # fmt: skip
                charts.show(figure, key=f"tradeoff-{metric}", alt=f"{title} against ε")
        st.caption(
            "Times are this machine's while several runs share it; they depend on the data and are "
            "not private."
        )

    live(sweep, "effort", draw)


def table_view(sweep: BackgroundSweep, view: View) -> None:
    def draw(rows: list[Row]) -> None:
        table = summarise(rows, view.metric)
        shown = table[list(COLUMNS)].assign(
            algorithm=[ALGORITHMS[name].title for name in table["algorithm"]]
        )
        st.dataframe(
            shown, hide_index=True, alt=f"{view.title} by algorithm and ε", column_config=COLUMNS
        )
        for sentence in sorted({r["error"] for r in rows if r["error"]}):
            st.caption(f"Refused: {sentence}")
        with st.container(horizontal=True):
            for ending, mime in (
                ("csv", "text/csv"),
                ("json", "application/json"),
                ("parquet", "application/vnd.apache.parquet"),
            ):
                st.download_button(
                    ending.upper() if ending != "parquet" else "Parquet",
                    lambda ending=ending: encode(sweep.look(), sweep.plan, ending),
                    f"sweep.{ending}",
                    mime,
                    on_click="ignore",
                    key=f"sweep-{ending}",
                )
        st.caption("One row for each run, with its seed. Not private: metrics use the exact data.")

    live(sweep, "table", draw)


def results(loaded: Loaded) -> None:
    with st.sidebar:
        st.divider()
        plan = choose_plan(loaded)
    if plan is None:
        st.info("Choose at least one algorithm on the left.")
        return
    views = [
        "Quality", "Eight networks", "Two parameters", "Edges", "Tests and time", "Table & download"
    ]  # fmt: skip
    chosen = st.segmented_control(
        "View", views, default=views[0], required=True, key="sweep_view", bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    if chosen == "Eight networks":
        eight_networks_view()
        return
    has_truth = loaded.dataset.true_edges is not None
    if chosen == "Two parameters":
        map_view(loaded, plan, choose_view(has_truth))
        return
    sweep = sweep_of(plan)
    if chosen == "Quality":
        quality_view(sweep, choose_view(has_truth))
    elif chosen == "Edges":
        edges_view(loaded, sweep)
    elif chosen == "Tests and time":
        effort_view(sweep)
    else:
        table_view(sweep, choose_view(has_truth))


st.title("Trade-off")
try:
    loaded = current_data()
    if loaded is None:
        st.info(f"No table is loaded yet: load one on the Data page, or choose a network instead "
                f"of “{UPLOAD}”.")  # fmt: skip
        st.page_link("pages/data.py", label="Go to Data", icon=":material/table:")
    else:
        results(loaded)
except PrivcoreError as error:
    st.error(str(error), icon=":material/error:")
