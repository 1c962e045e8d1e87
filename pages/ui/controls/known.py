"""Background knowledge about the current data, shared by all pages.

The knowledge is stored in the session and, for built-in data, in the URL.
"""

from __future__ import annotations

import streamlit as st

from pages.ui.controls.address import news, write
from pages.ui.controls.data import UPLOAD, Loaded, current_data
from privcore.errors import ParameterError, PrivcoreError
from privcore.graphs.knowledge import Knowledge

_NAME = "knowledge"
# Stored per data set, so that a pin restores the knowledge of its own data set only.
_TEXT, _BEFORE, _PROBLEM = "_known", "_known_before", "_known_problem"
# Number of steps that can be undone.
_STEPS = 50


def is_text(key: str) -> bool:
    """Whether a session key holds the background knowledge about some data set."""
    return key.startswith(f"{_TEXT}:")


def known_text(loaded: Loaded | None) -> str:
    """The background knowledge about these data, as the text of the parameter "knowledge".

    The text is empty if there is no knowledge. New knowledge in the URL is stored first.
    """
    if loaded is None:
        return ""
    in_url = news(_NAME, "")
    if in_url is not None:
        try:
            Knowledge.read(in_url)
            st.session_state[_key(_TEXT, loaded)] = in_url
        except ParameterError as error:
            set_problem(loaded, f"Ignored background knowledge in the URL: {error}")
    text = held(loaded).text
    # Column names of a user's table must not appear in the URL.
    write(_NAME, text if st.session_state.get("data") != UPLOAD else "", "")
    return text


def held_text() -> str:
    """`known_text` for the current data; "" if the data cannot be loaded."""
    try:
        return known_text(current_data())
    except PrivcoreError:
        return ""  # The page says what is wrong with the data.


def held(loaded: Loaded) -> Knowledge:
    """The background knowledge about these data."""
    text = st.session_state.get(_key(_TEXT, loaded), "")
    return Knowledge.read(text).among(loaded.dataset.names)


def held_knowledge(loaded: Loaded) -> dict[str, str]:
    """The background knowledge about these data by session key, so that a pin can restore it."""
    return {_key(_TEXT, loaded): held(loaded).text}


def keep(loaded: Loaded, known: Knowledge) -> None:
    """Store new knowledge for all further runs of the page; `undo` restores the old knowledge."""
    now = st.session_state.get(_key(_TEXT, loaded), "")
    if known.text == now:
        return
    before = st.session_state.setdefault(_key(_BEFORE, loaded), [])
    before.append(now)
    del before[:-_STEPS]
    st.session_state[_key(_TEXT, loaded)] = known.text
    set_problem(loaded, "")


def forget(loaded: Loaded) -> None:
    """Forget the knowledge about these data, with what undo would restore."""
    for what in (_TEXT, _BEFORE, _PROBLEM):
        st.session_state.pop(_key(what, loaded), None)


def undo(loaded: Loaded) -> None:
    """Undo the last change to the knowledge."""
    before = st.session_state.get(_key(_BEFORE, loaded))
    if before:
        st.session_state[_key(_TEXT, loaded)] = before.pop()
    set_problem(loaded, "")


def can_undo(loaded: Loaded) -> bool:
    return bool(st.session_state.get(_key(_BEFORE, loaded)))


def set_problem(loaded: Loaded, problem: str) -> None:
    """Store the reason why a change was refused, for the page's next run; "" clears the reason."""
    st.session_state[_key(_PROBLEM, loaded)] = problem


def problem_of(loaded: Loaded) -> str:
    return str(st.session_state.get(_key(_PROBLEM, loaded), ""))


def sentence(loaded: Loaded) -> str:
    """The background knowledge as a line below the answer; empty if there is none."""
    words = held(loaded).words
    if not words:
        return ""
    more = f"; and {len(words) - 3} more" if len(words) > 3 else ""
    return f"Known beforehand: {'; '.join(words[:3])}{more}."


def _key(what: str, loaded: Loaded) -> str:
    """A session key that is the same for all samples of a data set."""
    return f"{what}:{loaded.dataset.name}"
