"""The sample tables on the page Data: one is loaded as a file of the user's would be."""

from __future__ import annotations

from collections.abc import Callable, Collection

import streamlit as st

from privcore.data.samples import SAMPLES, Sample

_KEY = "upload_sample"
# While the data in use are others, none is shown as chosen.
_ELSEWHERE = "upload_sample_elsewhere"


def choose(on_change: Callable[[], None], *, own: bool) -> Sample | None:
    """The choice among the samples, and the story of the one that is chosen.

    on_change: called when another one is chosen, or none.  own: whether the data in use are the
    user's table, which a sample is one of.
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
        help="Synthetic, with a known true graph, and as untidy as tables are. A sample is loaded "
        "as a file of your own would be.",
    )
    if name is None:
        return None
    st.markdown(f"{SAMPLES[name].story} *Synthetic: no row is a real one.*")
    return SAMPLES[name]


def chosen() -> Sample | None:
    """The sample that is chosen, wherever the choice is drawn."""
    return SAMPLES.get(st.session_state.get(_KEY) or "")


def clear() -> None:
    """Choose none; before the choice is drawn, or in a callback."""
    st.session_state[_KEY] = None


def true_edges(names: Collection[str]) -> tuple[tuple[str, str], ...] | None:
    """The true graph of the chosen sample over the columns in use; None if there is none."""
    sample = chosen()
    return None if sample is None else sample.true_edges(names)
