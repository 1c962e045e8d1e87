"""Graphs released in this session, with their certificates."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import streamlit as st

from pages.ui.graphs.findings import width_sentence
from pages.ui.graphs.view import show_graphs
from pages.ui.texts import plain
from privcore.algorithms.search.result import described_pairs, named_repeats
from privcore.display.certificate_html import certificate_html
from privcore.display.drawing import Pane, scene
from privcore.display.findings import (
    line_texts,
    line_widths,
    repeats_sentences,
    verdict_counts,
)
from privcore.display.interactive import certificate_page
from privcore.display.layout import shared_layout
from privcore.graphs.pdag import Positions
from privcore.releases.certificate import certificate_json
from privcore.releases.release import Release
from privcore.releases.release_file import file_text


class Shown(NamedTuple):
    """A release stored in the session.

    positions: the layout of the true graph, if there is one; else None. data: the data set's name.
    """

    made: Release
    positions: Positions | None
    data: str


def _positions(shown: Shown) -> Positions:
    """The layout of the true graph if there is one, else a layout made for the released graph."""
    graph = shown.made.graph
    return shown.positions or shared_layout(graph.nodes, graph=graph)


def released_before() -> bool:
    """Show everything released in this session, the latest first; returns whether there is any."""
    shown: list[Shown] = st.session_state.get("_released", [])
    for number in reversed(range(len(shown))):
        released(number, shown[number])
    return bool(shown)


def released(number: int, shown: Shown) -> None:
    """Show a released graph and its certificate."""
    made, document = shown.made, dict(shown.made.certificate)
    identity = str(document["id"])[:8]
    title = f"Released graph {number + 1}"
    st.header(title)
    promise = f"(ε = {made.guarantee.epsilon:g}, δ = {made.guarantee.delta:g})"
    facts = f"“{plain(shown.data)}”, certificate {identity}, {document['time']}"
    if made.guarantee.caveats:
        gap = plain("; ".join(made.guarantee.caveats))
        st.warning(
            f"Proven {promise}, except for this: {gap}. Charged and recorded: {facts}.",
            icon=":material/warning:",
        )
    else:
        st.success(
            f"Proven: {promise}; neighbours: {plain(made.guarantee.neighbours)}. Charged and "
            f"recorded: {facts}.",
            icon=":material/verified:",
        )
    repeats = repeats_sentences(named_repeats(made.graph, made.repeats))
    for sentence in (made.note, *made.warnings, *repeats):
        if sentence:
            st.caption(plain(sentence))
    pane = Pane(
        "released",
        title,
        made.graph,
        texts=line_texts(made.findings),
        widths=line_widths(made.findings),
        repeats=made.repeats,
    )
    show_graphs(scene(_positions(shown), [pane]), key=f"released-{number}")
    if made.findings:
        pairs = described_pairs(made.graph, made.findings) or []
        st.caption(
            f"{width_sentence(made)} Of the pairs without an edge, "
            f"{verdict_counts(pairs)}; the certificate has the numbers for each pair."
        )
    with st.container(horizontal=True):
        st.download_button(
            "Certificate (JSON, signed)",
            certificate_json(document),
            f"certificate-{identity}.json",
            "application/json",
            on_click="ignore",
            key=f"certificate-json-{number}",
        )
        st.download_button(
            "Certificate to print (HTML)",
            certificate_html(document),
            f"certificate-{identity}.html",
            "text/html",
            on_click="ignore",
            key=f"certificate-html-{number}",
        )
        st.download_button(
            "Interactive page (HTML)",
            partial(certificate_page, document),
            f"graph-{identity}.html",
            "text/html",
            on_click="ignore",
            key=f"page-{number}",
        )
        if made.numbers is not None:
            st.download_button(
                "Released numbers (JSON, signed)",
                file_text(made.numbers),
                f"release-{identity}.json",
                "application/json",
                on_click="ignore",
                key=f"release-file-{number}",
            )
    copy = (
        f"A copy of the certificate is stored in {plain(str(made.path))}. "
        if made.path
        else "Save the certificate now: the graph is stored in this session only. "
    )
    st.caption(
        f"{copy}Anyone can check the certificate with `python -m privcore verify "
        f"certificate-{identity}.json`."
    )
    if made.numbers is not None:
        st.caption(
            "The released numbers can be searched again with other settings at no further cost: "
            f"`python -m privcore search-again release-{identity}.json` also lists the undecided "
            "pairs and the approximate cost of deciding them."
        )
