"""What is known beforehand of the data that all pages look at: kept in the session and, where the
data are built in, in the address."""

from __future__ import annotations

import streamlit as st

from pages.ui.controls.address import news, write
from pages.ui.controls.data import UPLOAD, Loaded, current_data
from privcore.errors import ParameterError, PrivcoreError
from privcore.graphs.knowledge import Knowledge

_NAME = "knowledge"
# What is kept of each data set by itself: a pin then puts back its own, and no other's.
_TEXT, _BEFORE, _PROBLEM = "_known", "_known_before", "_known_problem"
# Steps that can be undone.
_STEPS = 50


def known_text(loaded: Loaded | None) -> str:
    """The parameter of all algorithms, of the columns that there are; "" for nothing."""
    if loaded is None:
        return ""
    asked = news(_NAME, "")
    if asked is not None:
        try:
            Knowledge.read(asked)
            st.session_state[_key(_TEXT, loaded)] = asked
        except ParameterError as error:
            tell(loaded, f"The address says what cannot be read: {error}")
    text = held(loaded).text
    # Names of a table's columns are not for an address.
    write(_NAME, text if st.session_state.get("data") != UPLOAD else "", "")
    return text


def held_text() -> str:
    """As `known_text`, of the data that are loaded."""
    try:
        return known_text(current_data())
    except PrivcoreError:
        return ""  # The page says what is wrong with the data.


def held(loaded: Loaded) -> Knowledge:
    """What is known of these data."""
    text = st.session_state.get(_key(_TEXT, loaded), "")
    return Knowledge.read(text).among(loaded.dataset.names)


def held_knowledge(loaded: Loaded) -> dict[str, str]:
    """What the session holds, for it to be put back."""
    return {_key(_TEXT, loaded): held(loaded).text}


def keep(loaded: Loaded, known: Knowledge) -> None:
    """From the next run of the page on; what was there before can be had back by `undo`."""
    now = st.session_state.get(_key(_TEXT, loaded), "")
    if known.text == now:
        return
    before = st.session_state.setdefault(_key(_BEFORE, loaded), [])
    before.append(now)
    del before[:-_STEPS]
    st.session_state[_key(_TEXT, loaded)] = known.text
    tell(loaded, "")


def undo(loaded: Loaded) -> None:
    """Back by one step."""
    before = st.session_state.get(_key(_BEFORE, loaded))
    if before:
        st.session_state[_key(_TEXT, loaded)] = before.pop()
    tell(loaded, "")


def can_undo(loaded: Loaded) -> bool:
    return bool(st.session_state.get(_key(_BEFORE, loaded)))


def tell(loaded: Loaded, problem: str) -> None:
    """What the next run of the page shows of a change that was refused; "" for nothing."""
    st.session_state[_key(_PROBLEM, loaded)] = problem


def told(loaded: Loaded) -> str:
    return str(st.session_state.get(_key(_PROBLEM, loaded), ""))


def sentence(loaded: Loaded) -> str:
    """What is known, for a line below the answer; empty for nothing."""
    words = held(loaded).words
    if not words:
        return ""
    more = f"; and {len(words) - 3} more" if len(words) > 3 else ""
    return f"Known beforehand: {'; '.join(words[:3])}{more}."


def _key(what: str, loaded: Loaded) -> str:
    """The same whichever rows of the data are sampled."""
    return f"{what}:{loaded.dataset.name}"
