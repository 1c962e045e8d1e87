"""A result as it is shown: in a notebook, as a page, and as a picture, each without scripts.

Pages to read and to print: self-contained HTML without scripts, and its parts.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from typing import Any

from privcore.algorithms import Algorithm, Discovery, get_algorithm
from privcore.algorithms.search.result import named_repeats
from privcore.data.model import Dataset
from privcore.display.answer import (
    answer_sentence,
    class_words,
    graph_form,
    pag_sentence,
    promise_sentence,
)
from privcore.display.drawing import Pane, graph_svg
from privcore.display.findings import (
    confidence_text,
    line_texts,
    line_widths,
    repeats_sentences,
    settled_sentence,
)
from privcore.display.layout import shared_layout
from privcore.display.sentences import NOT_PRIVATE, SIMULATED, facts, plain_guarantee
from privcore.errors import ParameterError
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge
from privcore.graphs.pdag import PAG, Positions
from privcore.measures import Comparison, compare
from privcore.measures.comparison import edge_text
from privcore.measures.references import Reference, true_graph
from privcore.releases.release import Release
from privcore.showing import Shows
from privcore.text import counted, short

_STYLE = """
:root { color-scheme: light dark; --line: #cbd5df; --shade: #f1f5f8; }
@media screen and (prefers-color-scheme: dark) {
  :root { --line: #3a4653; --shade: #1d252e; }
  body { color: #e6ebf0; background: #12171d; } }
@media print { :root { color-scheme: light; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 52rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .4rem; border-bottom: 1px solid var(--line); }
.promise { font-size: 1.1rem; margin: .2rem 0 .8rem; }
.warned { border-left: 4px solid #d55e00; padding-left: .7rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .15rem .8rem .15rem 0;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
tbody th { font-weight: 600; width: 32%; }
pre, code { font-size: .85em; overflow-wrap: anywhere; }
pre { background: var(--shade); padding: .6rem; white-space: pre-wrap; }
svg { max-width: 100%; height: auto; }
@page { size: A4; margin: 15mm; }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 10pt; }
  tr, svg, li { break-inside: avoid; } h2 { break-after: avoid; }
  thead { display: table-header-group; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def document_of(title: str, parts: Iterable[str]) -> str:
    """A whole page from parts of HTML; the title is plain text."""
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def table(rows: Iterable[Sequence[object]], heads: Sequence[str] = ()) -> str:
    """A table of plain text; the first cell of a row is its heading."""
    top = "".join(f"<th>{escaped(head)}</th>" for head in heads)
    lines = [
        f"<tr><th>{escaped(first)}</th>"
        + "".join(f"<td>{escaped(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    ]
    head = f"<thead><tr>{top}</tr></thead>\n" if heads else ""
    return f"<table>\n{head}<tbody>\n" + "\n".join(lines) + "\n</tbody>\n</table>"


def listed(lines: Iterable[str]) -> str:
    """A list of plain text; nothing for no lines."""
    items = "\n".join(f"<li>{escaped(line)}</li>" for line in lines)
    return f"<ul>\n{items}\n</ul>" if items else ""


def escaped(value: object) -> str:
    """Plain text as HTML; a lone surrogate, which no file can hold, becomes a question mark."""
    return escape(str(value)).encode("utf-8", "replace").decode()


def json_in_html(content: Mapping[str, Any]) -> str:
    """JSON that cannot end its HTML element or begin another one."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&]", lambda sign: f"\\u{ord(sign[0]):04x}", text)


def policy_hash(text: str) -> str:
    """The hash by which a page's policy allows a script or a style."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@dataclass(frozen=True)
class Shown(Shows):
    """A result with its sentences and drawings.

    sentences: what was found, and what that means for a person.  notes: what is guaranteed and what
    is not private.  panes: the graph, then the reference if there is one.  positions, words: as for
    `graph_svg`.  details: the further parts of the page, as HTML.
    """

    title: str
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    panes: tuple[Pane, ...] = field(repr=False)
    positions: Positions = field(repr=False)
    words: Mapping[str, str] = field(repr=False)
    details: tuple[str, ...] = field(repr=False)

    def _texts(self) -> Shown:
        return self

    def fragment(self) -> str:
        """The result as a part of a page; it takes colours and letters from that page."""
        said = "".join(f"<p>{escaped(line)}</p>" for line in self.sentences)
        notes = "".join(f"<div>{escaped(line)}</div>" for line in self.notes)
        return (
            f'<div style="max-width:72rem">{said}{self._drawings()}'
            f'<div style="font-size:.85em;opacity:.85">{notes}</div></div>'
        )

    def page(self) -> str:
        """The result as a page of its own."""
        return document_of(
            self.title,
            [
                f"<h1>{escaped(self.title)}</h1>",
                *(f'<p class="promise">{escaped(line)}</p>' for line in self.sentences),
                self._drawings(),
                *(
                    f"<p{' class=warned' * (line in (SIMULATED, NOT_PRIVATE))}>{escaped(line)}</p>"
                    for line in self.notes
                ),
                *self.details,
            ],
        )

    def picture(self) -> str:
        """The graph as SVG, with its edges in the classes of the comparison."""
        return graph_svg(self.panes[0], self.positions, self.words)

    def _drawings(self) -> str:
        """The graphs side by side, below each other where there is no room."""
        figures = "".join(
            f'<figure style="margin:0;min-width:0"><figcaption style="font-weight:600">'
            f"{escaped(pane.title)}</figcaption>"
            f"{graph_svg(pane, self.positions, self.words)}</figure>"
            for pane in self.panes
        )
        return f'<div style="display:flex;flex-wrap:wrap;gap:1rem;margin:.6rem 0">{figures}</div>'


def show(result: Discovery | Release, reference: Dataset | Discovery | PDAG | None = None) -> Shown:
    """Show a result next to a reference; a result alone shows itself.

    Args:
        result: a run, as from `privcore.discover`, or a release.
        reference: a data set whose true graph is known, a run without privacy such as one of PC,
            or a graph that is taken as true.

    Returns:
        What a notebook draws: both graphs, with the edges in classes, the answer, and the
        guarantee.  `html()` and `svg()` return it as text; with a path they write a file.

    Raises:
        ParameterError: for a reference with noise, with other columns, or without a true graph.

    Example:
        >>> from privcore import discover, load_network
        >>> data = load_network("asia").sample(5_000, seed=1)
        >>> shown = show(discover(data, epsilon=1, seed=7), data)
        >>> shown.svg()[:4], "are not private" in shown.html()
        ('<svg', True)
    """
    own: tuple[str, ...]
    if isinstance(result, Release):
        stated = result.certificate["algorithm"]
        algorithm, parameters = get_algorithm(stated["name"]), stated["parameters"]
        own, more = (result.note, *result.warnings), [("Certificate", result.certificate["id"])]
    else:
        algorithm, parameters = get_algorithm(result.algorithm), result.parameters
        own, more = (pag_sentence(result), SIMULATED * (result.noise == "simulated")), []
    graph, guarantee = result.graph, result.guarantee
    texts, widths = line_texts(result.findings), line_widths(result.findings)
    heading = algorithm.title
    if guarantee.calibration != "none":
        heading = "Private graph" if guarantee.calibration == "proven" else "Graph with noise"
    edges = counted(len(graph.skeleton), "edge")
    if reference is None:
        columns = counted(len(graph.nodes), "column")
        said = f"{algorithm.title} finds {edges} between {columns}."
        panes = [Pane("graph", heading, graph, texts=texts, widths=widths, repeats=result.repeats)]
        words: Mapping[str, str] = {}
        comparisons: list[Comparison] = []
    else:
        other, name, kind = _reference(reference, algorithm, parameters)
        if other.nodes != graph.nodes:
            raise ParameterError("reference-of-other-columns")
        here = compare(graph, other, name)
        comparisons, words = [here], class_words(kind, graph, other)
        said = f"Against {name}: {here.summary()}."
        if kind == "truth" or guarantee.calibration != "none":
            title = algorithm.title if kind == "truth" else name.removesuffix(" without privacy")
            pag = isinstance(other, PAG)
            said = answer_sentence(guarantee, here, None, title, kind, pag=pag)
        kinds = {(pair.i, pair.j): pair.kind for pair in here.pairs}
        alt = f"{heading}: {here.summary()}"
        title = f"Truth ({graph_form(algorithm, other)})" if kind == "truth" else name
        panes = [
            Pane(
                "graph",
                heading,
                graph,
                alt,
                kinds,
                other,
                texts=texts,
                widths=widths,
                repeats=result.repeats,
            ),
            Pane("reference", f"{title}, not private", other, repeats=result.repeats),
        ]
    notes = [
        plain_guarantee(guarantee, algorithm) if guarantee.calibration != "none" else "",
        settled_sentence(result.settled),
        *repeats_sentences(named_repeats(graph, result.repeats)),
        *own,
        NOT_PRIVATE if comparisons else "",
    ]
    return Shown(
        f"Release: {algorithm.title}" if more else algorithm.title,
        (said, promise_sentence(guarantee)),
        tuple(filter(None, notes)),
        tuple(panes),
        shared_layout(
            graph.nodes,
            graph=panes[-1].graph if panes[-1].graph.skeleton else graph,
            tiers=Knowledge.read(parameters.get("knowledge") or "").tiers_of(graph.nodes),
        ),
        words,
        details(result, algorithm, parameters, comparisons, settings=more),
    )


def _reference(
    reference: Dataset | Discovery | PDAG, algorithm: Algorithm, parameters: Mapping[str, Any]
) -> tuple[PDAG, str, Reference]:
    """The graph to compare with, its name, and its kind."""
    if isinstance(reference, Discovery):
        if reference.guarantee.calibration != "none":
            raise ParameterError("reference-has-noise")
        other = get_algorithm(reference.algorithm)
        # An algorithm that is private ran without its noise.
        title = other.title if other.private else other.name.upper()
        return reference.graph, f"{title} without privacy", "non_private"
    if isinstance(reference, PDAG):
        return reference, "truth", "truth"
    if reference.true_edges is None:
        raise ParameterError("no-true-graph-known", name=short(reference.name))
    truth = true_graph(
        algorithm,
        reference.names,
        reference.true_edges,
        parameters.get("knowledge") or "",
        hidden_causes=bool(parameters.get("hidden_causes")),
        target=parameters.get("target") or "",
    )
    return truth, "truth", "truth"


def details(
    result: Discovery | Release,
    algorithm: Algorithm,
    parameters: Mapping[str, Any],
    comparisons: Sequence[Comparison],
    *,
    settings: Iterable[tuple[str, str]] = (),
    again: Sequence[str] = (),
) -> tuple[str, ...]:
    """The parts of a page below its drawings: guarantee, settings, edges, and how to run it again.

    settings: names and values that come before the parameters.  again: commands, as plain text.
    """
    values = {"calibration": "none", **parameters}
    chosen = [
        (p.title, "auto" if values.get(p.name) is None else str(values[p.name]) or "none")
        for p in algorithm.parameters
        if p.matters(values)
    ]
    guarantee = result.guarantee
    parts = [
        *(["<h2>Guarantee</h2>", table(facts(guarantee))] if facts(guarantee) else []),
        listed(f"Limit: {caveat}." for caveat in guarantee.caveats),
        "<h2>Settings</h2>",
        table((*settings, *chosen)),
        "<h2>Edges</h2>",
        _edges(result, comparisons),
        *(["<h2>To repeat this run</h2>"] if again else []),
        *(f"<pre>{escaped(text)}</pre>" for text in again),
        f"<p>Source: {escaped(algorithm.citation)}</p>" if algorithm.citation != "ours" else "",
    ]
    return tuple(filter(None, parts))


def _edges(result: Discovery | Release, comparisons: Sequence[Comparison]) -> str:
    """A row for each pair adjacent in the graph or a reference: its edge, certainty and classes."""
    graph, sure = result.graph, result.findings
    kinds = [{(pair.i, pair.j): pair.kind for pair in c.pairs} for c in comparisons]
    heads = ["edge", *(["certainty"] if sure else [])]
    rows = [
        (
            edge_text(graph, *pair),
            *([confidence_text(sure[pair].as_dict())] if sure else []),
            *(kind.get(pair, "not adjacent") for kind in kinds),
        )
        for pair in sorted(graph.skeleton.union(*kinds))
    ]
    return table(
        rows or [("none",)], [*heads, *(f"against {c.reference_name}" for c in comparisons)]
    )
