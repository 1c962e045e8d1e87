"""Where pictures are saved."""

from __future__ import annotations

import re
from collections.abc import Callable
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
    """A small popover with a button for each form of file; a file is made when it is requested.

    name: of the files, without an ending; make: the picture in a form; more: what else there is
    to save, drawn below.
    """
    stem = re.sub(r"\W+", "-", name).strip("-")[:60] or "picture"
    with st.popover(label, icon=":material/image:", key=key):
        for form, (title, mime) in FORMS.items():
            st.download_button(
                title,
                partial(make, form),
                f"{stem}.{form}",
                mime,
                on_click="ignore",
                key=f"{key}-{form}",
                width="stretch",
            )
        if more is not None:
            more()
