"""A choice that stands in the address under its name, where a title is what is shown.

A widget bound to the address by Streamlit puts there what it shows, so that a link would change
with the wording.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

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


def news(name: str, default: str) -> str | None:
    """What the address says under a name that no run has written there; None for nothing new.

    That is a link, or a step in the browser's history: there a name that is missing means the
    default, as Streamlit has it for what it binds.
    """
    asked = st.query_params.get(name, default if stepping() else None)
    return None if asked == st.session_state.get(f"_{name}_written") else asked


def write(name: str, value: str, default: str) -> None:
    """What a link to this view must say; nothing for the default."""
    for noted in (_DRAWN, _EVER_DRAWN):
        st.session_state.setdefault(noted, set()).add(name)
    st.session_state[f"_{name}_written"] = value
    if value == default:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value


def choose(
    names: Sequence[str],
    words: Callable[[str], str],
    default: str,
    *,
    key: str,
    widget: Callable[..., Any] = st.selectbox,
    always: bool = False,
    **shown: Any,
) -> str:
    """One of several names, shown in words; the address has the name, under the widget's key.

    The widget holds the choice, and the address is written from it: only what is new there is put
    into the widget, before it is drawn.  always: the default is in the address too.  shown: further
    arguments of the widget.
    """
    asked = news(key, default)
    if asked in names:
        st.session_state[key] = asked
    elif st.session_state.get(key) not in names:
        st.session_state[key] = default
    name: str = chosen(widget(options=names, format_func=words, key=key, **shown))
    write(key, name, "" if always else default)
    return name


def stepping() -> bool:
    """Whether this run is a step back or forward in the browser's history."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def forget(name: str) -> None:
    """Before a link is followed: the control is as if it had never been drawn."""
    st.session_state.pop(name, None)
    st.session_state.pop(f"_{name}_written", None)


def leave_out_undrawn() -> None:
    """Once all controls are drawn: words of choices that are no longer there leave the address, as
    Streamlit does with the controls that it binds.  What was chosen is kept.
    """
    ever: set[str] = st.session_state.get(_EVER_DRAWN, set())
    for name in ever - st.session_state.pop(_DRAWN, set()):
        ever.discard(name)
        st.session_state.pop(f"_{name}_written", None)
        if name in st.query_params:
            del st.query_params[name]


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
