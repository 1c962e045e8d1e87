"""Layout helpers for pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

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
