"""What stands above the graphs of the page Discover: the promise of a run, and its quality."""

from __future__ import annotations

import streamlit as st

from pages.ui import texts
from pages.ui.controls.data import Loaded
from pages.ui.discover.power import seen_sentence
from privcore.algorithms import ALGORITHMS, Discovery
from privcore.algorithms.engine import cut_sentence
from privcore.counts import MixedRows
from privcore.evaluation import Metrics, cpdag_metrics, skeleton_metrics
from privcore.graphs import PDAG
from privcore.releases import effect_sentence, large_delta_sentence


def next_noise() -> None:
    """Go on to the next seed of the simulated noise."""
    st.session_state["seed"] = st.session_state.get("seed", 1) + 1


def header(result: Discovery, loaded: Loaded) -> None:
    """What a run promises, what limits it, and the way to the next noise."""
    algorithm = ALGORITHMS[result.algorithm]
    left, right = st.columns([5, 1], vertical_alignment="center")
    with left:
        st.markdown(f"**{texts.guarantee_sentence(result.guarantee, algorithm)}**")
        if result.findings:
            st.caption(seen_sentence(loaded, dict(result.parameters)))
        else:
            st.caption(effect_sentence(result, loaded.dataset.n))
        if isinstance(loaded.source, MixedRows):
            cut = texts.plain(cut_sentence(loaded.source, algorithm, result.parameters))
            st.caption(
                f"For this run {cut}."
                if algorithm.mixed
                else f"For this run {cut}: what happens within a level is not seen, so that weak "
                "dependences of numbers may be missed. More settings has the number of levels."
            )
        warning = large_delta_sentence(result.guarantee, loaded.dataset.n)
        if warning:
            st.warning(warning, icon=":material/warning:")
        if result.stopped:
            st.warning(texts.stopped_sentence(result), icon=":material/hourglass_bottom:")
        if result.guarantee.calibration == "proven" and result.guarantee.epsilon >= 5:
            st.warning(
                f"ε = {result.guarantee.epsilon:g} promises little: probabilities may change by a "
                f"factor of up to e^ε.",
                icon=":material/warning:",
            )
    if algorithm.private:
        right.button(
            "Re-roll noise",
            icon=":material/casino:",
            on_click=next_noise,
            width="stretch",
            help="The same settings with the next noise seed. For exploring; each release of "
            "another roll would be a new charge.",
        )


def metric_row(
    graph: PDAG, base: PDAG, base_title: str, reference: PDAG, reference_name: str, form: str
) -> None:
    """Quality against the reference, with the change from the non-private graph.

    form: of the graphs, CPDAG or DAG.
    """
    here, before = skeleton_metrics(graph, reference), skeleton_metrics(base, reference)
    marks, marks_before = cpdag_metrics(graph, reference), cpdag_metrics(base, reference)
    shown: list[tuple[str, str, Metrics, Metrics, str]] = [
        ("Skeleton F1", "f1", here, before, "2·TP / (2·TP + FP + FN) over adjacent pairs."),
        ("Precision", "precision", here, before, "Share of the graph's pairs that are right."),
        ("Recall", "recall", here, before, "Share of the reference's pairs that are found."),
        (f"{form} F1", "f1", marks, marks_before, "As F1, but directions must be right too."),
        ("Hamming distance", "shd", marks, marks_before, "Pairs whose edge differs (SHD)."),
    ]
    row = st.container(horizontal=True)
    for title, name, now, then, text in shown:
        value, old = getattr(now, name), getattr(then, name)
        digits = ".0f" if name == "shd" else ".3f"
        change = None if graph == base else f"{value - old:+{digits}} vs {base_title}"
        row.metric(
            title,
            f"{value:{digits}}",
            f"same as {base_title}" if change and value == old else change,
            delta_color="off" if value == old else "inverse" if name == "shd" else "normal",
            delta_arrow="off" if value == old else "auto",
            help=f"{text} Against {reference_name}.",
            border=True,
        )
