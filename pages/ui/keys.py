"""Undo, presenter mode and keyboard shortcuts: a small component that runs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui.controls.params import epsilon_of, number_text, values_of, widget_key
from pages.ui.discover import pins
from pages.ui.discover.epsilon import STRIP
from privcore.algorithms import ALGORITHMS

_HERE = Path(__file__).parent
_PRESENTING = "_presenting"
_KEY = "keys"
_HTML = """
<div class="root">
<button type="button" title="One step back, like the browser's Back button">↶ Undo</button>
<button type="button"></button>
</div>
"""
_keys = st.components.v2.component(
    "causalveil_keys",
    html=_HTML,
    css=(_HERE / "keys.css").read_text("utf-8"),
    js=(_HERE / "keys.js").read_text("utf-8"),
)


def presenting() -> bool:
    """Whether the page is in presenter mode."""
    return bool(st.session_state.get(_PRESENTING))


def keys(*, presents: bool, keeps: bool) -> str | None:
    """Draw the buttons and listen for keys; returns the identifier of the browser's tab, if any.

    presents: whether this page has a presenter mode; if not, presenter mode ends. keeps: whether
    the session has something that a reload would lose; the tab then gets an identifier.
    """
    if not presents:
        st.session_state[_PRESENTING] = False
    # A number that changes with every run, so that the component reads the URL again.
    runs = st.session_state["_runs"] = st.session_state.get("_runs", 0) + 1
    drawn = _keys(
        key=_KEY,
        data={"presents": presents, "presenting": presenting(), "run": runs, "keeps": keeps},
        width="content",
        on_present_change=_present,
        on_step_change=_step,
        on_tab_change=lambda: None,
    )
    return tab_of(drawn)


def tab_of(drawn: Any) -> str | None:
    """The identifier of the browser's tab, from what the component has sent."""
    return drawn.tab if isinstance(drawn.tab, str) else None


def _present() -> None:
    st.session_state[_PRESENTING] = bool(st.session_state[_KEY].present)


def _step() -> None:
    """Go to the next ε in the strip, or to the next pinned run."""
    step = st.session_state[_KEY].step
    if step in (-2, 2):
        pins.step(step // 2)
        return
    algorithm = ALGORITHMS[st.session_state["algorithm"]]
    epsilon = epsilon_of(algorithm)
    if step not in (-1, 1) or epsilon is None:
        return
    held = values_of(algorithm)["epsilon"]
    # The right arrow goes to stronger privacy, as in the strip.
    after = [e for e in STRIP if e < held] if step > 0 else [e for e in STRIP[::-1] if e > held]
    if after:
        st.session_state[widget_key(algorithm, epsilon)] = number_text(after[0])
