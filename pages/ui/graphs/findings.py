"""How sure the edges of a graph are, and of which pairs nothing can be told, as drawn."""

from __future__ import annotations

import streamlit as st

from pages.ui import tables
from pages.ui.glossary import linked
from privcore.algorithms import Discovery
from privcore.algorithms.search.result import Edge
from privcore.releases.findings import (
    described_pairs,
    settled_sentence,
    verdict_counts,
)
from privcore.releases.release import Release

_OF_PROBABILITIES = (
    "The posterior probability of an edge, and of its arrow if there is one: {made}. On random "
    "networks as many edges were true as it says, and of arrows somewhat fewer (page Papers). All "
    "figures assume there are no unobserved confounders."
)
_OF_PAG_PROBABILITIES = (
    "The posterior probability of an edge: {made}. It is that of the search before FCI, and so "
    "assumes no unobserved confounders; the marks of the graph do not. No probability is stated "
    "of marks."
)
_OF_DRAWS = (
    "the share of DAGs with it, each weighed by how likely it makes what was released, sampling "
    "and noise included"
)
_OF_TESTS = (
    "mostly (.6) what a test says in the graph that the search found, else (.4) the mean of what "
    "it says in other likely DAGs, sampling and noise included"
)


def width_sentence(result: Discovery | Release) -> str:
    """What the width of a line says, and whether the numbers are settled."""
    return f"Thicker lines are more probable. {settled_sentence(result.settled)}".rstrip()


def unclear(result: Discovery) -> list[Edge]:
    """Pairs without an edge whose tests had too little power."""
    return [p for p, finding in result.findings.items() if finding.verdict == "not enough budget"]


def apart_sentence(result: Discovery) -> str:
    """How many pairs there are of each kind, and what counts as worth seeing."""
    pairs = described_pairs(result.graph, result.findings) or []
    size = result.parameters.get("reference_effect")
    worth = "" if size is None else f" (for a dependence of {size:g} or more)"
    return f"Of the pairs without an edge, {verdict_counts(pairs)}{worth}."


def pair_panel(result: Discovery) -> None:
    """Every pair, and what the release says of it."""
    st.markdown(apart_sentence(result))
    st.caption(
        "Dependence is Cramér's V (0 to 1; of numbers, the size of the correlation) as released, "
        "noise taken off. Smallest visible: what would have been seen with 90 % probability, given "
        "what separated the pair and the parents of either in the graph. Cannot be told: so small "
        "a dependence could have been missed. More budget or more rows help, but not where other "
        "columns nearly say the values of the pair. All of this is made from the released numbers "
        "alone and costs nothing."
    )
    st.dataframe(
        tables.pairs(result),
        hide_index=True,
        alt="The finding on each pair",
    )
    # Only where all combinations of levels are counted are graphs scored by probabilities.
    made = _OF_DRAWS if result.unit == "probability" else _OF_TESTS
    said = _OF_PROBABILITIES if result.hidden_stage is None else _OF_PAG_PROBABILITIES
    st.caption(linked(said.format(made=made), posterior="posterior probability"))
