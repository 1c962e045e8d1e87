"""A choice that stands in the address under its name, where a title is what is shown.

A widget bound to the address by Streamlit puts there what it shows, so that a link would change
with the wording.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

from pages.ui.texts import plain

_LEFT_OUT = "_left_out_of_address"

T = TypeVar("T")


def chosen(value: T | None) -> T:
    """The value of a required control whose key is set before it is drawn: never None.

    Streamlit's types see the control, not the key.
    """
    assert value is not None
    return value


def follow_address(name: str, options: Sequence[str], key: str) -> None:
    """Before the widget `key` is drawn: take over what the address says, if that is new."""
    asked = st.query_params.get(name)
    if asked in options and asked != st.session_state.get(f"_{name}_written"):
        st.session_state[key] = asked
    elif st.session_state.get(key) not in options:
        st.session_state[key] = options[0]


def write_address(name: str, value: str) -> None:
    """After it is drawn: what a link to this view must say."""
    st.session_state[f"_{name}_written"] = value
    if st.query_params.get(name) != value:
        st.query_params[name] = value


def leave_out_infinite() -> None:
    """Before any widget is drawn: a field of whole numbers would end the script at `inf`.

    What else a field cannot hold, it leaves out of the address by itself.
    """
    left_out = [n for n, text in st.query_params.to_dict().items() if _is_infinite(text)]
    for name in left_out:
        del st.query_params[name]
    if left_out:
        # Fields would still be filled from what the script began with.
        st.session_state[_LEFT_OUT] = left_out
        st.rerun()
    for name in st.session_state.pop(_LEFT_OUT, []):
        st.warning(f"{plain(name)} is no finite number in the address; it is left out.")


def _is_infinite(text: str) -> bool:
    try:
        return math.isinf(float(text))
    except ValueError:
        return False
