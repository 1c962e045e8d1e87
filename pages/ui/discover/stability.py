"""Stability of a graph without a known truth: the Stability tab, and one line on the page."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import streamlit as st

from pages.ui import tables
from pages.ui.controls.data import Loaded
from pages.ui.graphs import findings
from pages.ui.running import LiveHooks, cached_result, forget_cancelled, settings_key
from pages.ui.texts import plain
from privcore.algorithms import Discovery
from privcore.errors import DataError
from privcore.extras.lab.stability import NOT_PRIVATE, RUNS, Stability, judge
from privcore.graphs import PDAG

TAB = "Stability"
_RUNS = ["20", "50", "100", "200", "500"]
_HALVES = (
    "Halves: the rows are split at random into two halves, and each half is searched separately. A "
    "search of half of the rows has less power."
)
_READING = {
    True: "Noise draws: runs with fresh noise on all rows, so the runs differ only by the noise. "
    f"{_HALVES} Every half has the same ε and its own noise. {NOT_PRIVATE}",
    False: f"This run has no noise, so there are no noise draws. {_HALVES} {NOT_PRIVATE}",
}


def summary(loaded: Loaded, result: Discovery) -> None:
    """Show one line on the stability of a graph without a known truth, computed on request.

    The line is shown while the Stability tab is closed.
    """
    runs = int(st.session_state.get("discover_rolls") or RUNS.default)
    key = _key(loaded, result, runs)
    if key not in st.session_state.get("_results", {}) and st.session_state.get("_judge") != key:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Judge this graph",
                icon=":material/balance:",
                on_click=_ask,
                args=(key,),
                help="Repeats the search with fresh noise and on halves of the rows, and reports "
                "how often the edges reappear.",
            )
            st.caption("There is no known true graph for comparison.")
        return
    judged = _judged(loaded, result, runs)
    if judged is not None:
        text = f"{judged.sentence()} {judged.seldom_sentence()}".strip()
        st.markdown(f"{plain(text)} {NOT_PRIVATE}")
        st.button("Open Stability", on_click=_open, icon=":material/table_rows:")


def panel(loaded: Loaded, result: Discovery, reference: PDAG, reference_name: str) -> None:
    """Show how often each pair is adjacent over noise draws and halves, and the undecided pairs."""
    runs = int(
        st.select_slider(
            "Runs",
            _RUNS,
            value=str(RUNS.default),
            key="discover_rolls",
            bind="query-params",
            help="Number of runs with fresh noise on all rows, and number of runs on halves of "
            "the rows. All runs have the settings of the graph above.",
        )
    )
    judged = _judged(loaded, result, runs)
    if judged is None:
        return
    st.markdown(f"**{plain(judged.sentence())}**")
    if judged.seldom:
        st.warning(plain(judged.seldom_sentence()), icon=":material/help:")
    if result.findings:
        st.markdown(findings.no_edge_sentence(result))
    st.dataframe(
        tables.stability(judged, result, reference, reference_name),
        hide_index=True,
        column_config={
            name: st.column_config.ProgressColumn(name, min_value=0, max_value=1, format="percent")
            for name in (tables.OVER_ROLLS, tables.OVER_HALVES)
        },
        alt="Frequency of each pair over noise draws and over halves of the rows",
    )
    st.caption(_READING[bool(judged.rolls)])


def _key(loaded: Loaded, result: Discovery, runs: int) -> tuple[Hashable, ...]:
    """The cache key, without the noise seed, on which the further runs do not depend."""
    values = settings_key(dict(result.parameters))
    return ("stability", loaded.key, result.algorithm, values, runs)


def _judged(loaded: Loaded, result: Discovery, runs: int) -> Stability | None:
    """The stability of the shown graph over further runs, cached; None if they were cancelled."""

    def compute(hooks: LiveHooks) -> Stability:
        return judge(
            loaded.source, result, runs=runs, watch=lambda done, of: hooks.part(done, of, "run")
        )

    try:
        judged = cached_result(_key(loaded, result, runs), "Checking stability", compute)
    except DataError as error:
        st.warning(plain(str(error)), icon=":material/block:")
        return None
    return None if judged is None else replace(judged, shown=result.graph)


def _ask(key: Hashable) -> None:
    st.session_state["_judge"] = key
    forget_cancelled()


def _open() -> None:
    st.session_state["discover_tab"] = TAB
