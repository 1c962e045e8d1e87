"""The choices of the main controls as texts, as in a URL, and back into the session."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from pages.ui.controls.address import text_of
from pages.ui.controls.data import HIDE, ROWS, UNCUT, UPLOAD, example_controls
from pages.ui.controls.params import value_from, widget_key
from privcore.algorithms import ALGORITHMS, Parameter
from privcore.algorithms.search.parameters import TARGET
from privcore.data import EXAMPLES, NETWORKS

_SEEDS = {"seed": 2**53 - 1, "data_seed": 2**31 - 1, "graph_seed": 2**31 - 1}
_LISTS = {
    "data": (*NETWORKS, *EXAMPLES, UPLOAD),
    "algorithm": tuple(ALGORITHMS),
    "rows": tuple(map(str, ROWS)),
    "intervals": (UNCUT, *map(str, range(2, 11))),
}


def current_address() -> dict[str, str]:
    """The choices of data and algorithm, complete with defaults, as in a URL."""
    held = st.session_state.to_dict()
    names = (*_SEEDS, *_LISTS, HIDE, TARGET.name, *_declared())
    return {name: text_of(held[name]) for name in names if name in held}


def restore(address: Mapping[str, str]) -> None:
    """Set the controls to an address; called before any control is drawn."""
    found = states(address)
    st.session_state.update(found)
    for name in found:
        # A control that is drawn for the first time keeps its value on other pages only if the URL
        # has it too; Streamlit itself writes the URL of controls that it already shows.
        with suppress(StreamlitAPIException):
            st.query_params[name] = address[name]


def states(address: Mapping[str, str]) -> dict[str, Any]:
    """The states of controls for an address; what no control has is left out."""
    found = {}
    for name, text in address.items():
        with suppress(ValueError, KeyError, OverflowError):
            found[name] = _state(name, text)
    return found


def _state(name: str, text: str) -> Any:
    if name in _SEEDS:
        number = int(text)
        if not 0 <= number <= _SEEDS[name]:
            raise ValueError(text)
        return number
    if name in _LISTS:
        if text not in _LISTS[name]:
            raise ValueError(text)
        return text
    if name == HIDE:
        # Names that the network does not have are ignored.
        return [part for part in text.split(",") if part]
    if name == TARGET.name:
        return text
    return value_from(_declared()[name], text)


def _declared() -> dict[str, Parameter]:
    parameters = {
        widget_key(algorithm, parameter, calibration): parameter
        for algorithm in ALGORITHMS.values()
        for parameter in algorithm.parameters
        for calibration in algorithm.calibrations
        if parameter.kind != "text"
    }
    return parameters | example_controls()
