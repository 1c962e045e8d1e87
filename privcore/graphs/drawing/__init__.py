"""How graphs are drawn on a screen, for the pages and for a page to send."""

from __future__ import annotations

from importlib.resources import files

from privcore.graphs.drawing.palette import colours_css
from privcore.graphs.drawing.scene import Pane, scene

__all__ = ["Pane", "graph_css", "graph_script", "scene"]


def graph_script() -> str:
    """The module that draws a scene: it exports `drawGraphs`, and fetches nothing."""
    return files(__name__).joinpath("graph.js").read_text("utf-8")


def graph_css() -> str:
    """The style of what `graph_script` draws, with the colours of both themes."""
    return f"{colours_css()}\n{files(__name__).joinpath('graph.css').read_text('utf-8')}"
