"""Downloads of a run."""

from __future__ import annotations

import json
from functools import partial

import streamlit as st

from pages.ui import tables
from pages.ui.controls.data import Loaded, positions_of
from pages.ui.graphs.view import graph_html
from pages.ui.texts import plain
from pages.ui.theme import PALETTES, current
from privcore.algorithms import Discovery
from privcore.graphs import PDAG
from privcore.graphs.exports import to_edge_csv, to_svg
from privcore.graphs.formats import TEXT_FORMATS
from privcore.releases import command_line, python_code, run_report
from privcore.releases.findings import edge_notes


def downloads(
    result: Discovery, loaded: Loaded, references: dict[str, PDAG], seed: int | None
) -> None:
    """A row of buttons; each file is made when it is requested."""
    palette = PALETTES[current()]
    graph, places = result.graph, positions_of(loaded, result.graph)
    stem = "graph"

    def as_json() -> str:
        report = run_report(result, loaded.dataset, references, seed=seed, positions=places)
        return json.dumps(report, indent=1, ensure_ascii=False)

    def as_svg() -> str:
        return to_svg(
            graph,
            places,
            title=f"{result.algorithm} on {loaded.dataset.name}",
            background=palette.background,
            ink=palette.text,
            node_fill=palette.node,
        )

    def as_html() -> str:
        return graph_html(graph, places, theme=current(), height=640, caption=result.algorithm)

    files = {
        "JSON": (as_json, "json", "application/json"),
        "SVG": (as_svg, "svg", "image/svg+xml"),
        "HTML": (as_html, "html", "text/html"),
        "Edges CSV": (lambda: to_edge_csv(graph, *edge_notes(result.findings)), "csv", "text/csv"),
        **(
            {
                "Pairs CSV": (
                    lambda: tables.pairs(result).to_csv(index=False),
                    "pairs.csv",
                    "text/csv",
                )
            }
            if result.findings
            else {}
        ),
        "Decisions CSV": (
            lambda: tables.decisions(result, None).to_csv(index=False),
            "decisions.csv",
            "text/csv",
        ),
    }
    with st.container(horizontal=True):
        for name, (make, ending, mime) in files.items():
            st.download_button(
                name, make, f"{stem}.{ending}", mime, on_click="ignore", key=f"download-{name}"
            )
        for form in TEXT_FORMATS.values():
            if form.title in files:
                continue
            # Some hold DAGs only, and say so of other graphs.
            refusal = form.refusal(graph)
            st.download_button(
                form.title,
                "" if refusal else partial(form.export, graph),
                f"{stem}.{form.suffix}",
                form.mime,
                on_click="ignore",
                key=f"download-{form.title}",
                disabled=refusal is not None,
                help=refusal and plain(refusal),
            )
    st.caption(
        "The graph's own files hold only the graph. JSON adds metrics and costs, and the decisions "
        "hold exact scores: both are not private. A PNG is saved by the button under each graph."
    )


def code(result: Discovery, loaded: Loaded, seed: int) -> None:
    """The command and the Python that make this run again."""
    for write, language in ((command_line, "bash"), (python_code, "python")):
        text = write(
            result, loaded.dataset, network=loaded.is_network, data_seed=loaded.seed, seed=seed
        )
        st.code(text, language=language, wrap_lines=language == "bash")
