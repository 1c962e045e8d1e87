"""Where things stand on a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

# Below it a plot of two variables cannot be read.
LEAST_WIDTH = 290


def wrapping_columns(key: str, count: int, *, least: int) -> list[DeltaGenerator]:
    """Places of one width, as many side by side as fit at `least` pixels each.

    key: of the container, for its style; unique on the page.
    """
    with st.container(key=key, horizontal=True, gap="medium"):
        st.html(
            f"<style>.st-key-{key} {{display: grid !important; grid-template-columns: "
            f"repeat(auto-fit, minmax(min({least}px, 100%), 1fr))}}</style>"
        )
        return [st.container() for _ in range(count)]


def tabbed(contents: Mapping[str, Callable[[], None]], key: str) -> str:
    """Tabs of which only the open one is made, so that a control need not wait for the others; the
    name of that one, which the address has under `key`.

    Where a button opens one, they must be at the same place of their container in every run: tabs
    that move are drawn anew in parts, and may then lose which of them is to be opened.
    """
    tabs = st.tabs(list(contents), key=key, on_change="rerun", bind="query-params")
    opened = {name: tab for name, tab in zip(contents, tabs, strict=True) if tab.open}
    for name, tab in opened.items():
        with tab:
            contents[name]()
    return next(iter(opened))
