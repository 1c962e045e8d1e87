"""The sidebar's choice of an algorithm, its parameters, and the noise."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.ui.controls.data import current_data
from pages.ui.controls.params import controls
from pages.ui.texts import PUBLISHED_EPSILON, odds_sentence
from privcore.algorithms import ALGORITHMS
from privcore.algorithms.engine import planned_delta
from privcore.errors import PrivcoreError


def choose_algorithm(*, seeded: bool = True) -> None:
    """Draw the controls; the values are kept in the session under "parameters".

    seeded: whether the page simulates, so that noise has a seed.
    """
    names = list(ALGORITHMS)
    name = st.selectbox(
        "Algorithm",
        names,
        index=names.index("moment-search"),
        key="algorithm",
        bind="query-params",
        persist_state="session",
        help="How the graph is found, and where noise enters.",
    )
    algorithm = ALGORITHMS[name]
    # An asterisk in a title would be read as markup.
    title = algorithm.title.replace("*", "\\*")
    st.caption(f"**{title}.** {algorithm.summary}")
    st.session_state["parameters"] = controls(algorithm)
    if algorithm.private:
        if seeded:
            choose_seed()
        chosen = st.session_state["parameters"]
        if chosen.get("calibration") != "published":
            st.caption(odds_sentence(chosen["epsilon"], _delta(name, chosen)))
        else:
            st.caption(PUBLISHED_EPSILON[algorithm.published_epsilon])


def _delta(name: str, chosen: dict[str, Any]) -> float:
    """δ of the promise, which may be 0 on these data where others would need the δ chosen."""
    try:
        loaded = current_data()
        if loaded is not None:
            return planned_delta(name, chosen, loaded.source)
    except PrivcoreError:
        pass  # The page says what is wrong.
    return float(chosen.get("delta", 0.0))


def choose_seed() -> None:
    """The seed of the simulated noise, one for all pages."""
    st.number_input(
        "Noise seed",
        0,
        2**53 - 1,
        value=1,
        key="seed",
        bind="query-params",
        persist_state="session",
        help="Simulated noise repeats with the same seed. A release uses secure noise instead.",
    )
