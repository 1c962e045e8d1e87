"""Downloads of a run, its interactive page among them, and the code that repeats it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from pages.ui import tables
from pages.ui.controls.data import Loaded, positions_of
from pages.ui.data import samples
from pages.ui.discover.runs import Background
from pages.ui.graphs.networks import offered
from pages.ui.layout import download, picture_buttons
from pages.ui.pictures.notebook import notebook
from pages.ui.pictures.run import RunPictures, run_networks, run_page
from pages.ui.pictures.sheet import FORMS
from pages.ui.texts import plain
from privcore.algorithms import Discovery
from privcore.display.commands import command_line, page_command, python_code
from privcore.display.findings import edge_notes
from privcore.display.interactive import (
    CONFIRMATION,
    check_may_be_sent,
    interactive_page,
    is_built_in,
    run_series,
)
from privcore.display.report import run_report
from privcore.exchange.formats import TEXT_FORMATS, to_edge_csv
from privcore.intake.samples import Sample

# What makes the content of a file, and the ending of its name.
File = tuple[Callable[[], str | bytes], str]


def downloads(pictures: RunPictures, loaded: Loaded) -> None:
    """Draw a row of download buttons; each file is made on request."""
    result, graph = pictures.result, pictures.result.graph
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
        **{form.upper(): (partial(pictures.graph, form), form) for form in FORMS},
        "Print page": (lambda: run_page(pictures, loaded), "print.html"),
        "Notebook": (lambda: notebook(pictures, loaded, schema=schema), "ipynb"),
        "JSON": (as_json, "json"),
    }
    if offered():
        pictured["pyvis"] = (lambda: run_networks(pictures), "pyvis.html")
    files = {**pictured, **csv_files(result)}
    with st.container(horizontal=True):
        if pictures.private:
            picture_buttons(pictures.pair, "download-pair", "Both graphs")
        for name, (make, ending) in files.items():
            download(name, make, f"graph.{ending}", f"download-{name}")
        for form in TEXT_FORMATS.values():
            if form.title in files:
                continue
            # Some formats hold only DAGs and raise an error for other graphs.
            refusal = form.refusal(graph)
            download(
                form.title,
                "" if refusal else partial(form.export, graph),
                f"graph.{form.suffix}",
                f"download-{form.title}",
                mime=form.mime,
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
        "Edges CSV": (lambda: to_edge_csv(result.graph, *edge_notes(result.findings)), "csv"),
        "Pairs CSV": (lambda: tables.as_csv(tables.pairs(result)), "pairs.csv"),
        "Decisions CSV": (lambda: tables.as_csv(tables.decisions(result, None)), "decisions.csv"),
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


def page_part(
    loaded: Loaded, result: Discovery, values: dict[str, Any], seed: int, background: Background
) -> None:
    """Draw a button that makes and saves the interactive page.

    For a user's own table, the user must first type a confirmation. background: the background
    runs, whose finished results are used again.
    """
    words = ""
    if not is_built_in(loaded.dataset):
        st.warning(
            "An interactive page of this table shows results computed from its exact rows: it is "
            "not private. To publish a graph, release it on the Release page, and save the "
            "interactive page of that release.",
            icon=":material/warning:",
        )
        words = st.text_input(f"Type “{CONFIRMATION}”", key=f"explored-{loaded.key}")
    places = positions_of(loaded, result)
    sample = _sample(loaded)

    # Called when the button is clicked, outside of any run of the page.
    def make() -> str:
        check_may_be_sent(loaded.dataset, words)
        series = run_series(
            loaded.dataset,
            loaded.source,
            result.algorithm,
            values,
            seed=seed,
            made=lambda epsilon, own: _made(background, epsilon, own),
        )
        command = page_command(
            series.results[series.shown],
            loaded.dataset,
            network=loaded.is_network,
            data_seed=loaded.seed,
            seed=seed,
            sample=sample,
            explored=words,
        )
        return interactive_page(series, command=command, positions=places)

    stem = re.sub(r"\W+", "-", loaded.dataset.name).strip("-")[:60] or "page"
    st.download_button(
        "Interactive page",
        make,
        f"{stem}.html",
        "text/html",
        on_click="ignore",
        key="interactive-page",
        disabled=not is_built_in(loaded.dataset) and words != CONFIRMATION,
        width="stretch",
        help="Both causal graphs at every ε of the strip, in one HTML file that opens in any "
        "browser, even offline. Missing runs are computed first.",
    )


def _made(background: Background, epsilon: float, seed: int) -> Discovery | None:
    answer = background.answers.get((epsilon, seed))
    return answer if isinstance(answer, Discovery) else None


def _sample(loaded: Loaded) -> Sample | None:
    sample = samples.chosen()
    return sample if sample and sample.path.name == loaded.dataset.name else None
