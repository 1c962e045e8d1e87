"""The sample tables on the Data page, which are loaded like a user's file."""

from __future__ import annotations

from collections.abc import Callable, Collection

import streamlit as st

from privcore.intake.samples import SAMPLES, Sample

_KEY = "upload_sample"
# While other data are in use, no sample is shown as chosen.
_ELSEWHERE = "upload_sample_elsewhere"


def choose(on_change: Callable[[], None], *, own: bool) -> Sample | None:
    """Show the selector for a sample table and the story of the selected one; return it, or None.

    on_change: called when the choice changes. own: true if the data in use are the user's own table
    or a sample, and false if the data are built in.
    """

    def changed() -> None:
        if not own:
            st.session_state[_KEY] = st.session_state[_ELSEWHERE]
        on_change()

    name = st.pills(
        "Or a sample table",
        list(SAMPLES),
        format_func=lambda each: SAMPLES[each].title,
        key=_KEY if own else _ELSEWHERE,
        persist_state="session" if own else None,
        on_change=changed,
        help="Samples are synthetic, have a known true graph, and are as untidy as real tables. A "
        "sample is loaded exactly like your own file.",
    )
    if name is None:
        return None
    st.markdown(f"{SAMPLES[name].story} *Synthetic: no row is about a real person.*")
    return SAMPLES[name]


def chosen() -> Sample | None:
    """The chosen sample; None if there is none."""
    return SAMPLES.get(st.session_state.get(_KEY) or "")


def clear() -> None:
    """Clear the choice; call this in a callback, or before the control is drawn."""
    st.session_state[_KEY] = None


def true_edges(names: Collection[str]) -> tuple[tuple[str, str], ...] | None:
    """The edges of the chosen sample's true graph over these columns; None without a sample."""
    sample = chosen()
    return None if sample is None else sample.true_edges(names)
