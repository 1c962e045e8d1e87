"""The question on Discover: the whole graph, or the links of one column.

The widget holds the choice. For a user's own table the URL has the position of the column, since
the names of a user's columns must not be in the URL; it is there for a step back in the history.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.ui.controls.address import choose, chosen, news, write
from pages.ui.controls.data import UPLOAD, current_data
from privcore.algorithms import Algorithm
from privcore.algorithms.search.parameters import TARGET
from privcore.errors import PrivcoreError

OWN = f"{TARGET.name}_own"
_PLACE = f"{TARGET.name}_place"


def takes_target(algorithm: Algorithm) -> bool:
    """Whether an algorithm can be asked about one column."""
    return any(parameter.name == TARGET.name for parameter in algorithm.parameters)


def own_choice() -> dict[str, str]:
    """The choice about a user's own table by session key, so that a pin can restore it."""
    return {OWN: held_target()} if _own() else {}


def choose_target() -> None:
    """Draw the choice between the whole graph and each column of the current data."""
    names = ["", *_columns()]
    shown: dict[str, Any] = {
        "label": "What is asked",
        "persist_state": "session",
        "help": "The whole graph, or what is linked with one column. A question about one column "
        "needs less noise: its products with all columns are measured, then the few that look "
        "linked. If the whole graph shows enough with these rows and this ε, all of it is "
        "measured, and the part near the column is shown.",
    }
    if _own() and len(names) == 1:
        return  # The choice waits for its table, as after a session has been opened.
    if _own():
        places = {str(place): name for place, name in enumerate(names)}
        if (in_url := news(_PLACE, "0")) in places:
            st.session_state[OWN] = places[in_url]
        elif st.session_state.get(OWN) not in names:
            st.session_state[OWN] = ""
        name = chosen(st.selectbox(options=names, format_func=_words, key=OWN, **shown))
        write(_PLACE, str(names.index(name)), "0")
    else:
        choose(names, _words, "", key=TARGET.name, **shown)


def held_target() -> str:
    """The chosen column of the current data; "" for the whole graph."""
    held = st.session_state.get(OWN if _own() else TARGET.name, "")
    return str(held) if held in _columns() else ""


def _columns() -> tuple[str, ...]:
    try:
        loaded = current_data()
    except PrivcoreError:
        return ()  # The page says what is wrong with the data.
    return loaded.dataset.names if loaded is not None else ()


def _own() -> bool:
    return bool(st.session_state.get("data") == UPLOAD)


def _words(name: str) -> str:
    return f"Links of {name}" if name else "The whole graph"
