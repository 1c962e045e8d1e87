"""Shared parts of the panels' charts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from pages.ui import charts
from pages.ui.theme import PALETTES, current

LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "dot", "dash")
HOVER = "%{x:.3g}: %{y:.3g}<extra>%{fullData.name}</extra>"
Values = Mapping[str, Any]


# Pixels: all charts of a panel fit on a screen of 1280 × 800 next to the controls.
WHOLE = 420
HALF = WHOLE // 2
# Pixels at the right that keep a long legend away from the save button.
CLEAR = 95


def draw(figure: go.Figure, key: str, alt: str, height: int = WHOLE) -> None:
    """Draw one figure of at most this height, in pixels."""
    figure.update_layout(height=min(height, figure.layout.height or height))
    charts.show(figure, key=key, alt=alt)


def log_axis(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis from low to high with the ticks 1, 2, 5 of each decade, or powers of ten.

    Both limits must be positive. Returns the axis as arguments for Plotly.
    """
    start, end = math.log10(low), math.log10(high)
    steps = (1, 2, 5) if end - start < 3.5 else (1,)
    ticks = [m * 10.0**d for d in range(math.floor(start), math.ceil(end) + 1) for m in steps]
    return {
        "type": "log",
        "range": [start, end],
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
    }


def level_line(figure: go.Figure, y: float, text: str) -> None:
    """Draw a dashed horizontal line with a name."""
    palette = PALETTES[current()]
    figure.add_hline(
        y=y,
        line={"color": palette.text, "width": 1.5, "dash": "dash"},
        annotation_text=text,
        annotation_position="top right",
        annotation_font_color=palette.text,
    )


def upright(figure: go.Figure, x: float, text: str, position: str = "top right") -> None:
    """Draw a dotted vertical line with a name."""
    palette = PALETTES[current()]
    figure.add_vline(
        x=x,
        line={"color": palette.text, "width": 1.5, "dash": "dot"},
        annotation_text=text,
        annotation_position=position,
        annotation_font_color=palette.text,
    )
