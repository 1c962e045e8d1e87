"""The user's theme, with the same colours as in the engine's drawings."""

from __future__ import annotations

import streamlit as st

from privcore.display.drawing.scene import EDGES, PALETTES, EdgeStyle, Palette, ThemeName

__all__ = ["EDGES", "PALETTES", "EdgeStyle", "Palette", "ThemeName", "current"]


def current() -> ThemeName:
    """The user's current theme; light if the browser has not reported one."""
    return "dark" if st.context.theme.type == "dark" else "light"
