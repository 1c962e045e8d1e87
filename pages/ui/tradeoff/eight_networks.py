"""The sweep over eight networks that comes with the product: which algorithm to pick."""

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
    """Which algorithm to take at an ε, and those that are too close to it to tell."""
    means = best_on_average(eight_networks_means(), epsilon)
    alike = best_alike(means.rename(columns={"error": "se"}))
    titles = " or ".join(f"**{plain(ALGORITHMS[name].title)}**" for name in alike["algorithm"])
    close = "" if len(alike) == 1 else ", too close to call"
    return (
        f"At ε = {epsilon:g} pick {titles}{close}: a skeleton F1 of {alike['mean'].iloc[0]:.2f} on "
        f"average over these eight networks."
    )


def runs_words(means: pd.DataFrame) -> str:
    """How many runs there are at most, and on which networks there are fewer."""
    runs = means.groupby("data", sort=False)["runs"].max()
    fewer = [f"{count} on {name}" for name, count in runs.items() if count < runs.max()]
    return f"{runs.max()} runs" + (f" ({', '.join(fewer)})" if fewer else "")


def groups_sentence() -> str:
    """Whose algorithms share a colour."""
    told = []
    for group, names in groups().items():
        titles = ", ".join(plain(ALGORITHMS[name].title) for name in names)
        told.append(f"{'Ours' if group == OURS else plain(group)}: {titles}")
    return (
        f"One colour for ours and one for each paper; those of one colour differ in their dashes. "
        f"{'; '.join(told)}."
    )


def eight_networks_view() -> None:
    """A panel for each network, and the answer in one sentence."""
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
        help="The others turn grey. Without a choice all lines are in colour.",
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
                    "skeleton F1",
                    highlighted,
                ),
                key=f"eight-networks-{name}",
                alt=f"Skeleton F1 against ε of every private algorithm on {name}",
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
        f"100,000 rows of each, {runs_words(means)} of each algorithm at each total ε, δ = 10⁻⁶, "
        "defaults otherwise, whatever is chosen beside. LapMech's tables of child, insurance "
        "and alarm are too large to be made. Shipped with the product, made by version "
        f"{held.version} with"
    )
    st.code(held.command, language="bash", wrap_lines=True)
