"""The graphs of the Discover page, side by side in one layout."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import streamlit as st

from pages.ui import tables
from pages.ui.controls.data import Loaded
from pages.ui.graphs.networks import networks_page, offered
from pages.ui.graphs.view import show_graphs
from pages.ui.pictures.run import RunPictures
from pages.ui.theme import current
from privcore.display.drawing import Pane, scene
from privcore.display.findings import confidence_groups, line_texts, line_widths
from privcore.graphs import PDAG, Edge
from privcore.measures import Comparison
from privcore.text import counted


class Drawn(NamedTuple):
    """A graph on the page, with its key and its comparison with the reference, if any.

    reference: the graph that it is compared with, if this is not the page's reference. texts: notes
    on pairs.
    """

    key: str
    graph: PDAG
    comparison: Comparison | None
    reference: PDAG | None = None
    texts: Mapping[Edge, str] = MappingProxyType({})


def graphs(
    loaded: Loaded,
    run: RunPictures,
    drawn: dict[str, Drawn],
    highlight: tuple[int, int] | None,
    faint: list[tuple[int, int]],
) -> None:
    """Draw the graphs side by side, with linked views.

    run: the run whose graph comes first. drawn: the graphs by title. highlight: the selected pair.
    faint: undecided pairs, which are drawn in the first graph.
    """
    panes = []
    result, base, positions = run.result, run.references[run.kind], run.positions
    for title, (key, graph, comparison, reference, texts) in drawn.items():
        own = graph is result.graph
        pair_findings = result.findings if own else {}
        summary = comparison.summary() if comparison else counted(len(graph.skeleton), "edge")
        panes.append(
            Pane(
                key,
                title,
                graph,
                f"{title}: {summary}",
                {(pair.i, pair.j): pair.kind for pair in comparison.pairs} if comparison else {},
                (reference or base) if comparison else None,
                faint if own else (),
                line_texts(pair_findings) if own else texts,
                line_widths(pair_findings),
                confidence_groups(pair_findings),
                result.repeats,
            )
        )
    words = run.words
    made = scene(
        positions,
        panes,
        words=words,
        reference=run.names[run.kind],
        selected=highlight,
        tiers=result.tiers,
    )
    # The scene refers to columns by number.
    hidden = "".join(f" without {name}" for name in loaded.dataset.hidden)
    name = f"{result.algorithm} {result.parameters.get('epsilon', '')}".strip()
    show_graphs(
        made,
        key="graphs",
        of=f"{loaded.dataset.name}{hidden}",
        run=name,
        networks=(lambda: networks_page(panes, positions, words, theme=current()))
        if offered()
        else None,
    )


def selected_edge(comparisons: list[Comparison]) -> tuple[int, int] | None:
    """The pair selected in the edge table below the graphs; None if no pair is selected."""
    state = st.session_state.get("discover_edges")
    rows = state["selection"]["rows"] if state else []
    pairs = tables.edge_pairs(comparisons)
    return pairs[rows[0]] if rows and rows[0] < len(pairs) else None
