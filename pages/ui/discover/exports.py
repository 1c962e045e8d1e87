"""Downloads of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.ui import tables
from pages.ui.controls.data import Loaded
from pages.ui.graphs.networks import offered
from pages.ui.pictures.buttons import picture_buttons
from pages.ui.pictures.notebook import notebook
from pages.ui.pictures.run import RunPictures, run_networks, run_page
from pages.ui.pictures.sheet import FORMS
from pages.ui.texts import plain
from privcore.algorithms import Discovery
from privcore.display.commands import command_line, python_code
from privcore.display.findings import edge_notes
from privcore.display.report import run_report
from privcore.exchange.formats import TEXT_FORMATS, to_edge_csv

# What makes the content of a file, the ending of its name, and its MIME type.
File = tuple[Callable[[], str | bytes], str, str]
_CSV = "text/csv"


def downloads(pictures: RunPictures, loaded: Loaded) -> None:
    """Draw a row of download buttons; each file is made on request."""
    result, graph = pictures.result, pictures.result.graph
    stem = "graph"
    # The schema of an uploaded table, including dates; the data set contains a bought domain.
    own = loaded is st.session_state.get("upload") and loaded.stated is None
    schema = st.session_state.get("upload_used") if own else None

    def as_json() -> str:
        report = run_report(
            result,
            loaded.dataset,
            dict(pictures.references),
            seed=pictures.seed,
            positions=pictures.positions,
        )
        return json.dumps(report, indent=1, ensure_ascii=False)

    pictured: dict[str, File] = {
        **{title: (partial(pictures.graph, f), f, mime) for f, (title, mime) in FORMS.items()},
        "Print page": (lambda: run_page(pictures, loaded), "print.html", "text/html"),
        "Notebook": (
            lambda: notebook(pictures, loaded, schema=schema),
            "ipynb",
            "application/x-ipynb+json",
        ),
        "JSON": (as_json, "json", "application/json"),
    }
    if offered():
        pictured["pyvis"] = (lambda: run_networks(pictures), "pyvis.html", "text/html")
    files = {**pictured, **csv_files(result)}
    with st.container(horizontal=True):
        if pictures.private:
            picture_buttons("graphs", pictures.pair, "download-pair", label="Both graphs")
        for name, (make, ending, mime) in files.items():
            st.download_button(
                name, make, f"{stem}.{ending}", mime, on_click="ignore", key=f"download-{name}"
            )
        for form in TEXT_FORMATS.values():
            if form.title in files:
                continue
            # Some formats hold only DAGs and raise an error for other graphs.
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
        "Files and pictures of the private graph alone contain only this graph and its settings. "
        "The other files are not private. JSON adds metrics and costs. Pictures of both graphs, "
        "the page to print and pyvis, a page of networks to drag, show a comparison with the "
        "non-private graph. The notebook contains "
        "the levels and bounds of your own table, and the decisions contain exact scores."
    )


def csv_files(result: Discovery) -> dict[str, File]:
    """The tables of a run for spreadsheets, by title."""
    files: dict[str, File] = {
        "Edges CSV": (lambda: to_edge_csv(result.graph, *edge_notes(result.findings)), "csv", _CSV),
        "Pairs CSV": (lambda: tables.as_csv(tables.pairs(result)), "pairs.csv", _CSV),
        "Decisions CSV": (
            lambda: tables.as_csv(tables.decisions(result, None)),
            "decisions.csv",
            _CSV,
        ),
    }
    if not result.findings:
        del files["Pairs CSV"]
    return files


def code(result: Discovery, loaded: Loaded, seed: int) -> None:
    """Show the command and the Python code that repeat this run."""
    for write, language in ((command_line, "bash"), (python_code, "python")):
        text = write(
            result, loaded.dataset, network=loaded.is_network, data_seed=loaded.seed, seed=seed
        )
        st.code(text, language=language, wrap_lines=language == "bash")
