"""Graphs on a page: one component that draws all of them, and the user's view (focus, zoom)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui.controls.address import news, write
from pages.ui.theme import current
from privcore.display.drawing import graph_css, graph_script

# What else a screen shows is --graph-around high; without it, `graph_css` says.
_HEIGHTS = """
@media (min-width: 641px) { .cv:not(.large) { --pane: var(--graph-height,
  clamp(250px, calc(100vh - var(--graph-around, 545px)), 1000px)); } }
"""
_drawn = st.components.v2.component(
    "causalveil_graphs",
    html='<div class="root"></div>\n<!-- drawn by graph.js -->\n',
    css=graph_css() + _HEIGHTS,
    js=graph_script() + Path(__file__).with_name("component.js").read_text("utf-8"),
)
# The view as the URL has it: defaults and alternatives.
_WORDS = {
    "focus": ("", re.compile(r"\d{1,5}(-([23]|parents|to-\d{1,5}))?")),
    "view": ("graph", re.compile("matrix|drag")),
    "links": ("", re.compile("all")),
}
# Of the networks to drag, in pixels.  A height that follows the content would need a script of
# Streamlit's within their page, which runs its own alone.
_HEIGHT = 600
# In the drawing, the view is called `as`, which is no name in Python.
_DRAWN_AS = {"focus": "focus", "view": "as", "links": "links"}


def show_graphs(
    scene: Mapping[str, Any],
    *,
    key: str,
    of: str = "",
    focus: str = "",
    run: str = "",
    networks: Callable[[], str] | None = None,
) -> None:
    """Draw a scene of `privcore.display.drawing`.

    of: a name for the content of the graphs. With a name, the URL stores the user's view, and a new
    name resets the focus. Without a name, only the browser stores the view. focus: the initial
    focus of a view without a name. run: the run that the graphs show; its name is an attribute of
    the drawing, so that a program can wait for it. networks: makes the page of the view to drag,
    once that view is opened; without it the view is not offered.
    """

    def looked() -> None:
        view = st.session_state[key].view
        if of and isinstance(view, Mapping):
            for name, drawn in _DRAWN_AS.items():
                _set(name, view.get(drawn))

    # A change of view does not rerun the page.
    @st.fragment
    def part() -> None:
        view = _view(of) if of else {"focus": focus}
        _drawn(
            key=key,
            data={
                "scene": {**scene, "theme": current(), "drag": networks is not None},
                "view": view,
                "run": run,
            },
            on_view_change=looked,
        )
        if networks is not None and view.get("as") == "drag":
            st.iframe(networks(), height=_HEIGHT, alt="Networks to drag")

    part()


def _set(name: str, text: object) -> None:
    usual, others = _WORDS[name]
    fits = isinstance(text, str) and others.fullmatch(text)
    st.session_state[f"_look_{name}"] = text if fits else usual


def _view(of: str) -> dict[str, str]:
    """The view, stored in the session; a link or a step in the browser's history changes it."""
    if st.session_state.get("_look_of", of) != of:
        _set("focus", "")
    st.session_state["_look_of"] = of
    for name, (usual, _) in _WORDS.items():
        in_url = news(name, usual)
        if in_url is not None or f"_look_{name}" not in st.session_state:
            _set(name, in_url)
        write(name, st.session_state[f"_look_{name}"], usual)
    return {drawn: st.session_state[f"_look_{name}"] for name, drawn in _DRAWN_AS.items()}
