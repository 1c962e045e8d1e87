"""Controls for saving pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import partial

import streamlit as st

from pages.ui.pictures.sheet import FORMS, Form


def picture_buttons(
    name: str,
    make: Callable[[Form], bytes],
    key: str,
    *,
    label: str = "Save picture",
    more: Callable[[], None] | None = None,
) -> None:
    """Draw a small popover with a button for each file format; files are made on request.

    name: file name without an extension; make: returns the picture in a format; more: draws further
    downloads below.
    """
    with st.popover(label, icon=":material/image:", key=key):
        _buttons(name, make, key, FORMS)
        if more is not None:
            more()


def chart_buttons(name: str, make: Callable[[Form], bytes], key: str) -> None:
    """Draw a button for PNG, with SVG and PDF next to it; files are made on request.

    name, make: as in `picture_buttons`.
    """
    with st.container(horizontal=True, width="content", gap=None):
        _buttons(name, make, key, ["png"])
        with st.popover("SVG or PDF", key=key):
            _buttons(name, make, key, [form for form in FORMS if form != "png"])


def _buttons(name: str, make: Callable[[Form], bytes], key: str, forms: Collection[Form]) -> None:
    stem = re.sub(r"\W+", "-", name).strip("-")[:60] or "picture"
    for form in forms:
        title, mime = FORMS[form]
        st.download_button(
            title,
            partial(make, form),
            f"{stem}.{form}",
            mime,
            on_click="ignore",
            key=f"{key}-{form}",
            width="stretch",
        )
