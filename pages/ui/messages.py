"""Error messages on pages."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.texts import plain


def problem(error: Exception | str, place: DeltaGenerator | None = None) -> None:
    """One sentence as plain text, without markup: it may contain a user's column names."""
    (place or st).error(plain(str(error)), icon=":material/error:")
