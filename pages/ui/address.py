"""A choice that stands in the address under its name, where a title is what is shown.

A widget bound to the address by Streamlit puts there what it shows, so that a link would change
with the wording.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st


def follow_address(name: str, options: Sequence[str], key: str) -> None:
    """Before the widget `key` is drawn: take over what the address asks for, if that is new."""
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
