"""Further views of a sweep: over two parameters, by edge, by effort, and as a table."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from pages.ui import charts
from pages.ui.controls.data import Loaded
from pages.ui.texts import plain
from pages.ui.tradeoff import charts as tradeoff_charts
from pages.ui.tradeoff.controls import FOUND, View, choose_map
from pages.ui.tradeoff.progress import live
from pages.ui.tradeoff.sweeping import BackgroundSweep, sweep_of
from privcore.algorithms import ALGORITHMS
from privcore.extras.lab.sweeps.sweep import Row, SweepPlan, edge_recovery, encode, summarise
from privcore.text import counted


def statistic(title: str, text: str) -> Any:
    """The configuration of a table column that shows one statistic, such as the median."""
    return st.column_config.NumberColumn(title, help=text, format="%.3f")


# Columns of the table, in order.
COLUMNS = {
    "algorithm": st.column_config.TextColumn("algorithm"),
    "calibration": st.column_config.TextColumn(
        "calibration",
        help="Proven: with a guarantee. Published: the paper's own noise. None: not private.",
    ),
    "epsilon": st.column_config.NumberColumn("ε", help="Privacy budget of the run.", format="%g"),
    "runs": st.column_config.NumberColumn("runs", help="Number of runs with this measure."),
    "refused": st.column_config.NumberColumn(
        "refused", help="Number of runs that were refused because of the settings or the data."
    ),
    "mean": statistic("mean", "Mean of the measure chosen above, over the runs."),
    "sd": statistic("std. deviation", "Standard deviation over the runs, with divisor n − 1."),
    "q05": statistic("5 % below", "5th percentile: 5 % of the runs are lower."),
    "median": statistic("median", "Median: half of the runs are lower."),
    "q95": statistic("95 % below", "95th percentile: 5 % of the runs are higher."),
}


def map_view(loaded: Loaded, plan: SweepPlan, view: View) -> None:
    """Show one measure of one algorithm over ε and a second parameter."""
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
            f"Mean of {counted(made.seeds, 'run')} in each cell; the other parameters are at their "
            "defaults. Computed from the exact data: not private."
        )

    live(sweep, "map", draw)


def edges_view(loaded: Loaded, sweep: BackgroundSweep) -> None:
    """Show how often one algorithm found each edge of the true graph, by ε."""
    truth = loaded.dataset.seen_edges
    if not truth:
        st.info("The true graph of these data is unknown, so recovery cannot be measured.")
        return
    left, right = st.columns(2)
    with left:
        names = [n for n in sweep.plan.algorithms if ALGORITHMS[n].private]
        name = st.selectbox(
            "Algorithm",
            names,
            key=f"edges_{'-'.join(names)}",
            format_func=lambda n: ALGORITHMS[n].title,
        )
    with right:
        share = st.segmented_control(
            "Found",
            FOUND,
            default=FOUND[0],
            required=True,
            key="sweep_found",
            bind="query-params",
            help="Adjacent: the pair has any edge. Directed: the pair has the correct arrow.",
        )

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
            "Edges of the true graph, with the easiest to find at the top. Computed from the exact "
            "data: not private."
        )

    live(sweep, "edges", draw)


def effort_view(sweep: BackgroundSweep) -> None:
    """Plot the number of tests and the time of every algorithm against ε."""

    def draw(rows: list[Row]) -> None:
        for column, metric, title in zip(
            st.columns(2),
            ("tests_run", "seconds"),
            ("tests", "seconds of engine time"),
            strict=True,
        ):
            with column:
                figure = tradeoff_charts.quality(
                    summarise(rows, metric),
                    title,
                    bounded=False,
                    log=True,
                )
                charts.show(figure, key=f"tradeoff-{metric}", alt=f"{title} against ε")
        st.caption(
            "Times are measured on this machine while several runs share it; they depend on the "
            "data and are not private."
        )

    live(sweep, "effort", draw)


def _encoded(sweep: BackgroundSweep, ending: str) -> bytes:
    return encode(sweep.look(), sweep.plan, ending)


def table_view(sweep: BackgroundSweep, view: View) -> None:
    """Show a table of one measure of every algorithm at every ε, with all runs for download."""

    def draw(rows: list[Row]) -> None:
        table = summarise(rows, view.metric)
        shown = table[list(COLUMNS)].assign(
            algorithm=[ALGORITHMS[name].title for name in table["algorithm"]]
        )
        st.dataframe(
            shown, hide_index=True, alt=f"{view.title} by algorithm and ε", column_config=COLUMNS
        )
        for sentence in sorted({r["error"] for r in rows if r["error"]}):
            st.caption(f"Refused: {plain(sentence)}")

    live(sweep, "table", draw)
    # Not redrawn with the rows: a button that is redrawn during a click gives no file.
    if sweep.running or sweep.rows:
        with st.container(horizontal=True):
            for ending, mime in (
                ("csv", "text/csv"),
                ("json", "application/json"),
                ("parquet", "application/vnd.apache.parquet"),
            ):
                st.download_button(
                    ending.upper() if ending != "parquet" else "Parquet",
                    partial(_encoded, sweep, ending),
                    f"sweep.{ending}",
                    mime,
                    on_click="ignore",
                    key=f"sweep-{ending}",
                )
        st.caption("One row for each run, with its seed. Not private: metrics use the exact data.")
