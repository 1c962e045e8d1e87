"""How pages say that something went wrong."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.texts import plain


def problem(error: Exception | str, place: DeltaGenerator | None = None) -> None:
    """One sentence, with nothing in it read as markup: it may name a user's columns."""
    (place or st).error(plain(str(error)), icon=":material/error:")
