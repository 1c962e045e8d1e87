"""A choice that stands in the address under its name, where a title is what is shown.

A widget bound to the address by Streamlit puts there what it shows, so that a link would change
with the wording.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from pages.ui.texts import plain

_LEFT_OUT = "_left_out_of_address"
_DRAWN, _EVER_DRAWN = "_choices_drawn", "_choices_ever_drawn"

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


def follow_choice(name: str, options: Sequence[str], key: str, default: str) -> None:
    """As `follow_address`, for a choice whose default the address leaves out.

    On the same page a name that has gone from the address, as by the browser's Back, means the
    default again; another page's address has not yet got it.
    """
    asked = st.query_params.get(name)
    written = st.session_state.get(f"_{name}_written")
    gone = asked is None and written not in (None, default) and same_page()
    if gone:
        st.session_state[key] = default
    elif asked in options and asked != written:
        st.session_state[key] = asked
    elif st.session_state.get(key) not in options:
        st.session_state[key] = default


def write_choice(name: str, value: str, default: str) -> None:
    """After it is drawn: what a link to this view must say; nothing for the default."""
    for noted in (_DRAWN, _EVER_DRAWN):
        st.session_state.setdefault(noted, set()).add(name)
    st.session_state[f"_{name}_written"] = value
    if value != default:
        write_address(name, value)
    elif name in st.query_params:
        del st.query_params[name]


def choose(
    names: Sequence[str], words: Callable[[str], str], default: str, *, key: str, **shown: Any
) -> str:
    """One of several names, shown in words; the address has the name, under the widget's key.

    shown: the arguments of a selectbox.
    """
    follow_choice(key, names, key, default)
    name: str = chosen(st.selectbox(options=names, format_func=words, key=key, **shown))
    write_choice(key, name, default)
    return name


def forget(name: str) -> None:
    """Before a link is followed: the control is as if it had never been drawn."""
    st.session_state.pop(name, None)
    st.session_state.pop(f"_{name}_written", None)


def leave_out_undrawn() -> None:
    """Once all controls are drawn: words of choices that are no longer there leave the address, as
    Streamlit does with the controls that it binds.  What was chosen is kept.
    """
    ever: set[str] = st.session_state.get(_EVER_DRAWN, set())
    for name in ever - st.session_state.get(_DRAWN, set()):
        ever.discard(name)
        st.session_state.pop(f"_{name}_written", None)
        if name in st.query_params:
            del st.query_params[name]


def note_page(page: str) -> None:
    """Before any control is drawn: which page this run is of."""
    st.session_state[_DRAWN] = set()
    st.session_state["_same_page"] = st.session_state.get("_last_page") == page
    st.session_state["_last_page"] = page


def same_page() -> bool:
    """Whether the run before this one was of the same page."""
    return bool(st.session_state.get("_same_page"))


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
