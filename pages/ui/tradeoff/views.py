"""Further views: over two parameters, by edge, by effort, as a table, and over eight networks."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui import charts
from pages.ui.controls.data import Loaded
from pages.ui.layout import download, wrapping_columns
from pages.ui.texts import plain
from pages.ui.tradeoff import charts as tradeoff_charts
from pages.ui.tradeoff.charts import OURS, groups
from pages.ui.tradeoff.controls import FOUND, View, choose_map
from pages.ui.tradeoff.sweeping import BackgroundSweep, live, sweep_of
from privcore.algorithms import ALGORITHMS
from privcore.data import load_network
from privcore.extras.lab.sweeps.eight_networks import (
    NETWORKS,
    best_on_average,
    eight_networks,
    eight_networks_means,
)
from privcore.extras.lab.sweeps.sweep import (
    Row,
    SweepPlan,
    best_alike,
    edge_recovery,
    encode,
    summarise,
)
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
    names = [n for n in sweep.plan.algorithms if ALGORITHMS[n].private]
    name = left.selectbox(
        "Algorithm",
        names,
        key=f"edges_{'-'.join(names)}",
        format_func=lambda n: ALGORITHMS[n].title,
    )
    share = right.segmented_control(
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
                    summarise(rows, metric), title, bounded=False, log=True
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
            for title in ("CSV", "JSON", "Parquet"):
                ending = title.lower()
                rows = partial(_encoded, sweep, ending)
                download(title, rows, f"sweep.{ending}", f"sweep-{ending}")
        st.caption("One row for each run, with its seed. Not private: metrics use the exact data.")


def pick_sentence(epsilon: float) -> str:
    """Name the best algorithm at an ε, or several algorithms that are too close to call."""
    means = best_on_average(eight_networks_means(), epsilon)
    alike = best_alike(means.rename(columns={"error": "se"}))
    titles = " or ".join(f"**{plain(ALGORITHMS[name].title)}**" for name in alike["algorithm"])
    close = "" if len(alike) == 1 else " (too close to call)"
    return (
        f"At ε = {epsilon:g} choose {titles}{close}: mean skeleton F1 {alike['mean'].iloc[0]:.2f} "
        "over these eight networks."
    )


def runs_words(means: pd.DataFrame) -> str:
    """State the number of runs, and the networks with fewer runs."""
    runs = means.groupby("data", sort=False)["runs"].max()
    fewer = [f"{count} on {name}" for name, count in runs.items() if count < runs.max()]
    return f"{runs.max()} runs" + (f" ({', '.join(fewer)})" if fewer else "")


def groups_sentence() -> str:
    """State which algorithms share a hue."""
    groups_shown = []
    for group, names in groups().items():
        titles = ", ".join(plain(ALGORITHMS[name].title) for name in names)
        groups_shown.append(f"{'Ours' if group == OURS else plain(group)}: {titles}")
    return (
        "One hue for our algorithms and one per paper; algorithms of the same hue differ in shade "
        f"and dashes. {'; '.join(groups_shown)}."
    )


def eight_networks_view() -> None:
    """Show one panel per network, and the best algorithm in one sentence."""
    means = eight_networks_means()
    grid = sorted(means["epsilon"].dropna().unique())
    epsilon = st.select_slider(
        "Privacy budget ε",
        grid,
        value=1.0,
        key="eight_epsilon",
        bind="query-params",
        format_func=lambda e: f"{e:g}",
    )
    st.markdown(pick_sentence(epsilon))
    highlighted = st.pills(
        "Highlight",
        [name for names in groups().values() for name in names],
        selection_mode="multi",
        key="eight_highlighted",
        format_func=lambda name: plain(ALGORITHMS[name].title),
        help="Highlights the chosen algorithms; all others turn grey. If none is chosen, all lines "
        "are coloured.",
    )
    st.caption(groups_sentence())
    for place, name in zip(
        wrapping_columns("eight-networks", len(NETWORKS), least=370), NETWORKS, strict=True
    ):
        with place:
            charts.show(
                tradeoff_charts.network(
                    means[means["data"] == name],
                    f"{name}, {len(load_network(name).names)} columns",
                    highlighted,
                ),
                key=f"eight-networks-{name}",
                alt=f"Skeleton F1 of every private algorithm on {name}, plotted against ε",
            )
    ranked = best_on_average(means, epsilon)
    st.dataframe(
        ranked.assign(algorithm=[ALGORITHMS[name].title for name in ranked["algorithm"]])
        .rename(
            columns={
                "mean": f"mean F1 at ε = {epsilon:g}",
                "error": "standard error",
                "wins": "best on networks",
            }
        )
        .round(3),
        hide_index=True,
        height="content",
        alt=f"Algorithms by their mean at ε = {epsilon:g}",
    )
    held = eight_networks()
    st.caption(
        f"100,000 rows from each network, {runs_words(means)} of each algorithm at each total ε, "
        "with δ = 10⁻⁶ and otherwise default settings; the settings in the sidebar have no effect. "
        "LapMech is missing for child, insurance and alarm, where its tables are too large. "
        f"Shipped with the product; computed by version {held.version} with this command:"
    )
    st.code(held.command, language="bash", wrap_lines=True)
