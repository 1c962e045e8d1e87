"""The pages' Plotly figures as pictures: matplotlib draws the trace types that the pages use.

Other trace types raise an error; a test draws every chart of the pages.
"""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from pages.ui.pictures.sheet import MARGIN, PALETTE, SIZE, WIDTH, Form, picture, text_width
from pages.ui.theme import EDGES, PALETTES
from privcore.text import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

# In line widths, as in Plotly.
_DASHES = {
    "dot": (1, 1),
    "dash": (3, 3),
    "longdash": (5, 5),
    "dashdot": (3, 1, 1, 1),
    "longdashdot": (5, 2, 1, 2),
}
_MARKERS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "triangle-down": "v",
    "cross": "P",
    "x": "X",
    "x-thin": "x",
    "star": "*",
    "pentagon": "p",
    "hexagon": "H",
    "bowtie": "8",
    "hourglass": "d",
    "line-ns": "|",
    "line-ew": "_",
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SMALL = 8.0


def chart_picture(figure: go.Figure, *, title: str, lines: Sequence[str], form: Form) -> bytes:
    """A picture of a chart in light colours, regardless of the current theme.

    title, lines: plain text; lines are the settings and the guarantee.

    Raises ValueError for a trace type that no page uses.
    """
    chart = _Chart(figure, title)
    return picture(chart.draw, title=title, lines=lines, form=form, texts=chart.texts())


class _Axis:
    """One axis: its layout, whether it is logarithmic, and its categories."""

    def __init__(self, layout: Any, values: Iterable[Any]) -> None:
        self.layout = layout
        seen = [v for v in values if v is not None]
        self.log = layout.type == "log"
        named = layout.type is None and any(isinstance(v, str) for v in seen)
        self.categories: list[Any] | None = None
        if layout.type == "category" or named:
            self.categories = list(dict.fromkeys(seen))

    def place(self, values: Any) -> NDArray[np.float64]:
        """Convert values to floats: a category to its number, and None to NaN."""
        if self.categories is not None:
            return np.array(
                [
                    float(v) if isinstance(v, float) else float(self.categories.index(v))
                    for v in values
                ]
            )
        return np.array([math.nan if v is None else float(v) for v in values])


class _Chart:
    def __init__(self, figure: go.Figure, title: str) -> None:
        self.figure, self.title = figure, title
        dark = figure.layout.paper_bgcolor == PALETTES["dark"].background
        self.colours = _light_colours() if dark else {}
        for trace in figure.data:
            if trace.type not in ("scatter", "bar", "heatmap"):
                raise ValueError(
                    f"Charts of type {trace.type} cannot be saved as pictures yet; add the type "
                    "to pages/ui/pictures/plots.py."
                )
        self.legend: list[tuple[str, Any]] = []
        self.scale = 1.0

    def texts(self) -> list[str]:
        """Every text that the figure may contain."""
        written = [str(self.figure.layout)]
        for trace in self.figure.data:
            written.append(trace.name or "")
            for values in (trace.x, trace.y):
                written += [v for v in (() if values is None else values) if isinstance(v, str)]
        return written

    def draw(self, body: SubFigure) -> None:
        height = float(body.bbox.height / body.dpi * 72)
        self.scale = min(1.6, max(0.6, 1.3 * height / (self.figure.layout.height or 450)))
        cells = self._cells(body)
        for name, (axes, x, y) in cells.items():
            traces = [t for t in self.figure.data if _cell(t) == name]
            self._bars([t for t in traces if t.type == "bar"], axes, x, y)
            scattered = [t for t in traces if t.type == "scatter"]
            for k, trace in enumerate(scattered):
                moved = 0.0
                if self.figure.layout.scattermode == "group":
                    moved = (k - (len(scattered) - 1) / 2) * 0.8 / len(scattered)
                self._scatter(trace, axes, x, y, moved)
            for trace in traces:
                if trace.type == "heatmap":
                    self._heatmap(trace, body, axes, x, y)
        for axes, x, y in cells.values():
            self._limits(axes, x, y)
        self._shapes(cells)
        self._notes(cells)
        heading = _words(self.figure.layout.title.text or "")
        if heading and heading != self.title and len(cells) == 1:
            next(iter(cells.values()))[0].set_title(heading)
        self._legend(body)
        across = len({round(axes.get_position().x0, 3) for axes, _, _ in cells.values()})
        for axes, x, y in cells.values():
            self._ticks(axes, x, (WIDTH - 120 * across) / across, "x")
            self._ticks(axes, y, 0.85 * height / -(-len(cells) // across), "y")

    def _cells(self, body: SubFigure) -> dict[tuple[str, str], tuple[Axes, _Axis, _Axis]]:
        """matplotlib axes for every pair of Plotly axes that a trace uses, at the same place."""
        layout = self.figure.layout
        names = list(dict.fromkeys(_cell(trace) for trace in self.figure.data)) or [("x", "y")]

        def held(which: str, name: str) -> _Axis:
            values = [
                value
                for trace in self.figure.data
                if (getattr(trace, f"{which}axis") or which) == name
                for value in (() if getattr(trace, which) is None else getattr(trace, which))
            ]
            return _Axis(layout[which + "axis" + name[1:]], values)

        def start(axis: _Axis) -> float:
            return float((axis.layout.domain or (0, 1))[0])

        axes = {name: (held("x", name[0]), held("y", name[1])) for name in names}
        columns = sorted({start(x) for x, _ in axes.values()})
        rows = sorted({start(y) for _, y in axes.values()}, reverse=True)
        grid = body.add_gridspec(len(rows), len(columns), hspace=0.08, wspace=0.04)
        cells: dict[tuple[str, str], tuple[Axes, _Axis, _Axis]] = {}
        for (x_name, y_name), (x, y) in axes.items():
            below = (x_name, y.layout.overlaying or "")
            if below in cells:
                place = cells[below][0].twinx()
                place.spines["right"].set_visible(True)
                place.grid(False)
            else:
                place = body.add_subplot(grid[rows.index(start(y)), columns.index(start(x))])
            cells[x_name, y_name] = (place, x, y)
        return cells

    def _bars(self, traces: Sequence[Any], axes: Axes, x: _Axis, y: _Axis) -> None:
        mode = self.figure.layout.barmode or "group"
        bases: dict[float, float] = {}
        for k, trace in enumerate(traces):
            flat = trace.orientation == "h"
            along, amount = (y, x) if flat else (x, y)
            at = along.place(trace.y if flat else trace.x)
            size = amount.place(trace.x if flat else trace.y)
            step = float(np.diff(np.unique(at)).min()) if len(np.unique(at)) > 1 else 1.0
            wide: Any = 0.8 * step if trace.width is None else np.array(trace.width, dtype=float)
            if mode == "group" and len(traces) > 1 and trace.width is None:
                wide = 0.8 * step / len(traces)
                at = at + (k - (len(traces) - 1) / 2) * wide
            base = np.zeros(len(at))
            if mode in ("stack", "relative"):
                base = np.array([bases.get(place, 0.0) for place in at])
                bases |= dict(zip(at, base + np.nan_to_num(size), strict=True))
            marker = trace.marker
            pattern = marker.pattern.shape or ""
            edge = marker.pattern.fgcolor if pattern else marker.line.color
            look: dict[str, Any] = {
                "color": self._colours(marker.color, k),
                "alpha": trace.opacity,
                "hatch": 2 * pattern,
                "edgecolor": self._colour(edge) if edge else "none",
                "linewidth": 0.0 if pattern else self.scale * (marker.line.width or 0),
            }
            look["facecolor"] = look.pop("color")
            draw = axes.barh if flat else axes.bar
            drawn = draw(at, size, wide, base, **look)
            self._whiskers(trace, axes, at if not flat else base + size, size if not flat else at)
            if self._named(trace, len(self.figure.data)):
                self.legend.append((_words(trace.name), drawn[0]))

    def _scatter(self, trace: Any, axes: Axes, x: _Axis, y: _Axis, moved: float) -> None:
        number = list(self.figure.data).index(trace)
        at, up = x.place(_values(trace.x)), y.place(_values(trace.y))
        if moved and y.categories is not None:
            up = up + moved
        elif moved and x.categories is not None:
            at = at + moved
        colour = self._colour(trace.line.color) or self._colour(_first(trace.marker.color))
        colour = colour or PALETTE.series[number % len(PALETTE.series)]
        if trace.fill == "toself":
            shade = self._colour(trace.fillcolor) or colour
            axes.fill(at, up, color=shade, alpha=trace.opacity, linewidth=0)
            return
        steps = {"hvh": "steps-mid", "hv": "steps-post", "vh": "steps-pre"}.get(trace.line.shape)
        if trace.fill == "tozeroy":
            step: Any = steps.removeprefix("steps-") if steps else None
            axes.fill_between(at, up, color=colour, alpha=0.3, linewidth=0, step=step)
        mode = trace.mode or "lines"
        look: dict[str, Any] = {"color": colour, "alpha": trace.opacity, "linestyle": "none"}
        if "lines" in mode:
            dash = _DASHES.get(trace.line.dash or "solid")
            width = self.scale * (2 if trace.line.width is None else trace.line.width)
            look |= {"linestyle": (0, dash) if dash else "-", "linewidth": width}
            look |= {"drawstyle": steps or "default"}
        if "markers" in mode:
            look |= self._marker(trace.marker, colour)
        (line,) = axes.plot(at, up, **look)
        self._whiskers(trace, axes, at, up)
        if "text" in mode:
            size = max(12.0, self.scale * (trace.textfont.size or 12))
            ink = self._colour(_first(trace.textfont.color)) or PALETTE.text
            for place, height, text in zip(at, up, trace.text, strict=True):
                axes.text(
                    place, height, _words(text), size=size, color=ink, ha="center", va="center"
                )
        if self._named(trace, len(self.figure.data)):
            self.legend.append((_words(trace.name), line))

    def _marker(self, marker: Any, colour: str) -> dict[str, Any]:
        symbol = _first(marker.symbol) or "circle"
        name, hollow = str(symbol).removesuffix("-open"), str(symbol).endswith("-open")
        if name not in _MARKERS:
            raise ValueError(
                f"There is no marker for {symbol!r} yet; add it to pages/ui/pictures/plots.py."
            )
        fill = self._colour(_first(marker.color)) or colour
        edge = self._colour(marker.line.color) or fill
        width = self.scale * (marker.line.width or (2 if hollow else 0))
        return {
            "marker": _MARKERS[name],
            "markersize": self.scale * float(_first(marker.size) or 6),
            "markerfacecolor": "none" if hollow else fill,
            "markeredgecolor": edge,
            "markeredgewidth": max(width, 1.5 if _MARKERS[name] in "x|_" else 0),
            "alpha": marker.opacity,
        }

    def _whiskers(self, trace: Any, axes: Axes, at: Any, up: Any) -> None:
        for which in ("x", "y"):
            error = trace[f"error_{which}"]
            if error.array is None:
                continue
            high = np.array(error.array, dtype=float)
            low = high if error.arrayminus is None else np.array(error.arrayminus, dtype=float)
            colour = self._colour(error.color) or self._colour(_first(trace.marker.color))
            ends = np.maximum([low, high], 0)
            axes.errorbar(
                at,
                up,
                xerr=ends if which == "x" else None,
                yerr=ends if which == "y" else None,
                fmt="none",
                ecolor=colour or PALETTE.text,
                elinewidth=self.scale * (error.thickness or 2),
                capsize=self.scale * (error.width or 4),
                capthick=self.scale * (error.thickness or 2),
            )

    def _heatmap(self, trace: Any, body: SubFigure, axes: Axes, x: _Axis, y: _Axis) -> None:
        from matplotlib.colors import LinearSegmentedColormap, to_rgb

        cells = np.array([_numbers(row) for row in trace.z])
        stops = [(float(at), self._colour(colour)) for at, colour in trace.colorscale]
        colours = LinearSegmentedColormap.from_list("", stops)
        low = np.nanmin(cells) if trace.zmin is None else trace.zmin
        high = np.nanmax(cells) if trace.zmax is None else trace.zmax
        across, down = x.place(_values(trace.x)), y.place(_values(trace.y))
        mesh = axes.pcolormesh(
            across, down, cells, cmap=colours, vmin=low, vmax=high, shading="nearest", linewidth=0
        )
        mesh.set_rasterized(False)
        axes.grid(False)
        bar = body.colorbar(mesh, ax=axes, pad=0.01)
        bar.outline.set_visible(False)
        bar.set_label(_words(trace.colorbar.title.text or ""))
        bar.ax.yaxis.set_major_formatter(_number)
        if trace.text is None:
            return
        wide, high_cell = (
            0.8 * WIDTH / len(across),
            0.85 * float(body.bbox.height / body.dpi * 72) / len(down),
        )
        words = [[_words(text) for text in row] for row in trace.text]
        longest = max(text_width(text, SIZE) for row in words for text in row) or 1.0
        size = max(_SMALL, min(SIZE, 0.75 * high_cell, SIZE * 0.85 * wide / longest))
        own = self._colour(_first(trace.textfont.color))
        for row, up, values in zip(words, down, cells, strict=True):
            for text, at, value in zip(row, across, values, strict=True):
                share = (value - low) / (high - low) if high > low else 0.5
                light = sum(to_rgb(colours(share))) > 1.5
                ink = own or (PALETTE.text if light else "white")
                axes.text(at, up, text, size=size, color=ink, ha="center", va="center")

    def _limits(self, axes: Axes, x: _Axis, y: _Axis) -> None:
        for which, axis in (("x", x), ("y", y)):
            shown = axes.xaxis if which == "x" else axes.yaxis
            setting = axes.set_xlim if which == "x" else axes.set_ylim
            lay = axis.layout
            if axis.log:
                (axes.set_xscale if which == "x" else axes.set_yscale)("log")
            if lay.range is not None:
                low, high = (float(v) for v in lay.range)
                setting(*((10**low, 10**high) if axis.log else (low, high)))
            elif axis.categories is not None:
                setting(-0.5, len(axis.categories) - 0.5)
            elif lay.rangemode == "tozero" and not axis.log:
                low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
                setting(min(low, 0) if shown.get_data_interval()[0] < 0 else 0, high)
            if lay.autorange == "reversed":
                shown.set_inverted(True)
            text = _words(lay.title.text or "")
            shown.set_label_text("\n".join(textwrap.wrap(text, 90 if which == "x" else 34)))
            if lay.visible is False:
                shown.set_visible(False)
                axes.grid(False, axis=which)  # type: ignore[arg-type]
                for side in ("bottom", "top") if which == "x" else ("left", "right"):
                    axes.spines[side].set_visible(False)

    def _ticks(self, axes: Axes, axis: _Axis, room: float, which: str) -> None:
        """Draw the figure's tick marks in plain numbers, and leave out marks that do not fit."""
        from matplotlib.ticker import LogLocator, MaxNLocator, MultipleLocator, NullFormatter

        shown = axes.xaxis if which == "x" else axes.yaxis
        lay = axis.layout
        low, high = sorted(axes.get_xlim() if which == "x" else axes.get_ylim())
        if axis.categories is not None:
            names = [_words(name) for name in axis.categories]
            shown.set_ticks(list(range(len(names))), names)
            axes.grid(False, axis=which)  # type: ignore[arg-type]
            each = room / max(len(names), 1)
            size = SIZE if which == "x" else max(_SMALL, min(SIZE, each / 1.15))
            if which == "x" and max((text_width(n, SIZE) for n in names), default=0) > 0.92 * each:
                slanted = each > 2.2 * SIZE
                size = SIZE if slanted else max(_SMALL, min(SIZE, each / 1.2))
                axes.tick_params(axis="x", rotation=35 if slanted else 90)
                for mark in shown.get_ticklabels():
                    mark.set(
                        ha="right" if slanted else "center",
                        rotation_mode="anchor" if slanted else "default",
                    )
            axes.tick_params(axis=which, labelsize=size, length=0)  # type: ignore[arg-type]
            return
        if axis.log:
            shown.set_minor_formatter(NullFormatter())
            few = lay.dtick == "D2" or math.log10(high / low) < 1.5
            shown.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
        if lay.tickvals is not None:
            values = [float(v) for v in lay.tickvals]
            names = (
                [str(t) for t in lay.ticktext]
                if lay.ticktext is not None
                else [_number(v) for v in values]
            )
            kept = self._visible_ticks(values, names, low, high, room, axis.log, which)
            shown.set_ticks([v for v, _ in kept], [_words(name) for _, name in kept])
            return
        if not axis.log and isinstance(lay.dtick, int | float):
            shown.set_major_locator(MultipleLocator(lay.dtick, offset=lay.tick0 or 0))
        elif not axis.log:
            shown.set_major_locator(MaxNLocator(6 if room < 500 else 8, steps=[1, 2, 5, 10]))
        shown.set_major_formatter(_number)

    @staticmethod
    def _visible_ticks(
        values: list[float],
        names: list[str],
        low: float,
        high: float,
        room: float,
        log: bool,
        which: str,
    ) -> list[tuple[float, str]]:
        """The tick marks within the limits that do not overlap."""
        kept: list[tuple[float, str]] = []
        end = -math.inf
        scale = (lambda v: math.log10(v)) if log else (lambda v: v)
        for value, name in zip(values, names, strict=True):
            if not low <= value <= high:
                continue
            at = room * (scale(value) - scale(low)) / (scale(high) - scale(low))
            half = text_width(name, SIZE) / 2 + 4 if which == "x" else SIZE * 0.6
            if at - half >= end:
                kept.append((value, name))
                end = at + half
        return kept

    def _shapes(self, cells: dict[tuple[str, str], tuple[Axes, _Axis, _Axis]]) -> None:
        for shape in self.figure.layout.shapes:
            if shape.type != "line":
                raise ValueError(
                    f"Shapes of type {shape.type} cannot be drawn yet; add the type to "
                    "pages/ui/pictures/plots.py."
                )
            axes, transform = _frame(cells, shape.xref, shape.yref)
            dash = _DASHES.get(shape.line.dash or "solid")
            axes.plot(
                [shape.x0, shape.x1],
                [shape.y0, shape.y1],
                transform=transform,
                color=self._colour(shape.line.color),
                linewidth=self.scale * (shape.line.width or 2),
                linestyle=(0, dash) if dash else "-",
                scalex=False,
                scaley=False,
            )

    def _notes(self, cells: dict[tuple[str, str], tuple[Axes, _Axis, _Axis]]) -> None:
        for note in self.figure.layout.annotations:
            colour = self._colour(note.font.color) or PALETTE.text
            text = _words(note.text or "")
            if note.xref == note.yref == "paper" and len(cells) > 1:
                self._panel_title(cells, note, text)
                continue
            axes, transform = _frame(cells, note.xref, note.yref)
            x_axis, y_axis = next((x, y) for place, x, y in cells.values() if place is axes)
            # Unlike lines, annotations are placed by the logarithm on such an axis.
            x = 10**note.x if x_axis.log and _is_data(note.xref) else note.x
            y = 10**note.y if y_axis.log and _is_data(note.yref) else note.y
            if note.showarrow and note.axref == note.xref:
                axes.annotate(
                    "",
                    (x, y),
                    (note.ax, note.ay),
                    arrowprops={
                        "arrowstyle": "-|>",
                        "color": self._colour(note.arrowcolor),
                        "linewidth": self.scale * (note.arrowwidth or 1),
                        "mutation_scale": 20 * self.scale * (note.arrowsize or 1),
                        "shrinkA": 0,
                        "shrinkB": 0,
                    },
                )
            if text:
                ends = {"left": "left", "right": "right"}
                axes.text(
                    x,
                    y,
                    f" {text} ",
                    transform=transform,
                    color=colour,
                    size=SIZE,
                    weight="bold" if "<b>" in note.text else "normal",
                    ha=ends.get(note.xanchor, "center"),
                    va={"top": "top", "bottom": "bottom"}.get(note.yanchor, "center"),
                    zorder=6,
                )

    @staticmethod
    def _panel_title(
        cells: dict[tuple[str, str], tuple[Axes, _Axis, _Axis]], note: Any, text: str
    ) -> None:
        """Set an annotation as the title of the panel whose top centre is nearest to it."""

        def away(cell: tuple[Axes, _Axis, _Axis]) -> float:
            across, up = (axis.layout.domain or (0, 1) for axis in cell[1:])
            return math.hypot((across[0] + across[1]) / 2 - note.x, up[1] - note.y)

        min(cells.values(), key=away)[0].set_title(text)

    def _named(self, trace: Any, among: int) -> bool:
        if not trace.name or trace.showlegend is False:
            return False
        shown = self.figure.layout.showlegend
        return bool(among > 1 if shown is None else shown)

    def _legend(self, body: SubFigure) -> None:
        if not self.legend:
            return
        names = ["\n".join(textwrap.wrap(name, 44)) for name, _ in self.legend]
        widest = max(text_width(part, SIZE) for name in names for part in name.split("\n"))
        columns = max(1, min(len(names), int((WIDTH - 2 * MARGIN) // (widest + 70))))
        body.legend(
            [handle for _, handle in self.legend],
            names,
            loc="outside upper center",
            ncols=columns,
            fontsize=SIZE,
            handlelength=2.4,
            columnspacing=1.2,
            borderaxespad=0.2,
        )

    def _colour(self, colour: Any) -> Any:
        """The colour of the light theme, in a form that matplotlib accepts."""
        if not isinstance(colour, str):
            return None
        if colour.startswith("rgb"):
            parts = [float(v) for v in re.findall(r"[\d.]+", colour)]
            return (*(v / 255 for v in parts[:3]), *parts[3:])
        return self.colours.get(colour.upper(), colour)

    def _colours(self, colours: Any, number: int) -> Any:
        if colours is None:
            return PALETTE.series[number % len(PALETTE.series)]
        if isinstance(colours, str):
            return self._colour(colours)
        return [self._colour(colour) for colour in colours]


def _cell(trace: Any) -> tuple[str, str]:
    return trace.xaxis or "x", trace.yaxis or "y"


def _frame(
    cells: dict[tuple[str, str], tuple[Axes, _Axis, _Axis]], xref: Any, yref: Any
) -> tuple[Axes, Any]:
    """The axes to which `xref` and `yref` refer, and the transform from their coordinates."""
    from matplotlib.transforms import blended_transform_factory

    wanted = [str(ref or which).split(" ")[0] for ref, which in ((xref, "x"), (yref, "y"))]
    axes = next(
        (
            place
            for (x, y), (place, _, _) in cells.items()
            if wanted[0] in (x, "paper") and wanted[1] in (y, "paper")
        ),
        next(iter(cells.values()))[0],
    )
    return axes, blended_transform_factory(
        axes.transData if _is_data(xref) else axes.transAxes,
        axes.transData if _is_data(yref) else axes.transAxes,
    )


def _is_data(ref: Any) -> bool:
    return not (ref == "paper" or str(ref).endswith("domain"))


def _values(values: Any) -> Any:
    return () if values is None else values


def _numbers(values: Iterable[Any]) -> list[float]:
    return [math.nan if v is None else float(v) for v in values]


def _first(value: Any) -> Any:
    """The value, or the first value if there is a value for each point."""
    if value is None or isinstance(value, str | int | float):
        return value
    return value[0] if len(value) else None


def _words(text: object) -> str:
    """The text as Plotly shows it: without tags, and with character entities decoded."""
    return short(html.unescape(re.sub(r"</?(?:b|i|br|sub|sup)/?>", " ", str(text))), 200)


def _number(value: float, _: object = None) -> str:
    """The label of a tick mark: 5,000, 0.05, and powers of ten beyond."""
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        return f"{value:,.10g}".replace("-", "−")
    mantissa, _, power = f"{value:.3g}".partition("e")
    if not power:
        mantissa, _, power = f"{value:.2e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    ten = f"10{str(int(power)).translate(_SUPERSCRIPTS)}"
    return ten if mantissa == "1" else f"{mantissa.replace('-', '−')}·{ten}"


def _light_colours() -> dict[str, str]:
    """Each colour of the dark theme with its counterpart in the light theme."""
    dark, light = PALETTES["dark"], PALETTES["light"]
    pairs = [
        (getattr(dark, one.name), getattr(light, one.name))
        for one in fields(dark)
        if one.name not in ("series", "shades")
    ]
    pairs += zip(dark.series + dark.shades, light.series + light.shades, strict=True)
    pairs += [(EDGES["dark"][k].colour, EDGES["light"][k].colour) for k in EDGES["dark"]]
    return {one.upper(): other for one, other in pairs}
