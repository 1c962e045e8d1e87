"""The shipped sweep over eight networks, which shows the best algorithm at each ε."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.ui import charts
from pages.ui.layout import wrapping_columns
from pages.ui.texts import plain
from pages.ui.tradeoff import charts as tradeoff_charts
from pages.ui.tradeoff.styles import OURS, groups
from privcore.algorithms import ALGORITHMS
from privcore.data import load_network
from privcore.extras.lab.sweeps.eight_networks import (
    NETWORKS,
    best_on_average,
    eight_networks,
    eight_networks_means,
)
from privcore.extras.lab.sweeps.sweep import best_alike


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
        help=(
            "Highlights the chosen algorithms; all others turn grey. If none is chosen, all lines "
            "are coloured."
        ),
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
