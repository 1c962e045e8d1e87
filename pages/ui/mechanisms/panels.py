"""Panels of Mechanisms as a page shows them; Lessons embeds the same ones."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import streamlit as st

from pages.ui.controls.params import declared_controls
from pages.ui.mechanisms.parts import Values
from privcore.teaching import Panel

# From the result, the values of the controls and a key for the elements to the picture; it gives
# the code back where that is not the panel's own.
Picture = Callable[[Any, Values, str], str | None]


def picture(panel: Panel) -> Picture:
    """`show` of the module here that is called as the panel's own in `privcore.teaching`."""
    module = panel.compute.__module__.rpartition(".")[2]
    # A panel needs no other line than its own in the registry.
    show: Picture = import_module(f"pages.ui.mechanisms.{module}").show
    return show


def controls(panel: Panel, prefix: str) -> dict[str, Any]:
    """The live controls; their values stand in the address under prefix_name."""
    start = prefix.replace("-", "_")
    return declared_controls(panel.parameters, lambda p, _: f"{start}_{p.name}")


def show_panel(panel: Panel, values: Values, key: str) -> None:
    """Pictures, formula, sentence, source and code.  Raises PrivcoreError."""
    code = picture(panel)(panel.compute(values), values, key) or panel.code(values)
    st.latex(panel.formula)
    st.markdown(panel.sentence)
    st.caption(f"Source: {panel.source}.")
    with st.expander("Code for this", icon=":material/code:"):
        st.code(code, language="python")
