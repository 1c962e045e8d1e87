"""Draws graphs: scripts and styles for pages and standalone HTML, and static SVG."""

from __future__ import annotations

from importlib.resources import files

from privcore.display.drawing.picture import graph_svg
from privcore.display.drawing.scene import Pane, colours_css, merged, scene

__all__ = [
    "Pane",
    "colours_css",
    "curve_css",
    "curve_script",
    "graph_css",
    "graph_script",
    "graph_svg",
    "merged",
    "scene",
]


def graph_script() -> str:
    """The script that draws a scene; it exports `drawGraphs` and loads no other script."""
    return _text("graph.js")


def graph_css() -> str:
    """The style sheet for `graph_script`, with the colours of both themes."""
    return f"{colours_css()}\n{_text('graph.css')}"


def curve_script() -> str:
    """The script that plots quality against ε; it exports `drawCurve` and loads no other script."""
    return _text("curve.js")


def curve_css() -> str:
    """The style sheet for `curve_script`, in colours that the surrounding page defines."""
    return _text("curve.css")


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text("utf-8")
