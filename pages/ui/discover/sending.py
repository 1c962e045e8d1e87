"""The page to send: a run over ε as one HTML file, made where it is requested."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from pages.ui.controls.data import Loaded, positions_of
from pages.ui.data import samples
from pages.ui.discover.background import Background
from pages.ui.running import LiveHooks, kept, settings_key
from privcore.algorithms import Discovery
from privcore.data.samples import Sample
from privcore.releases import page_command
from privcore.releases.interactive import (
    CONFIRMATION,
    check_may_be_sent,
    interactive_page,
    is_built_in,
    run_series,
)

_ASKED = "_page_asked"


def page_part(
    loaded: Loaded, result: Discovery, values: dict[str, Any], seed: int, background: Background
) -> None:
    """A button that makes the page, then one that saves it; a table of one's own has to be
    confirmed first, in words.

    background: whose runs are taken where they are there.
    """
    words = ""
    if not is_built_in(loaded.dataset):
        st.warning(
            "An interactive page of this table shows what is computed from its exact rows. It is "
            "not private. To publish, release the graph and save its page on Release.",
            icon=":material/warning:",
        )
        words = st.text_input(f"Type “{CONFIRMATION}”", key=f"explored-{loaded.key}")
    allowed = is_built_in(loaded.dataset) or words == CONFIRMATION
    key = ("page", loaded.key, result.algorithm, settings_key(values), seed)
    if not allowed or st.session_state.get(_ASKED) != key:
        st.button(
            "Interactive page",
            on_click=_ask,
            args=(key,),
            key="make-page",
            disabled=not allowed,
            width="stretch",
            help="Both graphs over ε in one HTML file that opens anywhere, offline too.",
        )
        return

    def compute(hooks: LiveHooks) -> str:
        check_may_be_sent(loaded.dataset, words)
        series = run_series(
            loaded.dataset,
            loaded.source,
            result.algorithm,
            values,
            seed=seed,
            made=lambda epsilon, own: _made(background, epsilon, own),
            told=hooks.update,
        )
        command = page_command(
            series.results[series.shown],
            loaded.dataset,
            network=loaded.is_network,
            data_seed=loaded.seed,
            seed=seed,
            sample=_sample(loaded),
            explored=words,
        )
        places = positions_of(loaded, series.bases[series.shown].graph)
        return interactive_page(series, command=command, positions=places)

    page = kept(key, "Making the page", compute, shared=loaded.is_network)
    if page is None:
        return
    stem = re.sub(r"\W+", "-", loaded.dataset.name).strip("-")[:60] or "page"
    st.download_button(
        f"Save the page ({len(page.encode()) / 1000:,.0f} kB)",
        page,
        f"{stem}.html",
        "text/html",
        on_click="ignore",
        key="save-page",
        type="primary",
        width="stretch",
    )


def _ask(key: tuple[Any, ...]) -> None:
    st.session_state[_ASKED] = key


def _made(background: Background, epsilon: float, seed: int) -> Discovery | None:
    answer = background.answers.get((epsilon, seed))
    return answer if isinstance(answer, Discovery) else None


def _sample(loaded: Loaded) -> Sample | None:
    sample = samples.chosen()
    return sample if sample and sample.path.name == loaded.dataset.name else None
