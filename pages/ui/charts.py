"""How every page shows a Plotly figure, and how figures name things."""

from __future__ import annotations

import html
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages.ui.theme import PALETTES, current
from privcore.text import short


def show(
    figure: go.Figure, *, key: str, alt: str, selectable: bool = False
) -> list[dict[str, Any]]:
    """Draw a figure with the theme's colours and no controls but the picture's download.

    selectable: whether a click on a point starts the page anew; then the points clicked on.
    """
    palette = PALETTES[current()]
    figure.update_layout(
        paper_bgcolor=palette.background,
        plot_bgcolor=palette.background,
        font_color=palette.text,
        margin={"l": 10, "r": 10, "t": 40, "b": 10},
    )
    config = {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "svg", "filename": key},
    }
    if not selectable:
        st.plotly_chart(figure, key=key, alt=alt, theme="streamlit", config=config)
        return []
    event = st.plotly_chart(
        figure,
        key=key,
        alt=alt,
        theme="streamlit",
        config=config,
        on_select="rerun",
        selection_mode="points",
    )
    return list(event["selection"]["points"])


def label(name: str, limit: int = 24) -> str:
    """A name for an axis: cut, and with nothing that Plotly would read as markup."""
    return html.escape(short(name, limit))
