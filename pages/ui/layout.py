"""Where things stand on a page."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

# Below it a plot of two variables cannot be read.
LEAST_WIDTH = 290

Thirds = tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator]


def wrapping_thirds(key: str) -> Thirds:
    """Three columns side by side, or below one another where each would be too narrow.

    key: of the container, for its style; unique on the page.
    """
    place = st.container(key=key)
    with place:
        st.html(
            f"<style>.st-key-{key} [data-testid=stHorizontalBlock] {{flex-wrap: wrap}} "
            f".st-key-{key} [data-testid=stColumn] {{min-width: min({LEAST_WIDTH}px, 100%)}}"
            "</style>"
        )
        return st.columns(3)


def wrapping_columns(key: str, count: int, *, least: int) -> list[DeltaGenerator]:
    """Places of one width, as many side by side as fit at `least` pixels each.

    key: of the container, for its style; unique on the page.
    """
    with st.container(key=key, horizontal=True, gap="medium"):
        st.html(
            f"<style>.st-key-{key} {{display: grid !important; grid-template-columns: "
            f"repeat(auto-fill, minmax(min({least}px, 100%), 1fr))}}</style>"
        )
        return [st.container() for _ in range(count)]
