"""The panel on unobserved confounders: two graphs from the same released numbers."""

from __future__ import annotations

import streamlit as st

from pages.ui.graphs.view import show_graphs
from pages.ui.learn.parts import Values
from privcore.display.drawing import Pane, scene
from privcore.extras.teaching.hidden import Hidden


def show(result: Hidden, values: Values, key: str) -> None:
    panes = [
        Pane("sufficient", "No unobserved confounders assumed", result.sufficient),
        Pane("allowed", "Unobserved confounders allowed", result.allowed),
    ]
    show_graphs(scene(result.positions, panes), key=f"{key}-graphs")
    row = st.container(horizontal=True)
    links, (first, second) = result.links, result.epsilons
    row.metric("Links in the first and second graph", f"{links[0]} and {links[1]}")
    row.metric("Circles", result.circles, help="Undetermined ends of links")
    row.metric(
        "ε of the first and second graph",
        f"{first:g} and {second:g}",
        help="The privacy cost of each graph.",
    )
