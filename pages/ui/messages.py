"""Error messages on pages."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.texts import plain


def problem(error: Exception | str, place: DeltaGenerator | None = None) -> None:
    """Show an error message as plain text: column names in the message must not act as markup."""
    (place or st).error(plain(str(error)), icon=":material/error:")
