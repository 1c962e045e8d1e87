"""Pages of releases: one graph, its guarantee, and nothing that the guarantee does not cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privcore.algorithms import Algorithm, Discovery, get_algorithm
from privcore.algorithms.search.result import named_repeats, read_repeats
from privcore.display.answer import promise_sentence
from privcore.display.drawing import Pane, scene
from privcore.display.findings import (
    confidence_text,
    line_texts,
    line_widths,
    repeats_sentences,
    settled_sentence,
    width_of,
)
from privcore.display.interactive.page import algorithm_words, html_page, promised
from privcore.display.layout import shared_layout
from privcore.display.sentences import facts, for_whom, protected
from privcore.graphs import PDAG
from privcore.graphs.pdag import PAG, Edge, from_json_dict, ordered
from privcore.privacy.accounting import Guarantee
from privcore.releases.certificate import page_of
from privcore.text import counted, short
from privcore.version import __version__

_OF_LINKS = (
    "A link is a statistical dependence, estimated with noise; it does not prove cause and effect."
)
_OF_PAG = (
    "This graph allows unobserved confounders. A link is a statistical dependence, estimated with "
    "noise; its marks are explained below the graph, and no probability is stated for the marks."
)


@page_of
def certificate_page(document: Mapping[str, Any]) -> str:
    """A page with the graph and the guarantee of a verified certificate, as HTML text."""
    released, ledger = document["released"], document["ledger"]
    graph = from_json_dict(released["graph"])
    index = {name: k for k, name in enumerate(graph.nodes)}
    texts: dict[Edge, str] = {}
    widths: dict[Edge, float] = {}
    for finding in released.get("pairs", ()):
        a, b = finding["pair"]
        if words := confidence_text(finding):
            texts[ordered(index[a], index[b])] = words
        if words and finding.get("probability") is not None:
            widths[ordered(index[a], index[b])] = width_of(finding["probability"])
    about = [
        ("Certificate", f"{document['id']}, {document['time']}"),
        ("Key, fingerprint", document["signature"]["fingerprint"]),
        ("Ledger", f"budget {short(ledger['budget'])}, charge {ledger['charge']}"),
        ("Accepted by the owner", "; ".join(document["accepted_caveats"])),
        (
            "Note",
            " ".join(filter(None, [released["note"], settled_sentence(released.get("settled"))])),
        ),
        ("Limits", " ".join(document["limits"])),
    ]
    return _page(
        graph,
        read_repeats(graph, released.get("repeats", {})),
        Guarantee.of(document["guarantee"]),
        get_algorithm(document["algorithm"]["name"]),
        texts,
        widths,
        about,
        "This page is not signed; to check the release, run causalveil verify on the certificate.",
    )


def numbers_page(result: Discovery, names: Sequence[str], signers: Sequence[str]) -> str:
    """A page with the graph from a search of released numbers, as HTML text.

    names, signers: names of the release files, and fingerprints of the keys that signed them.
    """
    about = [
        ("Released numbers", ", ".join(short(name, 60) for name in names)),
        ("Key, fingerprint", ", ".join(dict.fromkeys(signers))),
        ("Note", settled_sentence(result.settled)),
    ]
    return _page(
        result.graph,
        result.repeats,
        result.guarantee,
        get_algorithm(result.algorithm),
        line_texts(result.findings),
        line_widths(result.findings),
        about,
        "This page is not signed; to check the numbers, run causalveil verify on the release file, "
        "and to make this page again, causalveil search-again.",
    )


def _page(
    graph: PDAG,
    repeats: Mapping[int, int],
    guarantee: Guarantee,
    algorithm: Algorithm,
    texts: Mapping[Edge, str],
    widths: Mapping[Edge, float],
    about: Sequence[tuple[str, str]],
    check: str,
) -> str:
    edges = len(graph.skeleton)
    count = counted(edges, "link")
    pane = Pane(
        "released",
        "Released graph",
        graph,
        f"Released graph: {count}",
        {},
        texts=texts,
        widths=widths,
        repeats=repeats,
    )
    drawn = scene(shared_layout(graph.nodes, graph=graph), [pane])
    step = {
        "epsilon": "",
        "said": f"Released with ε = {guarantee.epsilon:.3g} {for_whom(protected(guarantee))}: "
        f"a graph of {len(graph.nodes)} columns with {count}.",
        "promise": promise_sentence(guarantee).replace("the private graph", "this graph"),
        "promised": promised(guarantee, algorithm),
        "facts": facts(guarantee),
        "graphs": drawn.pop("graphs"),
    }
    small = [
        ("Algorithm", algorithm_words(algorithm)),
        *about,
        ("Repeats", " ".join(repeats_sentences(named_repeats(graph, repeats)))),
        (
            "Reading it",
            f"{_OF_PAG if isinstance(graph, PAG) else _OF_LINKS} If the algorithm estimates "
            "confidences, hover over a link to see its confidence.",
        ),
        ("Checking it", check),
        ("Version", f"CausalVeil {__version__}"),
    ]
    content = {"scene": drawn, "steps": [step], "start": 0, "curve": None}
    return html_page("Released causal graph", content, about=small)
