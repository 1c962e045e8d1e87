"""How graphs are drawn on a screen, for the pages and for a page to send."""

from __future__ import annotations

from importlib.resources import files

from privcore.graphs.drawing.palette import colours_css
from privcore.graphs.drawing.scene import Pane, scene

__all__ = [
    "Pane",
    "colours_css",
    "curve_css",
    "curve_script",
    "graph_css",
    "graph_script",
    "scene",
]


def graph_script() -> str:
    """The module that draws a scene: it exports `drawGraphs`, and fetches nothing."""
    return _text("graph.js")


def graph_css() -> str:
    """The style of what `graph_script` draws, with the colours of both themes."""
    return f"{colours_css()}\n{_text('graph.css')}"


def curve_script() -> str:
    """The module that draws quality over ε: it exports `drawCurve`, and fetches nothing."""
    return _text("curve.js")


def curve_css() -> str:
    """The style of what `curve_script` draws, in colours that its surroundings name."""
    return _text("curve.css")


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text("utf-8")
