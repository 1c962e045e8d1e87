"""The certificate as a page for printing, without scripts or external links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from privcore.algorithms.search.result import read_repeats
from privcore.data.domain import domain_lines
from privcore.display.drawing import Pane, graph_svg
from privcore.display.effects import effects_sentence
from privcore.display.findings import (
    confidence_text,
    repeats_sentences,
    settled_sentence,
    verdict_counts,
)
from privcore.display.graph_check import asked_sentence, verdict_sentence
from privcore.display.layout import shared_layout
from privcore.display.sentences import STAGES
from privcore.display.shown import document_of, escaped, listed, table
from privcore.graphs.pdag import SIGNS, from_json_dict
from privcore.measures.graph_check import GraphCheck
from privcore.naming import quoted
from privcore.releases.certificate import page_of
from privcore.unit import ADDED, understood


@page_of
def certificate_html(document: Mapping[str, Any]) -> str:
    """A signed certificate as an HTML page, for reading; only the JSON can be verified."""
    guarantee, ledger = document["guarantee"], document["ledger"]
    algorithm, signature = document["algorithm"], document["signature"]
    graph, pairs = document["released"]["graph"], document["released"].get("pairs", ())
    parts = [
        "<h1>Certificate of a private release</h1>",
        f'<p class="promise">ε = {guarantee["epsilon"]:g}, δ = {guarantee["delta"]:g}, '
        f"{escaped(guarantee['neighbours'])}</p>",
    ]
    if document["accepted_caveats"]:
        parts.append("<h2>The guarantee holds only if</h2>")
        parts.append(f'<div class="warned">{listed(document["accepted_caveats"])}</div>')
    parts += [
        "<h2>What was released</h2>",
        _drawing(document["released"]),
        table((("Edges", _edges(graph, pairs)), *_released(document["released"]))),
        "<h2>What it means</h2>",
        listed(document["meaning"]),
        "<h2>How</h2>",
        table(
            (
                ("Algorithm", f"{algorithm['title']} ({algorithm['citation']})"),
                ("Parameters", _pairs(algorithm["parameters"])),
                ("Noise", f"secure, {document['mechanism']['sampler']}"),
                ("Planned steps", "; ".join(map(_step, document["mechanism"]["planned"]))),
                ("Added up by", guarantee["accountant"]),
                ("Proofs", guarantee["proof"]),
                ("Public", "; ".join(guarantee["public"])),
                ("Versions", _pairs(document["versions"])),
            )
        ),
        "<h2>The public domain</h2>",
        f"<p>{_rows(document)}. Every level, bound and cut point of the columns is "
        f"{escaped(document['domain']['basis'])}.</p>",
        table(
            (
                *domain_lines(document["domain"]["columns"]),
                *_bought(document["domain"]),
                ("Domain, SHA-256", document["domain"]["sha256"]),
            )
        ),
        "<h2>In the ledger</h2>",
        table(
            (
                ("Budget", f"{ledger['budget']}, charge {ledger['charge']}"),
                ("Spent so far", f"ε {ledger['spent_epsilon']:.6g}, δ {ledger['spent_delta']:.6g}"),
                (
                    "Total set by the owner",
                    f"ε {ledger['total_epsilon']:g}, δ {ledger['total_delta']:g} "
                    f"(summed by {'zCDP' if ledger['unit'] == 'zcdp' else 'basic composition'})",
                ),
                ("Time", document["time"]),
            )
        ),
        "<h2>Limits</h2>",
        listed(document["limits"]),
        "<h2>To verify</h2>",
        "<p>Save the JSON of this certificate and run <code>python -m privcore verify FILE "
        "--key FINGERPRINT</code>.</p>",
        table(
            (
                ("Certificate", document["id"]),
                ("Content, SHA-256", signature["content_sha256"]),
                ("Key, fingerprint", signature["fingerprint"]),
            )
        ),
    ]
    return document_of(f"Certificate {document['id']}", parts)


def _rows(document: Mapping[str, Any]) -> str:
    """The number of rows, marked as noisy if the exact number is private."""
    rows = f"{document['domain']['rows']:,} rows"
    private = understood(document["guarantee"]["neighbours"])[1] == ADDED
    return f"{rows} (a noisy number)" if private else rows


def _bought(domain: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The cost of a bought domain, and the steps of its purchase."""
    if "bought" not in domain:
        return []
    bought = domain["bought"]
    cost = f"ε = {bought['epsilon']:g}, δ = {bought['delta']:g} of the total, for "
    return [
        ("Cost of the domain", cost + ", ".join(bought["columns"])),
        ("Steps of the purchase", "; ".join(map(_step, bought["planned"]))),
    ]


def _drawing(released: Mapping[str, Any]) -> str:
    drawn = from_json_dict(released["graph"])
    places = shared_layout(drawn.nodes, graph=drawn)
    repeats = read_repeats(drawn, released.get("repeats", {}))
    return graph_svg(Pane("graph", "The graph that was released", drawn, repeats=repeats), places)


def _released(released: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if released["weights"] is not None:
        yield (
            "Weights",
            f"in the JSON; an edge has an absolute weight above {released['weight_threshold']:g}",
        )
    if "pairs" in released:
        settled = settled_sentence(released.get("settled"))
        yield (
            "Pairs without an edge",
            " ".join(filter(None, [verdict_counts(released["pairs"]), settled])),
        )
    if "repeats" in released:
        yield "Columns that repeat others", " ".join(repeats_sentences(released["repeats"]))
    if "hidden_stage" in released:
        yield "Unobserved confounders", f"allowed, with {STAGES[released['hidden_stage']]}"
    if "effects" in released:
        yield "Effect", effects_sentence(released["effects"])
    if "check" in released:
        check = GraphCheck.of(released["check"])
        yield "Graph that was checked", "; ".join(check.graph.lines())
        yield "Check", " ".join(filter(None, [verdict_sentence(check), asked_sentence(check)]))
    if released["note"]:
        yield "Note", released["note"]


def _edges(graph: Mapping[str, Any], pairs: Sequence[Mapping[str, Any]]) -> str:
    sure = {frozenset(finding["pair"]): confidence_text(finding) for finding in pairs}
    texts = []
    for a, b, kind in from_json_dict(graph).named_edges():
        edge = f"{quoted(a)} {SIGNS[kind]} {quoted(b)}"
        words = sure.get(frozenset((a, b)))
        texts.append(f"{edge} ({words})" if words else edge)
    return ", ".join(texts) or "none"


def _step(step: Mapping[str, Any]) -> str:
    times = f"{step['count']} × " if step["count"] > 1 else ""
    return f"{times}{step['kind']} {step['value']:.6g}"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{k} {'auto' if v is None else v}" for k, v in values.items())
