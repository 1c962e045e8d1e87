"""The theme that the viewer sees; its colours are those of the engine's drawings."""

from __future__ import annotations

import streamlit as st

from privcore.graphs.drawing.palette import EDGES, PALETTES, EdgeStyle, Palette, ThemeName

__all__ = ["EDGES", "PALETTES", "EdgeStyle", "Palette", "ThemeName", "current"]


def current() -> ThemeName:
    """The theme that the viewer sees now; light where the browser has not said."""
    return "dark" if st.context.theme.type == "dark" else "light"
