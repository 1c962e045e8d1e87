"""The header of the Discover page: the answer, the guarantee and the quality of a run."""

from __future__ import annotations

import streamlit as st

from pages.ui import texts
from pages.ui.controls.algorithm import SEED
from pages.ui.controls.data import Loaded
from pages.ui.expectation import gap_sentence, seen_sentence
from pages.ui.glossary import glossary_note, linked, term_link
from privcore.algorithms import ALGORITHMS, Discovery
from privcore.algorithms.engine import cut_sentence
from privcore.display.answer import promise_sentence
from privcore.display.sentences import effect_sentence, link_count, protected
from privcore.graphs import PDAG
from privcore.measures import Metrics, compare, cpdag_metrics, skeleton_metrics
from privcore.privacy.accounting.guarantee import large_delta_sentence
from privcore.text import counted


def next_noise() -> None:
    """Go to the next seed of the simulated noise."""
    st.session_state["seed"] = st.session_state.get("seed", SEED) + 1


def reroll_button() -> None:
    """Draw the button that repeats the run with fresh simulated noise."""
    st.button(
        "Draw new noise",
        icon=":material/casino:",
        type="tertiary",
        on_click=next_noise,
        help="Repeats the run with the next noise seed. This is for exploration only: each release "
        "is charged separately.",
    )


def introduction() -> None:
    """State what the page is for, and for whom."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="intro"):
        st.caption(
            "For analysts, teachers and decision makers: which causal links does a private "
            "table show, and what does the privacy cost?",
            width="content",
        )
        st.page_link("pages/data.py", label="Load your own table", width="content")


def header(result: Discovery, loaded: Loaded, answer: str, price: str) -> None:
    """Show the answer in a sentence, and the guarantee.

    price: a sentence on the cost of noise, if any.
    """
    algorithm = ALGORITHMS[result.algorithm]
    guarantee = result.guarantee
    if loaded.content is None:
        introduction()
    st.title(texts.marked(f"{answer} {price}".rstrip()), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(texts.plain(promise_sentence(guarantee)), width="content")
        with st.popover("What is promised", type="tertiary", key="promise"):
            st.markdown(f"**{texts.guarantee_sentence(guarantee, algorithm)}**")
            if guarantee.calibration == "proven":
                odds = texts.odds_sentence(
                    guarantee.epsilon, guarantee.delta, whom=protected(guarantee)
                )
                st.markdown(linked(odds, epsilon="ε", delta="δ"))
            st.caption(
                f"{texts.SIMULATED} The tab Guarantee & budget has the details; see also "
                f"{term_link('guarantee')} and {term_link('neighbours', 'neighbours')} in the "
                "glossary."
            )
    warning = large_delta_sentence(guarantee, loaded.dataset.n)
    if warning:
        st.warning(warning, icon=":material/warning:")
    if result.stopped:
        st.warning(texts.stopped_sentence(result), icon=":material/hourglass_bottom:")
    if guarantee.calibration == "proven" and guarantee.epsilon >= 5:
        st.caption(
            f":material/warning: ε = {guarantee.epsilon:g} is a weak guarantee: probabilities may "
            "change by a factor of up to e^ε."
        )


def mixed_sentence(result: Discovery, loaded: Loaded) -> str:
    """State how numeric columns are treated in mixed data; empty if the data are not mixed."""
    algorithm = ALGORITHMS[result.algorithm]
    cut = texts.plain(cut_sentence(loaded.source, algorithm, result.parameters))
    if not cut:
        return ""
    if algorithm.mixed:
        return f"For this run {cut}."
    return (
        f"For this run {cut}: differences within a level are lost, so weak dependences of numeric "
        "columns may be missed. You can change the number of levels under More settings."
    )


def power_sentence(result: Discovery, loaded: Loaded) -> str:
    """State the weakest dependence that the run can detect, and what limits the detection."""
    if result.findings:
        parameters = dict(result.parameters)
        return f"{seen_sentence(loaded, parameters)} {gap_sentence(loaded, parameters)}"
    return effect_sentence(result, loaded.dataset.n)


def measure_line(graph: PDAG, reference: PDAG, reference_name: str) -> str:
    """The quality of a run in one line."""
    links = link_count(compare(graph, reference, reference_name))
    f1 = skeleton_metrics(graph, reference).f1
    return (
        f"F1 {f1:.2f} against {reference_name}: {links.right} of {counted(links.wanted, 'link')}, "
        f"{links.false} more"
    )


def metric_row(
    graph: PDAG, base: PDAG | None, base_title: str, reference: PDAG, reference_name: str, form: str
) -> None:
    """Show the graph's quality against the reference, and the change from the non-private graph.

    base: the non-private graph; None unless the reference is the truth. form: the type of the
    graphs (CPDAG, DAG or PAG).
    """
    other = reference if base is None else base
    here, before = skeleton_metrics(graph, reference), skeleton_metrics(other, reference)
    marks, marks_before = cpdag_metrics(graph, reference), cpdag_metrics(other, reference)
    ends = "both ends of an edge" if form == "PAG" else "directions"
    f1 = f"2·TP / (2·TP + FP + FN) over adjacent pairs, the {term_link('skeleton')}."
    shown: list[tuple[str, str, Metrics, Metrics, str]] = [
        ("Skeleton F1", "f1", here, before, f1),
        ("Precision", "precision", here, before, "Share of the graph's edges that are correct."),
        ("Recall", "recall", here, before, "Share of the reference's edges that are found."),
        (
            f"{form} F1",
            "f1",
            marks,
            marks_before,
            f"Like skeleton F1, but {ends} must be correct too.",
        ),
        (
            "Hamming distance",
            "shd",
            marks,
            marks_before,
            ("Number of pairs whose edges differ (SHD)."),
        ),
    ]
    row = st.container(horizontal=True)
    for title, name, now, then, text in shown:
        value, old = getattr(now, name), getattr(then, name)
        digits = ".0f" if name == "shd" else ".3f"
        change = None if base in (None, graph) else f"{value - old:+{digits}} vs {base_title}"
        # No edge is no share of correct edges.
        none = name == "precision" and not graph.skeleton
        change = None if none else change
        row.metric(
            title,
            "–" if none else f"{value:{digits}}",
            f"same as {base_title}" if change and value == old else change,
            delta_color="off" if value == old else "inverse" if name == "shd" else "normal",
            delta_arrow="off" if value == old else "auto",
            help=f"{text} Compared with {reference_name}. {glossary_note(name)}",
            border=True,
        )
