"""The certainty of a graph's edges, and its undecided pairs, for display."""

from __future__ import annotations

import streamlit as st

from pages.ui import tables
from pages.ui.glossary import linked
from privcore.algorithms import Discovery
from privcore.algorithms.search.result import Edge, described_pairs
from privcore.display.findings import settled_sentence, verdict_counts
from privcore.releases.release import Release

_OF_PROBABILITIES = (
    "The posterior probability of an edge, and of its arrow if there is one: {made}. On random "
    "networks these probabilities were calibrated for edges and slightly too high for arrows "
    "(see the Papers page). All figures assume there are no unobserved confounders."
)
_OF_PAG_PROBABILITIES = (
    "The posterior probability of an edge: {made}. This probability comes from the search before "
    "FCI, which assumes no unobserved confounders; the marks of the graph do not assume this. "
    "Marks have no stated probability."
)
_OF_DRAWS = (
    "the share of DAGs that contain the edge or arrow, with each DAG weighted by the likelihood of "
    "the released statistics, which allows for sampling error and noise"
)
_OF_TESTS = (
    "a weighted mean of probabilities from tests that allow for sampling error and noise, with "
    "weight 0.6 for the graph that the search found and 0.4 for the mean over other likely DAGs"
)


def width_sentence(result: Discovery | Release) -> str:
    """State the meaning of line widths, and whether the probabilities have converged."""
    return f"Thicker lines show more probable edges. {settled_sentence(result.settled)}".rstrip()


def unclear(result: Discovery) -> list[Edge]:
    """Pairs without an edge whose tests had too little power."""
    return [p for p, finding in result.findings.items() if finding.verdict == "not enough budget"]


def no_edge_sentence(result: Discovery) -> str:
    """State the number of non-adjacent pairs with each finding, and the dependence of interest."""
    pairs = described_pairs(result.graph, result.findings) or []
    size = result.parameters.get("reference_effect")
    size_note = (
        "" if size is None else (f" (for a dependence of {size:g} or more, given other columns)")
    )
    return f"Of the pairs without an edge, {verdict_counts(pairs)}{size_note}."


def pair_panel(result: Discovery) -> None:
    """Show a table of every pair with its finding, and explain the columns."""
    st.subheader("All pairs")
    st.markdown(no_edge_sentence(result))
    st.caption(
        "Dependence: Cramér's V (0 to 1; for numeric columns, the absolute correlation) as "
        "released, corrected for noise. Smallest visible: the dependence that would have been "
        "detected with 90 % probability, given the separating set and the parents of both "
        "columns. Inconclusive: a dependence of interest could have been missed. More budget or "
        "more rows help, unless other columns almost determine the values of the pair. All of "
        "this is computed from the released numbers at no further privacy cost."
    )
    st.dataframe(tables.pairs(result), hide_index=True, alt="The finding on each pair")
    # Graphs have posterior probabilities only if all combinations of levels are counted.
    made = _OF_DRAWS if result.unit == "probability" else _OF_TESTS
    text = _OF_PROBABILITIES if result.hidden_stage is None else _OF_PAG_PROBABILITIES
    st.caption(linked(text.format(made=made), posterior="posterior probability"))
