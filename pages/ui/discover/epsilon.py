"""ε as the page's main control: the slider, the quality curve above it, and the strip of graphs.

The curve and the strip show background runs, so both are redrawn as runs finish.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.controls.data import Loaded, positions_of
from pages.ui.controls.params import (
    control,
    epsilon_of,
    log_grid,
    main_numbers,
    number_text,
    values_of,
    widget_key,
)
from pages.ui.discover.runs import Answer, Background
from pages.ui.theme import EDGES, PALETTES, current
from privcore.algorithms import Algorithm, Discovery
from privcore.display.answer import count_text, typical_sentence
from privcore.display.drawing import curve_css, curve_script
from privcore.display.sentences import link_count
from privcore.extras.lab.repeat import Roll
from privcore.extras.lab.work import time_text
from privcore.graphs import PDAG
from privcore.measures import compare
from privcore.measures.comparison import spread
from privcore.measures.references import Reference
from privcore.text import counted

STRIP = (10.0, 3.0, 1.0, 0.3, 0.1)
# Noise seeds at the shown ε, and at each other ε of the strip.
ROLLS, FEW = 30, 8
# Seconds between updates of the strip, and of the curve; different, so that they do not coincide.
_STRIP_SECONDS, _CURVE_SECONDS = 0.8, 1.3
# The start and end of the track of Streamlit's slider, in pixels.
_INSET = 8
# The share of the best F1 that is enough for a recommendation.
_ENOUGH = 0.9
# Slower runs are made at the five ε only on request, by a button.
_PATIENCE_SECONDS = 20.0

# More numbers than these stand in two columns.
_ONE_BELOW_ANOTHER = 2

_HERE = Path(__file__).parent
_drawn = st.components.v2.component(
    "causalveil_epsilon",
    html='<div class="root"></div>\n<!-- drawn by epsilon.js -->\n',
    css=curve_css() + (_HERE / "epsilon.css").read_text("utf-8"),
    js=curve_script() + (_HERE / "epsilon.js").read_text("utf-8"),
)


def background_runs_allowed() -> bool:
    """Whether background runs may start without a click; a shared server can forbid this."""
    return os.environ.get("CAUSALVEIL_BESIDE", "").lower() not in ("off", "0", "no", "false")


def places(algorithm: Algorithm) -> tuple[DeltaGenerator, list[DeltaGenerator]]:
    """The place of ε and its curve, and next to it the columns of the algorithm's other numbers."""
    others = len(main_numbers(algorithm)) - 1
    if epsilon_of(algorithm) is None:
        first, *rest = st.columns(4)
        return first, [first, *rest]
    columns = 1 + (others > _ONE_BELOW_ANOTHER)
    first, *rest = st.columns([3.2 - 0.4 * columns, *([1.4 - 0.2 * columns] * columns)])
    return first, rest


def numbers(algorithm: Algorithm, places: Sequence[DeltaGenerator]) -> None:
    """Draw the controls of the algorithm's numbers other than ε."""
    values = values_of(algorithm)
    shown = [p for p in main_numbers(algorithm) if p.name != "epsilon" and p.matters(values)]
    for k, parameter in enumerate(shown):
        with places[k % len(places)]:
            control(parameter, widget_key(algorithm, parameter))


@dataclass(frozen=True, eq=False)
class Around:
    """The shown run, and runs at other ε and with other noise seeds.

    reference: the graph that runs are compared with. base: the name and F1 of the non-private
    graph; None unless the reference is the truth. key: the key of the ε slider.
    """

    loaded: Loaded
    algorithm: Algorithm
    result: Discovery
    epsilon: float
    seed: int
    key: str
    reference: PDAG
    kind: Reference
    base: tuple[str, float] | None
    background: Background

    @cached_property
    def grid(self) -> list[float]:
        """The slider's values of ε, in ascending order."""
        parameter = epsilon_of(self.algorithm)
        assert parameter is not None
        return sorted({*log_grid(parameter), self.epsilon})

    @property
    def strip(self) -> list[float]:
        """The values of ε in the strip of small graphs."""
        return [e for e in STRIP if e in self.grid]

    @property
    def nearest_values(self) -> list[float]:
        """Up to two slider values on each side of the shown ε, nearest first."""
        here = self.grid.index(self.epsilon)
        around = (here + step for step in (-1, 1, -2, 2))
        return [self.grid[k] for k in around if 0 <= k < len(self.grid)]

    @property
    def lively(self) -> bool:
        """Whether further runs are made: without a click if runs are quick, else on request."""
        requested: set[tuple[Any, ...]] = st.session_state.setdefault("_strip_asked", set())
        unasked = self.result.seconds < _PATIENCE_SECONDS and background_runs_allowed()
        return unasked or self.loaded.key in requested

    def want(self) -> None:
        """Request the runs for the strip, the curve, and the line on how typical the graph is."""
        if not self.lively:
            return
        # The targets of the arrow keys come after the targets of a click on the strip.
        first = [Roll(e, self.seed, trace=True) for e in (*self.strip, *self.nearest_values)]
        rolls = [Roll(self.epsilon, self.seed + k) for k in range(1, ROLLS + 1)]
        others = [
            Roll(e, self.seed + k) for k in range(1, FEW) for e in self.strip if e != self.epsilon
        ]
        # Six runs at the shown ε per two at each other: both become useful soon.
        more: list[Roll] = []
        while rolls or others:
            more += rolls[:6] + others[:8]
            del rolls[:6], others[:8]
        self.background.want(first, more)

    def graph_at(self, epsilon: float) -> PDAG | str | None:
        """The graph at an ε with the shown seed, or why the run failed; None if still pending."""
        if epsilon == self.epsilon:
            return self.result.graph
        return _graph(self.background.answers.get((epsilon, self.seed)))

    @property
    def to_come(self) -> list[float]:
        """Values of ε on the strip whose graphs are not finished."""
        return [e for e in self.strip if self.graph_at(e) is None]

    def when(self, epsilon: float) -> str:
        """State in words when the graph at an ε will be finished."""
        waiting = self.background.waiting() if self.lively else []
        if epsilon not in waiting:
            return "not made"
        before, each = waiting.index(epsilon), self.background.seconds
        if not before:
            return f"being made, {time_text(each)}"
        return "next" if before == 1 else f"in {time_text((before + 1) * each)}"

    @property
    def made_of(self) -> str:
        """State the number of graphs still to be made, and the time needed; empty if all exist."""
        count = len(self.to_come)
        took = time_text(count * self.background.seconds)
        return f"{count} more graph{'s' * (count > 1)}, {took}" if count else ""

    @property
    def making(self) -> str:
        """State that graphs are being made in the background; empty if no graph is being made."""
        if not (self.lively and self.to_come and self.background.waiting()):
            return ""
        return f"Making {self.made_of.replace(', ', ' in the background, ', 1)}."

    def rolls_at(self, epsilon: float) -> list[PDAG]:
        """The finished graphs at an ε with further noise seeds."""
        answers = self.background.answers
        held = [_graph(answers.get((epsilon, self.seed + k))) for k in range(1, ROLLS + 1)]
        return [graph for graph in held if isinstance(graph, PDAG)]

    def recommended(self) -> tuple[float, str] | None:
        """The smallest ε of the strip with 90 % of the best F1, and what is found there.

        None until all graphs of the strip are finished, and if that finds nothing. It follows from
        runs on these rows, so it is for exploration.
        """
        if len(self.strip) < 2 or self.to_come:
            return None
        graphs = {e: [self.graph_at(e), *self.rolls_at(e)] for e in self.strip}
        made = {e: [g for g in held if isinstance(g, PDAG)] for e, held in graphs.items()}
        quality = {e: spread(held, self.reference).mean for e, held in made.items() if held}
        best = max(quality.values(), default=0.0)
        if not best:
            return None
        least = min(e for e, mean in quality.items() if mean >= _ENOUGH * best)
        counts = [link_count(compare(graph, self.reference, "")) for graph in made[least]]
        right = sum(c.right for c in counts) / len(counts)
        if round(right) == 0:
            return None  # Nothing is found at any ε.
        return least, f"{right:.0f} of {counted(counts[0].wanted, 'link')}"

    def curve(self) -> dict[str, Any]:
        """The data for the curve that the component draws above the slider."""
        last = max(len(self.grid) - 1, 1)
        points = []
        for epsilon in self.strip[::-1]:
            shown = self.graph_at(epsilon)
            graphs = [*([shown] if isinstance(shown, PDAG) else []), *self.rolls_at(epsilon)]
            if graphs:
                quality = spread(graphs, self.reference)
                runs = "one run" if quality.runs == 1 else f"mean of {quality.runs} runs"
                points.append(
                    {
                        "at": self.grid.index(epsilon) / last,
                        "epsilon": epsilon,
                        **{k: getattr(quality, k) for k in ("mean", "low", "high")},
                        "label": f"{quality.mean:.2f}",
                        "text": f"ε = {epsilon:g}: F1 {quality.mean:.2f}, {runs}",
                    }
                )
        here = spread([self.result.graph], self.reference).mean
        names = {"truth": "the true graph", "mine": "your graph"}
        name = names.get(self.kind, "the graph without privacy")
        return {
            "kind": "curve",
            "title": f"F1 (1: every link, none invented) against {name}, by privacy budget ε",
            "alt": f"Quality against ε: F1 {here:.2f} at ε = {self.epsilon:g}",
            "inset": _INSET,
            "ways": "◂ more private · less private ▸",
            "points": points,
            "waiting": ""
            if len(points) > 1
            else f"pending: {self.made_of}"
            if self.making
            else "not made",
            "base": None if self.base is None else self.base[1],
            "baseLabel": (
                "" if self.base is None else f"{self.base[0]} without privacy {self.base[1]:.2f}"
            ),
            "here": {
                "at": self.grid.index(self.epsilon) / last,
                "value": here,
                "label": f"{here:.2f}",
                "text": f"you are here: F1 {here:.2f}",
            },
            "ticks": [
                {"at": self.grid.index(e) / last, "text": number_text(e)} for e in self.strip
            ],
            "colours": _colours(),
        }

    def cards(self) -> dict[str, Any]:
        """The data for the strip of graphs that the component draws."""
        positions = positions_of(self.loaded, self.result)
        cards = []
        for epsilon in self.strip:
            graph = self.graph_at(epsilon)
            text = self.when(epsilon)
            if isinstance(graph, PDAG):
                text = count_text(compare(graph, self.reference, ""), self.kind)
            elif graph is not None:
                text = "no run"
            cards.append(
                {
                    "epsilon": epsilon,
                    "title": f"ε = {epsilon:g}",
                    "text": text,
                    "label": f"Go to ε = {epsilon:g}: {text}",
                    "here": epsilon == self.epsilon,
                    "ready": isinstance(graph, PDAG),
                    "graph": (
                        small(graph, self.reference, positions) if isinstance(graph, PDAG) else None
                    ),
                }
            )
        graphs = self.rolls_at(self.epsilon)
        same = sum(graph == self.result.graph for graph in graphs)
        links = graphs and self.result.graph.skeleton
        alike = spread(graphs, self.result.graph).mean if links else None
        advice = self.recommended()
        return {
            "kind": "strip",
            "advice": None
            if advice is None
            else {
                "epsilon": advice[0],
                "text": f"From ε = {advice[0]:g}, about {advice[1]} (explored, not private).",
                "button": "" if advice[0] == self.epsilon else f"Use ε = {advice[0]:g}",
            },
            "said": self.making
            or typical_sentence(same, alike, len(graphs), ROLLS, self.background.pending),
            "alt": "The private graph at five values of ε",
            "cards": cards,
            "colours": _colours(),
        }


def _graph(answer: Answer | None) -> PDAG | str | None:
    return answer.graph if isinstance(answer, Discovery) else answer


def small(graph: PDAG, reference: PDAG, positions: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """The data for a small graph: node positions in [-1, 1]², and edges with their classes."""
    kinds = compare(graph, reference, "").pairs
    across = max((abs(x) for x, _ in positions), default=1.0) or 1.0
    down = max((abs(y) for _, y in positions), default=1.0) or 1.0
    return {
        "nodes": [[round(x / across, 3), round(y / down, 3)] for x, y in positions],
        "edges": [[pair.i, pair.j, pair.kind] for pair in kinds],
    }


def curve_part(around: Around) -> None:
    """Draw the curve, and redraw it as runs finish."""
    _live(around, "discover-curve", around.curve, _CURVE_SECONDS)


def strip_part(around: Around) -> None:
    """Draw the strip and the line on how typical the graph is; redraw both as runs finish."""

    _live(around, "discover-strip", around.cards, _STRIP_SECONDS)
    if not around.lively and around.made_of:
        label = f"Make the graphs for the strip: {around.made_of}"
        st.button(label, on_click=_ask, args=(around.loaded.key,), key="make-strip")


def _ask(key: tuple[Any, ...]) -> None:
    st.session_state["_strip_asked"].add(key)


def _live(around: Around, key: str, make: Callable[[], dict[str, Any]], seconds: float) -> None:
    """Draw the output of `make`, and redraw it as runs finish.

    The component polls every few seconds. Streamlit's own periodic fragments stop only with a run
    of the whole page.
    """
    around.want()

    def chosen() -> None:
        value = st.session_state[key].epsilon
        if isinstance(value, int | float) and float(value) in around.grid:
            st.session_state[around.key] = number_text(float(value))

    @st.fragment
    def part() -> None:
        data = {**make(), "again": seconds if around.background.pending else 0}
        drawn = _drawn(key=key, data=data, on_epsilon_change=chosen, on_again_change=lambda: None)
        if drawn.epsilon is not None:
            # A choice reruns the whole page.
            st.rerun()

    part()


def _colours() -> dict[str, str]:
    styles, theme = EDGES[current()], current()
    kinds = ("match", "undirected", "reversed", "extra", "missing")
    return {**{k: styles[k].colour for k in kinds}, "muted": PALETTES[theme].muted}
