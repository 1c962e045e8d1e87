"""Panels of the Learn page, in lessons and in the playground."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

import streamlit as st

from pages.ui.controls.params import address_text, declared_controls
from pages.ui.learn.parts import Values
from privcore.extras.teaching import Panel
from privcore.extras.teaching.lesson import Lesson
from privcore.extras.teaching.lessons import LESSONS

# Draws the picture from the result, the controls' values and a key for the elements; returns
# the code if it is not the panel's own.
Picture = Callable[[Any, Values, str], str | None]


def picture(panel: Panel) -> Picture:
    """The function `show` of this folder's module with the same name as the engine's module."""
    module = panel.compute.__module__.rpartition(".")[2]
    # A panel needs only its own line in the registry.
    show: Picture = import_module(f"pages.ui.learn.{module}").show
    return show


def controls(panel: Panel, prefix: str) -> dict[str, Any]:
    """Draw the controls; returns their values, which the URL stores under `<prefix>_<name>`."""
    start = prefix.replace("-", "_")
    return declared_controls(panel.parameters, lambda p, _: f"{start}_{p.name}")


def address_of(panel: Panel, prefix: str, values: Values) -> dict[str, str]:
    """The URL parameters that set these controls and the seed to these values."""
    start = prefix.replace("-", "_")
    shown = [p for p in panel.parameters if p.matters(values)]
    return {f"{start}_{p.name}": address_text(p, values[p.name]) for p in shown}


# Shared by all visitors: panels use only their own data.
@lru_cache(maxsize=512)
def _computed(compute: Callable[[Values], Any], items: tuple[tuple[str, Any], ...]) -> Any:
    return compute(dict(items))


def show_pictures(panel: Panel, values: Values, key: str) -> str:
    """Show the charts and figures; returns the code that computes them.

    Raises PrivcoreError for values that the panel's computation refuses.
    """
    result = _computed(panel.compute, tuple(values.items()))
    return picture(panel)(result, values, key) or panel.code(values)


def explain(panel: Panel, code: str) -> None:
    """Show the panel's formula, main message, source and code."""
    st.latex(panel.formula)
    st.markdown(panel.sentence)
    st.markdown(f"Source: {panel.source}.")
    with st.expander("Code for this", icon=":material/code:"):
        st.code(code, language="python")


def lessons_with(panel: str) -> list[tuple[Lesson, int]]:
    """The lessons that use a panel, each with the number of its first task on this panel."""
    uses = {
        lesson.name: next((k for k, t in enumerate(lesson.tasks, 1) if t.panel.name == panel), 0)
        for lesson in LESSONS.values()
    }
    return [(LESSONS[name], number) for name, number in uses.items() if number]
