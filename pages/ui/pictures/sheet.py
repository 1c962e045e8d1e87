"""The sheet of every picture: 16 by 9, a title on top, settings and guarantee below.

Pictures are for slides and print, so they are always light. matplotlib draws them through its
object interface, without windows; it is imported for the first picture only, so that the dashboard
starts fast. The same arguments give the same bytes.
"""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from pages.ui.theme import PALETTES
from privcore.text import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

Form = Literal["png", "svg", "pdf"]
FORMS: tuple[Form, ...] = get_args(Form)
PALETTE = PALETTES["light"]
# In points, 1/72 inch; 16 by 9 inches at 200 dots an inch are 3200 by 1800 pixels.
WIDTH, HEIGHT, MARGIN = 1152.0, 648.0, 30.0
SIZE = 18.0
_TITLE_SIZE, _LEADING = 28.0, 1.3
_MOST_FOOT = 0.3
_FONT = "DejaVu Sans"
# matplotlib's settings and caches are shared by all sessions of the server.
_LOCK = threading.Lock()


def picture(
    draw: Callable[[SubFigure], None],
    *,
    title: str,
    lines: Sequence[str],
    form: Form,
    texts: Iterable[str] = (),
) -> bytes:
    """The bytes of a picture file of 1600 by 900 pixels (PNG: 3200 by 1800), filled by `draw`.

    title, lines: plain text, never read as markup. The lines form the footer, which is wrapped and
        never cut off.
    texts: all other text in the picture. Fonts are chosen by the letters of all texts.
    """
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if form not in FORMS:
        raise ValueError(f"The format {form!r} is unknown; choose one of {', '.join(FORMS)}.")
    title, lines = clean(title), [clean(line) for line in lines if line.strip()]
    with _LOCK, matplotlib.rc_context(), warnings.catch_warnings():
        # A name may have letters that no font has: they become boxes, and no log mentions the name.
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_settings([title, *lines, *texts]))
        head, head_size = _fitted(title, _TITLE_SIZE, 2, bold=True)
        foot, foot_size = _foot(lines)
        heights = [
            MARGIN + len(head) * head_size * _LEADING,
            0.0,
            MARGIN + len(foot) * foot_size * _LEADING,
        ]
        heights[1] = HEIGHT - sum(heights)
        engine = ConstrainedLayoutEngine(w_pad=MARGIN / 2 / 72, h_pad=4 / 72, wspace=0, hspace=0)
        figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72), layout=engine)
        parts: Any = figure.subfigures(3, 1, height_ratios=heights, hspace=0)
        top, body, bottom = parts
        _write(top, head, head_size, heights[0], MARGIN * 0.7, PALETTE.text, "bold")
        _write(bottom, foot, foot_size, heights[2], MARGIN * 0.4, PALETTE.muted, "normal")
        draw(body)
        _settle(figure)
        out = io.BytesIO()
        figure.savefig(out, format=form, dpi=200, metadata=_metadata(form, title, lines))
    return out.getvalue()


def _settle(figure: Figure) -> None:
    """Lay out once and round: the solver's last digits vary, and ids of elements depend on them."""
    from matplotlib.transforms import Bbox

    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        place = part.bbox_relative
        place.p0, place.p1 = (np.round(corner, 6) for corner in (place.p0, place.p1))
    for axes in figure.get_axes():
        for original in (True, False):
            place = axes.get_position(original=original)
            held = Bbox(np.round(place.get_points(), 6))
            axes.set_position(held, which="original" if original else "active")


def clean(text: str) -> str:
    """`text` on one line, without control characters (no file format allows them)."""
    return short(text, 2_000)


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def wrapped(text: str, width: float, size: float, *, bold: bool = False) -> list[str]:
    """`text` in lines of at most `width` points; longer words are broken."""
    lines, line = [], ""
    for word in text.split():
        joined = f"{line} {word}" if line else word
        if text_width(joined, size, bold=bold) <= width:
            line = joined
            continue
        lines += [line] if line else []
        line = word
        while len(line) > 1 and text_width(line, size, bold=bold) > width:
            end = next(
                k
                for k in range(len(line) - 1, 0, -1)
                if k == 1 or text_width(line[:k], size, bold=bold) <= width
            )
            lines.append(line[:end])
            line = line[end:]
    return [*lines, line] if line else lines


def _fitted(text: str, size: float, most: int, *, bold: bool) -> tuple[list[str], float]:
    """Lines over the full width, in a smaller font if there would be more than `most`."""
    for tried in (size, 0.8 * size, SIZE):
        lines = wrapped(text, WIDTH - 2 * MARGIN, tried, bold=bold)
        if len(lines) <= most:
            break
    return lines, tried


def _foot(lines: Sequence[str]) -> tuple[list[str], float]:
    """All lines, wrapped; in a smaller font if they would take too much of the sheet."""
    for size in (SIZE, 16.0, 14.0, 12.0):
        foot = [part for line in lines for part in wrapped(line, WIDTH - 2 * MARGIN, size)]
        if len(foot) * size * _LEADING <= _MOST_FOOT * HEIGHT:
            break
    return foot, size


def _write(
    part: SubFigure,
    lines: Sequence[str],
    size: float,
    height: float,
    above: float,
    colour: str,
    weight: str,
) -> None:
    for k, line in enumerate(lines):
        y = 1 - (above + k * size * _LEADING) / height
        part.text(
            MARGIN / WIDTH, y, line, size=size, color=colour, weight=weight, ha="left", va="top"
        )


def _settings(texts: Iterable[str]) -> Any:
    return {
        "font.family": [_FONT, *_further_fonts(texts)],
        "font.size": SIZE,
        # Names come from the user: $ is an ordinary character.
        "text.parse_math": False,
        "text.color": PALETTE.text,
        "axes.edgecolor": PALETTE.border,
        "axes.labelcolor": PALETTE.text,
        "axes.titlesize": 20,
        "axes.axisbelow": True,
        "axes.grid": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": PALETTE.border,
        "grid.linewidth": 0.8,
        "grid.alpha": 0.7,
        "xtick.color": PALETTE.text,
        "ytick.color": PALETTE.text,
        "legend.frameon": False,
        # Outlined letters look the same everywhere; in a PDF they stay text with an embedded font.
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
        # Sequential instead of random ids, so that files can be compared.
        "svg.hashsalt": "causalveil",
    }


def _further_fonts(texts: Iterable[str]) -> list[str]:
    """Fonts of this machine for letters that the bundled font does not have."""
    from matplotlib import font_manager as fonts

    own = fonts.get_font(fonts.findfont(_FONT)).get_charmap()
    missing = {ord(c) for text in texts for c in text if c.isprintable()} - own.keys()
    families = []
    for entry in sorted(fonts.fontManager.ttflist, key=lambda entry: (entry.name, entry.fname)):
        if not missing:
            break
        plain = (entry.style, entry.weight) == ("normal", 400)
        if not plain or entry.name.startswith("Last Resort"):
            continue
        held = missing & fonts.get_font(entry.fname).get_charmap().keys()
        if held:
            families.append(entry.name)
            missing -= held
    return families


def _metadata(form: Form, title: str, lines: Sequence[str]) -> dict[str, Any]:
    """Metadata: a text description for readers who cannot see the picture, but no dates."""
    description = " ".join(lines)
    if form == "png":
        return {"Software": None, "Title": title, "Description": description}
    if form == "pdf":
        return {
            "Creator": None,
            "Producer": None,
            "CreationDate": None,
            "Title": title,
            "Subject": description,
        }
    return {"Date": None, "Creator": None, "Title": title, "Description": description}
