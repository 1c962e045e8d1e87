"""The interactive page: one HTML file with the graphs of a run over ε, made on request."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from pages.ui.controls.data import Loaded, positions_of
from pages.ui.data import samples
from pages.ui.discover.background import Background
from privcore.algorithms import Discovery
from privcore.data.samples import Sample
from privcore.display.commands import page_command
from privcore.display.interactive import (
    CONFIRMATION,
    check_may_be_sent,
    interactive_page,
    is_built_in,
    run_series,
)


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
