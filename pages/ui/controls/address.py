"""Choices that the URL stores by name and the page shows by title.

A widget that Streamlit binds to the URL stores the displayed text, so links would break when the
wording changes.
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
    """Return the value of a required control, which is never None.

    The control's key is set before the control is drawn. Streamlit's type hints allow None anyway.
    """
    assert value is not None
    return value


def news(name: str, default: str) -> str | None:
    """Return a URL parameter's value if the page itself did not write this value; else None.

    A new value comes from a link or from a step in the browser's history. After such a step, a
    missing parameter means the default, as for widgets that Streamlit binds to the URL.
    """
    in_url = st.query_params.get(name, default if stepping() else None)
    return None if in_url == st.session_state.get(f"_{name}_written") else in_url


def write(name: str, value: str, default: str) -> None:
    """Write a choice to the URL; the default is left out."""
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
    """Choose one of several names, shown as titles; the URL stores the name under the widget's key.

    Returns the chosen name. The widget holds the choice, and the URL is written from the widget. A
    new value in the URL changes the widget before it is drawn. always: whether the default is
    written to the URL too. shown: further arguments of the widget.
    """
    in_url = news(key, default)
    if in_url in names:
        st.session_state[key] = in_url
    elif st.session_state.get(key) not in names:
        st.session_state[key] = default
    name: str = chosen(widget(options=names, format_func=words, key=key, **shown))
    write(key, name, "" if always else default)
    return name


def text_of(value: object) -> str:
    """The value of a control as the URL has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value)


def stepping() -> bool:
    """Whether this run was caused by a step back or forward in the browser's history."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def forget(name: str) -> None:
    """Reset a control as if it had never been drawn; called before a link is followed."""
    st.session_state.pop(name, None)
    st.session_state.pop(f"_{name}_written", None)


def leave_out_undrawn() -> None:
    """Remove the URL parameters of controls that are no longer shown, but keep the choices.

    Called after all controls are drawn. Streamlit itself does the same for the controls that it
    binds to the URL.
    """
    ever: set[str] = st.session_state.get(_EVER_DRAWN, set())
    for name in ever - st.session_state.pop(_DRAWN, set()):
        ever.discard(name)
        st.session_state.pop(f"_{name}_written", None)
        if name in st.query_params:
            del st.query_params[name]


def leave_out_infinite() -> None:
    """Remove infinite values, which crash integer fields, from the URL before widgets are drawn.

    Streamlit drops other invalid values from the URL.
    """
    left_out = [n for n, text in st.query_params.to_dict().items() if _is_infinite(text)]
    for name in left_out:
        del st.query_params[name]
    if left_out:
        # Fields would still be filled from the values at the start of the script.
        st.session_state[_LEFT_OUT] = left_out
        st.rerun()
    for name in st.session_state.pop(_LEFT_OUT, []):
        st.warning(f"Ignored {plain(name)} in the URL, because its value is not a finite number.")


def _is_infinite(text: str) -> bool:
    try:
        return math.isinf(float(text))
    except ValueError:
        return False
