"""How sure the edges of a graph are, and which pairs the budget could not tell, as drawn."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.ui import tables
from pages.ui.glossary import linked
from pages.ui.theme import EdgeStyle
from privcore.algorithms import Discovery
from privcore.algorithms.search.result import Edge, PairFinding
from privcore.releases.findings import described_pairs, share_text, verdict_counts

HELP = (
    "Confidence: 1 minus the false discovery rate (FDR) of a graph that ends with this edge, "
    "sampling and noise included. Seen again: the probability that new rows and new noise show the "
    "edge. Direction: the best graph with the arrow against the best one without it, on a scale on "
    "which 0.8 was right in 80 of 100 cases on random networks. All suppose that no common cause "
    "is missing. An edge can also be wrong because the search erred: with a confidence near 1, 96 "
    "of 100 edges were right on random networks, and 84 to 89 of 100 on numbers."
)
_LEAST, _MORE = 1.2, 2.8


def styled(style: EdgeStyle, finding: PairFinding | None) -> EdgeStyle:
    """The line as thick as its edge is likely to be seen again, with its numbers in the tooltip."""
    if finding is None or finding.confidence is None or finding.again is None:
        return style
    lines = [
        style.title,
        f"confidence {share_text(finding.confidence)}",
        f"seen again: {share_text(finding.again)}",
    ]
    if finding.direction is not None:
        lines.append(f"direction: {share_text(finding.direction)}")
    return replace(style, width=_LEAST + _MORE * finding.again**2, title="\n".join(lines))


def unclear(result: Discovery) -> list[Edge]:
    """Pairs without an edge for which the budget gave the test too little power."""
    return [p for p, finding in result.findings.items() if finding.verdict == "not enough budget"]


def apart_sentence(result: Discovery) -> str:
    """How many pairs there are of each kind, and what counts as worth seeing."""
    pairs = described_pairs(result.graph, result.findings) or []
    size = result.parameters.get("reference_effect")
    worth = "" if size is None else f" whether they have a dependence of {size:g} or more"
    return f"Of the pairs without an edge, {verdict_counts(pairs)}{worth}."


def pair_panel(result: Discovery) -> None:
    """Every pair, and what the release says of it."""
    st.markdown(apart_sentence(result))
    st.caption(
        "Dependence is Cramér's V (0 to 1; of numbers, the size of the correlation) as released, "
        "noise taken off. Smallest visible: what would have been seen with 90 % probability, given "
        "what separated the pair and the parents of either in the graph. All of this is made from "
        "the released numbers alone and costs nothing."
    )
    st.dataframe(
        tables.pairs(result),
        hide_index=True,
        alt="The finding on each pair",
    )
    st.caption(linked(HELP, fdr="false discovery rate (FDR)"))
