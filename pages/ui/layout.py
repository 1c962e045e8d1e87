"""Places, tabs, messages and buttons that several pages draw alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.pictures.sheet import FORMS, Form
from pages.ui.texts import plain

_MIME = {
    "csv": "text/csv",
    "html": "text/html",
    "ipynb": "application/x-ipynb+json",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "pdf": "application/pdf",
    "png": "image/png",
    "py": "text/x-python",
    "svg": "image/svg+xml",
}
# Below this width a plot of two variables is unreadable.
LEAST_WIDTH = 290


def wrapping_columns(key: str, count: int, *, least: int) -> list[DeltaGenerator]:
    """Containers of equal width, at least `least` pixels each, that wrap into rows.

    key: the unique key of the outer container, to which the style applies.
    """
    with st.container(key=key, horizontal=True, gap="medium"):
        st.html(
            f"<style>.st-key-{key} {{display: grid !important; grid-template-columns: "
            f"repeat(auto-fit, minmax(min({least}px, 100%), 1fr))}}</style>"
        )
        return [st.container() for _ in range(count)]


def download(
    label: str,
    content: str | bytes | Callable[[], str | bytes],
    name: str,
    key: str,
    *,
    mime: str = "",
    **shown: Any,
) -> None:
    """Draw a button that saves a file; the page is not drawn again.

    content: the file, or a function that makes it after the click. mime: by default, that of the
    ending of the file's name. shown: further arguments of the button.
    """
    kind = mime or _MIME[name.rpartition(".")[2]]
    st.download_button(label, content, name, kind, on_click="ignore", key=key, **shown)


def tabbed(contents: Mapping[str, Callable[[], None]], key: str) -> str:
    """Draw tabs and compute only the open one, so that controls do not wait for closed tabs.

    Returns the name of the open tab, which the URL stores under `key`.

    If a button opens a tab, the tabs must be at the same position in their container in every run.
    Tabs that move are partly redrawn, and the wrong tab may be open.
    """
    tabs = st.tabs(list(contents), key=key, on_change="rerun", bind="query-params")
    opened = {name: tab for name, tab in zip(contents, tabs, strict=True) if tab.open}
    for name, tab in opened.items():
        with tab:
            contents[name]()
    return next(iter(opened))


def picture_buttons(
    make: Callable[[Form], bytes], key: str, label: str, more: Callable[[], None] | None = None
) -> None:
    """Draw a small popover with a button for each file format; files are made on request.

    make: returns the picture of the graphs in a format; more: draws further downloads below.
    """
    with st.popover(label, icon=":material/image:", key=key):
        _buttons("graphs", make, key, FORMS)
        if more is not None:
            more()


def chart_buttons(name: str, make: Callable[[Form], bytes], key: str) -> None:
    """Draw a button for PNG, with SVG and PDF next to it; files are made on request.

    name: file name without an extension; make: returns the picture in a format.
    """
    with st.container(horizontal=True, width="content", gap=None):
        _buttons(name, make, key, ["png"])
        with st.popover("SVG or PDF", key=key):
            _buttons(name, make, key, [form for form in FORMS if form != "png"])


def _buttons(name: str, make: Callable[[Form], bytes], key: str, forms: Collection[Form]) -> None:
    stem = re.sub(r"\W+", "-", name).strip("-")[:60] or "picture"
    for form in forms:
        content = partial(make, form)
        download(form.upper(), content, f"{stem}.{form}", f"{key}-{form}", width="stretch")


def problem(error: Exception | str, place: DeltaGenerator | None = None) -> None:
    """Show an error message as plain text: column names in the message must not act as markup."""
    (place or st).error(plain(str(error)), icon=":material/error:")
