"""Where things stand on a page."""

from __future__ import annotations

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
