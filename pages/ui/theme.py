"""The viewer's theme; its colours are the same as in the engine's drawings."""

from __future__ import annotations

import streamlit as st

from privcore.graphs.drawing.palette import EDGES, PALETTES, EdgeStyle, Palette, ThemeName

__all__ = ["EDGES", "PALETTES", "EdgeStyle", "Palette", "ThemeName", "current"]


def current() -> ThemeName:
    """The viewer's current theme; light if the browser has not reported it."""
    return "dark" if st.context.theme.type == "dark" else "light"
