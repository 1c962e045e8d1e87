"""What the pictures of all panels share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages.ui import charts

Values = Mapping[str, Any]


def side_by_side(left: Callable[[], object], right: Callable[[], object]) -> None:
    """Two parts of a page in columns of equal width."""
    for place, part in zip(st.columns(2), (left, right), strict=True):
        with place:
            part()


def draw(figure: go.Figure, key: str, alt: str) -> None:
    """One figure."""
    charts.show(figure, key=key, alt=alt)


def metric(row: Any, title: str, value: str, help_text: str) -> None:
    """One figure in words, in a row of them."""
    row.metric(title, value, border=True, help=help_text)
