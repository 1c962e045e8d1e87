"""The line styles of algorithms on all pages: colour and dash identify the algorithm.

Our algorithms share one hue, the algorithms of each paper share another, and non-private
algorithms are grey. Algorithms of the same hue differ in dashes and symbols, and each in its shade
from the next. An algorithm looks the same in every chart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pages.ui.theme import Palette
from privcore.algorithms import ALGORITHMS, Algorithm

OURS, NOT_PRIVATE = "ours", "not private"
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# The palette's series ends in grey and olive; grey is reserved for non-private algorithms.
_COLOURS = (0, 1, 2, 3, 5)


@dataclass(frozen=True)
class LineStyle:
    """A line's style: colour as #RRGGBB, dash and symbol as Plotly names, width in pixels."""

    colour: str
    dash: str
    width: float
    symbol: str = "circle"


def group_of(algorithm: Algorithm) -> str:
    """An algorithm's group: "ours", "not private", or its paper, such as "Xu, Yuan & Wu 2017"."""
    if not algorithm.private:
        return NOT_PRIVATE
    paper = re.match(r".*?\d{4}", algorithm.citation)
    return paper.group() if paper else OURS


@cache
def groups() -> Mapping[str, Sequence[str]]:
    """The private algorithms of each group, ours first, then papers in the registry's order."""
    families: dict[str, list[str]] = {OURS: []}
    for algorithm in ALGORITHMS.values():
        if algorithm.private:
            families.setdefault(group_of(algorithm), []).append(algorithm.name)
    return families


def style_of(name: str, palette: Palette, *, published: bool = False) -> LineStyle:
    """An algorithm's line style; thinner for published constants, whose ε is not a guarantee."""
    if not ALGORITHMS[name].private:
        bases = [a.name for a in ALGORITHMS.values() if not a.private]
        return LineStyle(palette.muted, DASHES[1 + bases.index(name) % 2], 1.5)
    group = group_of(ALGORITHMS[name])
    place = list(groups()).index(group)
    own = groups()[group].index(name)
    colour = (palette.series, palette.shades)[own % 2][_COLOURS[place % len(_COLOURS)]]
    dash, symbol = DASHES[own % len(DASHES)], SYMBOLS[own % len(SYMBOLS)]
    width = 1.2 if published else 3.0 if group == OURS else 2.0
    return LineStyle(colour, dash, width, symbol)
