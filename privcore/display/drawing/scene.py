"""Describes graphs over the same nodes as plain data, for the script that draws them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from privcore.display.boxes import NAME_LIMIT, short_forms, wrapped
from privcore.display.layout import matrix_order
from privcore.graphs.pag import PAG
from privcore.graphs.pdag import MARKS, PDAG, Edge, Kind, ordered
from privcore.text import counted, short

# The edges of a PAG in plain words; the last two are shown only if a graph has such edges.
MARK_WORDS: dict[Kind, str] = {
    "directed": "causes",
    "bidirected": "share an unobserved confounder",
    "partially_directed": "may cause, but is not caused by",
    "nondirected": "any of these, undetermined",
    "undirected": "both affect which rows were selected",
    "partially_undirected": "selection, or a cause",
}
_RARE: tuple[Kind, ...] = ("undirected", "partially_undirected")

_order = lru_cache(maxsize=64)(matrix_order)


@dataclass(frozen=True)
class Pane:
    """One graph of a scene, and how its pairs (i < j) are drawn.

    alt: text for screen readers.  kinds: classes of pairs (keys of `palette.EDGES`); pairs
    without a class are drawn as "plain".  reference: a second graph; pairs that are adjacent only
    in the reference are drawn as "missing".  unclear: pairs that are drawn faintly if they are
    adjacent in neither graph.  texts: notes on pairs.  widths: line widths in pixels, which replace
    the widths of the classes.  groups: pairs that a reader can single out, with words for them.
    """

    key: str
    title: str
    graph: PDAG
    alt: str = ""
    kinds: Mapping[Edge, str] = field(default_factory=dict)
    reference: PDAG | None = None
    unclear: Iterable[Edge] = ()
    texts: Mapping[Edge, str] = field(default_factory=dict)
    widths: Mapping[Edge, float] = field(default_factory=dict)
    groups: Sequence[tuple[str, Sequence[Edge]]] = ()

    def as_dict(self) -> dict[str, Any]:
        """The pane as JSON-ready data, with a sorted list of all pairs that may be drawn."""
        marks = {pair: (self.graph.mark(*pair), "plain") for pair in self.graph.skeleton}
        if self.reference is not None:
            for pair in self.reference.skeleton - self.graph.skeleton:
                marks[pair] = self.reference.mark(*pair), "missing"
        for pair in self.unclear:
            marks.setdefault(ordered(*pair), ("--", "unclear"))
        pairs = []
        for pair, (mark, kind) in sorted(marks.items()):
            drawn: dict[str, Any] = {"i": pair[0], "j": pair[1], "mark": mark}
            drawn["kind"] = self.kinds.get(pair, kind)
            if text := self.texts.get(pair):
                drawn["text"] = text
            if pair in self.widths:
                drawn["width"] = round(self.widths[pair], 2)
            pairs.append(drawn)
        alt = self.alt or f"{self.title}: {counted(len(self.graph.skeleton), 'edge')}"
        pag = {"pag": True} if isinstance(self.graph, PAG) else {}
        groups = [{"text": words, "pairs": [list(p) for p in held]} for words, held in self.groups]
        described = {"key": self.key, "title": self.title, "alt": alt, "pairs": pairs, **pag}
        return described | ({"groups": groups} if groups else {})


def scene(
    positions: Sequence[tuple[float, float]],
    panes: Sequence[Pane],
    *,
    words: Mapping[str, str] | None = None,
    reference: str = "",
    selected: Edge | None = None,
    tiers: Sequence[int | None] = (),
) -> dict[str, Any]:
    """The scene for `drawGraphs` as JSON-ready data; names are text, never markup.

    positions: one (x, y) per node, with y increasing downwards, as from `shared_layout`.
    words: the legend text for each class.  reference: the name of the reference graph.
    selected: a pair to highlight.  tiers: as in `shared_layout`; earlier
    tiers are drawn above later ones.

    Raises ValueError if there is not one position per node, or if the graphs have different nodes.
    """
    nodes = panes[0].graph.nodes
    if len(positions) != len(nodes):
        raise ValueError(f"{len(positions)} positions for {len(nodes)} nodes")
    graphs = [g for pane in panes for g in (pane.graph, pane.reference) if g is not None]
    if any(graph.nodes != nodes for graph in graphs):
        raise ValueError("the graphs of a scene have different nodes")
    labels = [wrapped(name, i) for i, name in enumerate(nodes)]
    marks = [[MARKS[kind], text, kind not in _RARE] for kind, text in MARK_WORDS.items()]
    pag = any(isinstance(graph, PAG) for graph in graphs)
    return {
        "names": [
            short(name, NAME_LIMIT) or label for name, label in zip(nodes, labels, strict=True)
        ],
        "labels": [label.split("\n") for label in labels],
        "short": short_forms(nodes),
        "places": [[round(x, 4), round(y, 4)] for x, y in positions],
        "tiers": list(tiers),
        # Taken from the graph that stays while ε moves, if there is one.
        "order": list(_order(panes[min(1, len(panes) - 1)].graph)),
        "graphs": [pane.as_dict() for pane in panes],
        "words": dict(words or {}),
        "reference": short(reference),
        "selected": None if selected is None else list(ordered(*selected)),
        # For a PAG: the meaning of each mark, and whether the legend always has it.
        **({"pag": True, "marks": marks} if pag else {}),
    }
