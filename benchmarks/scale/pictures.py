"""Growth drawn as the pages draw."""

from __future__ import annotations

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from benchmarks.eight_networks import save
from pages.ui.theme import PALETTES

# Title across, title upwards, and points by the name of their line.
Panel = tuple[str, str, dict[str, list[tuple[float, float]]]]


def draw(panels: list[Panel], out: str, *, log: tuple[str, ...] = ()) -> None:
    """The panels side by side, as the pages draw; log: titles of logarithmic axes."""
    figure = make_subplots(rows=1, cols=len(panels))
    palette = PALETTES["light"]
    for column, (across, up, series) in enumerate(panels, start=1):
        for number, (name, points) in enumerate(series.items()):
            figure.add_trace(
                go.Scatter(
                    x=[x for x, _ in points],
                    y=[y for _, y in points],
                    name=name,
                    mode="lines+markers",
                    line={"color": palette.series[number % len(palette.series)]},
                    legend=f"legend{column}" if column > 1 else "legend",
                ),
                row=1,
                col=column,
            )
        kinds = {name: "log" if name in log else "linear" for name in (across, up)}
        figure.update_xaxes(title=across, type=kinds[across], row=1, col=column)
        # From 0 on; a logarithm has none.
        figure.update_yaxes(title=up, type=kinds[up], rangemode="tozero", row=1, col=column)
        place = {"x": (column - 1) / len(panels), "y": 1.12, "orientation": "h"}
        figure.update_layout({f"legend{column}" if column > 1 else "legend": place})
    save(figure, out)
