"""The graphs of the page Discover, side by side, with the pair that is selected below them."""

from __future__ import annotations

import uuid
from typing import NamedTuple

import streamlit as st

from pages.ui import tables
from pages.ui.controls.data import Loaded, positions_of
from pages.ui.graphs import findings
from pages.ui.graphs.view import graph_html, show_graph
from pages.ui.theme import EDGES, current
from privcore.algorithms import Discovery
from privcore.graphs import PDAG
from privcore.measures import Comparison


class Drawn(NamedTuple):
    """A graph on the page: the key of its container, and what it is compared with, if anything."""

    key: str
    graph: PDAG
    comparison: Comparison | None


def graphs(
    loaded: Loaded,
    drawn: dict[str, Drawn],
    base: PDAG,
    highlight: tuple[int, int] | None,
    result: Discovery,
    faint: list[tuple[int, int]],
) -> None:
    """The graphs side by side on one layout, linked in selection and view.

    result: the run that the first one is of.  faint: pairs drawn there that it cannot tell.
    """
    channel = st.session_state.setdefault("_channel", f"discover-{uuid.uuid4()}")
    height = 420 if loaded.dataset.p <= 12 else 560
    for column, (title, (key, graph, comparison)) in zip(
        st.columns(len(drawn), gap="small"), drawn.items(), strict=True
    ):
        with column.container(key=key, border=True, gap=None):
            st.header(title, anchor=False)
            styles = {}
            own = graph is result.graph
            if comparison:
                styles = {
                    (pair.i, pair.j): findings.styled(
                        EDGES[current()][pair.kind].saying(
                            f"{pair.kind}: here {pair.here}; {comparison.reference_name}: "
                            f"{pair.reference}"
                        ),
                        result.findings.get((pair.i, pair.j)) if own else None,
                    )
                    for pair in comparison.pairs
                }
            summary = comparison.summary() if comparison else f"{len(graph.skeleton)} edges"
            page = graph_html(
                graph,
                positions_of(loaded, result.graph),
                edge_styles=styles,
                reference=base if comparison else None,
                unclear=faint if own else (),
                theme=current(),
                channel=channel,
                highlight=highlight,
                height=height,
                caption=title,
            )
            show_graph(page, height=height, alt=f"{title}: {summary}")


def selected_edge(comparisons: list[Comparison]) -> tuple[int, int] | None:
    """The pair whose row is selected in the edge table, which is drawn below the graphs."""
    state = st.session_state.get("discover_edges")
    rows = state["selection"]["rows"] if state else []
    pairs = tables.edge_pairs(comparisons)
    return pairs[rows[0]] if rows and rows[0] < len(pairs) else None
